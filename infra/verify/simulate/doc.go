// Package simulate runs the service in one process, under a scheduler that decides the order of all events: the
// handlers of the API, the relay, the sums of analytics, the consumers of tasks, the reconciler, and the dispatch and
// delivery of webhooks, on a table and queues in memory. A seed determines everything, so that a failure can be
// replayed.
//
// The functions are wired as in production, except for the targets of their calls: the table, the queues, the bus,
// the providers, the receivers of webhooks and the bucket. Each of those calls waits at a gate (pass) until every
// goroutine is blocked; then the scheduler carries out the next call. It draws the duration and the outcome of each
// call: the call succeeds, its answer is lost, it is refused, another transaction has its item, or its function crashes
// before or after it. A crashed function may still have calls under way; its other calls have no effect. Messages
// arrive late, twice and out of order. The clock is that of testing/synctest: it moves when all goroutines wait.
//
// Callers create content and generations, alone and in batches, cancel, change, delete and regenerate them, train
// models, talk to the architect, import media, disconnect social accounts, empty a sandbox and repeat deliveries of
// events. They bring their own posts, decide about items at the same time as others, on review pages too, take the
// next slots of a schedule, answer and hide comments, automate, and connect a CRM. They repeat a call that was not
// answered with the same Idempotency-Key. When they are done, the faults end, and all work must end. Then the
// invariants are checked (check.go). One of them is that each function has the permissions for its calls of the state
// table (permit.go), since a deployed function without them is refused.
//
// The simulation excludes the gateway and the authorizer, the SDK's own code (but not its repeats and time-outs), the
// table's limits of throughput, an index that is behind its table, expired items that DynamoDB removes, and processes
// that freeze and continue later.
package simulate
