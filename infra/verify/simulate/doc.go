// Package simulate runs the service in one process, under a scheduler that decides
// what happens when: the handlers of the API, the relay, the sums of analytics, the consumers of tasks, the
// reconciler, and the dispatch and delivery of webhooks, on a table and queues in
// memory. A seed decides everything, so that a failure can be replayed.
//
// The functions are wired as in production, but for what they call: the table, the
// queues, the bus, the providers, the receivers of webhooks and the bucket. Each of
// those calls waits at a gate (pass) until every goroutine is blocked; then the
// scheduler carries out the call that is next. It draws for each call how long that
// takes and what becomes of it: it succeeds, its answer is lost, it is refused, another
// transaction has its item, or its function crashes before or after it. A function
// that has crashed may still have calls under way; all others have no effect any more.
// Messages arrive late, twice and in another order. The clock is that of
// testing/synctest: it moves when nothing else does.
//
// Callers create content and generations, alone and in batches, cancel, change, delete
// and regenerate them, train models, talk to the architect, bring in media, disconnect
// social accounts, empty a sandbox and have events delivered again. They repeat a call
// that was not answered with the same Idempotency-Key. When they are done there
// are no more faults, and everything must end. Then the invariants are checked
// (check.go).
//
// Not simulated: the gateway and the authorizer, the SDK's own code (its repeats and
// time-outs are), the table's limits of throughput, an index that is behind its table,
// expired items that DynamoDB removes, and processes that are frozen and go on later.
package simulate
