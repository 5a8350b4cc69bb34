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
// table (permit), since a deployed function without them is refused.
//
// The simulation excludes the gateway and the authorizer, the SDK's own code (but not its repeats and time-outs), the
// table's limits of throughput, an index that is behind its table, expired items that DynamoDB removes, and processes
// that freeze and continue later.
package simulate

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/permit"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/service/serve"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
	"github.com/content-automation/api/pkg/task/queue"
)

// Result is the result of a seed.
type Result struct {
	// Broken are the invariants that do not hold.
	Broken []string
	// Tasks is the number of tasks that were accepted, and Hash is a hash of everything that happened.
	Tasks int
	Hash  uint64
	Steps int
	// Posts and Replies are the numbers of posts and of replies to comments that platforms have taken.
	Posts, Replies int
	// Held is the number of deliveries that were held back from a receiver that does not answer.
	Held int
}

// Config changes a run.
type Config struct {
	// Trace gets a line for everything that happens, if it is not nil.
	Trace io.Writer
	// Defect is a deliberate defect of the kernel.
	Defect Defect
	// Withheld are permissions that functions do not have, by the name of the function.
	Withheld map[string]topology.Use
}

// world is the run of one seed: a stack with its surroundings.
type world struct {
	Config
	random *rand.Rand
	faults faults
	// recent are the times of the calls of the last second that were taken, by the kind of service.
	recent map[kind][]time.Time
	// calm reports whether the faults are over.
	calm, stopped bool
	calmed        time.Time
	torn          []string // the inconsistencies of the table when the faults ended

	events agenda
	seq    int
	trace  uint64
	steps  int

	mu      sync.Mutex
	arrived []*call
	asked   []asked
	living  int // callers that have something left to do
	alive   int // goroutines of functions, including those of crashed ones
	wake    chan struct{}

	engine *memtable.Engine
	seen   int      // changes of the table
	due    []string // what overdue returned after dueAt changes
	dueAt  int
	queues map[topology.Queue]*messages
	api    *function
	all    []*function
	// followers are the functions that the table's stream calls.
	followers []*follower

	callers     []*caller
	generations map[provider.Handle]*generation
	submissions map[string][]*submission
	files       map[string]bool
	sums        map[string]string // SHA-256 of files, by their keys
	posts       map[string]*published
	standings   map[string]*standing
	replies     map[string]int // how often each was written, by its key
	jobs        map[string]*customization
	trainings   map[string]*trained
	receipts    map[receipt]int
	repeated    map[receipt]int // those after the faults
	held        int             // the deliveries that were held back
	happened    []attributes
	ends        map[string]int
	team        teamwork
	Tasks       int
	// forbidden are sentences about calls that AWS would refuse.
	forbidden map[string]bool
}

// apiTimeout is the timeout of the functions behind the gateway.
const apiTimeout = 15 * time.Second

// begin is the time at which a simulation begins.
var begin = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// most is the amount of memory that a seed may use before garbage is collected.
const most = 1 << 30

// Run simulates a seed.
func Run(t *testing.T, seed uint64, c Config) (out Result) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	defer slog.SetDefault(before)
	defer metric.SetOutput(metric.SetOutput(io.Discard))
	// Goroutines that wake at the same time run in the same order each time if they share one thread, and no
	// garbage collection interrupts them.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	collect()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(most))
	build()
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, seed)
		uuid.DefaultGenerator = uuid.NewGen() // which counts the ids of one moment
		build().Envelope.Forget()
		synctest.Test(t, func(*testing.T) {
			<-time.After(time.Until(begin))
			w := newWorld(seed, c)
			w.run()
			out = Result{w.check(), w.Tasks, w.trace, w.steps, len(w.posts), len(w.replies), w.held}
		})
	})
	return out
}

// collect collects garbage, from a deep stack. The runtime starts each goroutine with a stack of the average size that
// the last collection found. A seed has many short goroutines: after a collection from a shallow stack, each grows its
// stack four times.
//
//go:noinline
func collect() {
	var deep [120 << 10]byte
	runtime.GC()
	runtime.KeepAlive(&deep)
}

func newWorld(seed uint64, c Config) *world {
	w := &world{
		Config: c, random: rand.New(rand.NewPCG(seed, 0)), wake: make(chan struct{}, 1), engine: memtable.New(time.Now),
		queues: map[topology.Queue]*messages{}, generations: map[provider.Handle]*generation{},
		submissions: map[string][]*submission{},
		files:       map[string]bool{}, sums: map[string]string{}, posts: map[string]*published{},
		standings: map[string]*standing{},
		replies:   map[string]int{},
		jobs:      map[string]*customization{},
		trainings: map[string]*trained{}, receipts: map[receipt]int{}, repeated: map[receipt]int{},
		ends:   map[string]int{},
		recent: map[kind][]time.Time{}, team: newTeamwork(), forbidden: map[string]bool{},
	}
	w.faults = drawFaults(w.random)
	w.faults.Silent = silence[seed%uint64(len(silence))]
	w.makeTable()
	w.makeFunctions()
	for n := range 1 + w.random.IntN(3) {
		w.makeCaller(n)
	}
	for _, c := range w.callers {
		w.living++
		go func() {
			c.live()
			w.mu.Lock()
			w.living--
			w.mu.Unlock()
		}()
	}
	return w
}

func (w *world) makeTable() {
	in := &dynamodb.CreateTableInput{TableName: aws.String(tableName)}
	keys := func(x store.Index) (schema []types.KeySchemaElement) {
		partition, sort := x.Key()
		for _, name := range []string{partition, sort} {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name,
				AttributeType: types.ScalarAttributeTypeS})
		}
		return []types.KeySchemaElement{{AttributeName: &partition, KeyType: types.KeyTypeHash},
			{AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	in.KeySchema = keys(store.Table)
	for _, x := range store.StateIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(x.Name()), KeySchema: keys(x),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	_, err := w.engine.CreateTable(context.Background(), in)
	must(err)
}

func (w *world) makeFunctions() {
	made := func(f topology.Function) *function {
		made := &function{Function: f, start: build().start(f.Name)}
		w.all = append(w.all, made)
		return made
	}
	w.api = made(topology.Function{Name: "api", Timeout: apiTimeout})
	for _, f := range topology.Functions {
		switch f.Trigger {
		case topology.ByStream:
			w.followers = append(w.followers, &follower{function: made(f), wants: relayed})
		case topology.ByQueue:
			m := made(f)
			for _, q := range f.Consumes {
				w.queues[q] = &messages{world: w, name: q, function: m}
			}
		case topology.BySchedule:
			if f.May(topology.ProbeAPI) {
				continue // it calls the API from outside
			}
			w.every(made(f), scheduled[f.Name])
		}
	}
}

// db returns a client that bypasses the gate.
func (w *world) db() *store.DB {
	return store.Open(aws.Config{}, tableName, store.WithClient(w.engine))
}

// credits is the initial balance of each account. It does not suffice for all of its calls.
const credits = 300

func (w *world) makeCaller(n int) {
	now := time.Now()
	c := &caller{
		world: w, name: fmt.Sprint("caller", n), random: rand.New(rand.NewPCG(w.random.Uint64(), 1)),
		left: 10 + w.random.IntN(30),
		principal: auth.Principal{
			Owner: tenant.Of(tenant.Account(id.New(id.Account, now)), tenant.Live),
			Actor: auth.Key(id.New(id.APIKey, now)), Scopes: auth.AllScopes(),
			Rate: auth.Rate{Limit: 60, Window: 60, Remaining: 59, Reset: 30},
		},
	}
	w.callers = append(w.callers, c)
	var k keyrecord.Record
	k.ID, k.Scopes, k.State = c.principal.KeyID(), c.principal.Scopes, keyrecord.Active
	it, err := store.NewItem("api_key", tenant.Of(c.principal.Account, ""), k.ID, k)
	must(err)
	it.Key, it.ListKey = credential.KeyOf(c.principal.Account, k.ID), store.Key{}
	id := string(c.principal.Account)
	self, err := store.NewItem(account.Kind, tenant.Of(c.principal.Account, ""), id, object{"id": id, "name": c.name})
	must(err)
	tx := &store.Tx{}
	tx.Create(it, nil)
	tx.Create(self, nil)
	if err := ledger.Open(tx, c.principal.Account, 20, ledger.DefaultLostLimit, object{}); err != nil {
		panic(err)
	}
	must(w.db().Commit(context.Background(), tx))
	tx = &store.Tx{}
	if _, err := ledger.TopUp(tx, now, c.principal.Account, credits); err != nil {
		panic(err)
	}
	must(w.db().Commit(context.Background(), tx))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// stack is the code under test, wired as in the functions. It holds no state of a seed.
type stack struct {
	worker.Env
	// pages are the operations, the pages of review links and the webhooks of CRMs.
	pages http.Handler
	// handlers are those of the functions settle and sync-crm, which are slow to build.
	handlers map[string]worker.Handlers
}

var build = sync.OnceValue(func() stack {
	db := store.Open(aws.Config{}, tableName, store.WithClient(table{}))
	signer, err := media.NewSigner(aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}, "media", time.Now)
	must(err)
	e := area.Env{
		AWS: aws.Config{Region: "us-west-2"}, DB: db, Media: signer, Now: time.Now, Random: cryptorand.Reader,
		Audit:     audit.New(db, time.Now),
		Envelope:  sealtest.Envelope("the simulation's key"),
		Seal:      seal.FixedSecret([]byte("the system's secret")),
		Providers: "bedrock,fal,elevenlabs", Converser: talker{}, HTTP: web{},
		DeliverRole: arn.ARN{Partition: "aws", Service: "iam", AccountID: "444455556666", Resource: "role/deliver"},
	}
	r := httpapi.NewRouter(db, silent{}, time.Now)
	for _, f := range serve.All {
		f.Mount(r, e)
	}
	r.SealWith(e.Seal)
	s := stack{
		Env: worker.Env{
			Env: e, Queue: func(name topology.Queue) queue.Queue { return sender{name} }, Bus: bus{},
			Files: objects{}, Models: providers{}, Repeats: true, Composer: composer{}, Uploads: web{},
			Trainer:  tune.New(tune.Config{Client: bedrockAPI{}, Bucket: "media", Role: "training"}),
			Adapters: platforms{}, Receivers: receivers{},
		},
		pages:    crm.Open(e).With(publishing.Open(e).With(r)),
		handlers: map[string]worker.Handlers{},
	}
	for _, name := range []string{"settle", "sync-crm"} {
		s.handlers[name] = worker.Named(name).Tasks(s.Env)
	}
	return s
})

// vault seals the tokens of social accounts.
func (s stack) vault() social.Vault { return social.Vault{Envelope: s.Envelope} }

// silent is an audit log that keeps nothing.
type silent struct{}

// Record implements httpapi.Recorder.
func (silent) Record(context.Context, httpapi.Call) error { return nil }

// start returns a function that starts an instance of the named function.
func (s stack) start(name string) func() handler {
	if name == "api" {
		return func() handler {
			return func(ctx context.Context, in any) (any, error) {
				r := in.(request)
				invocationOf(ctx).serves = serving(r.method, r.path)
				return r.serve(ctx, s.pages), nil
			}
		}
	}
	return func() handler {
		row := worker.Named(name)
		if handlers := s.handlers[name]; handlers != nil {
			return handling(row.Consume(s.Env, handlers))
		}
		switch handle := row.Open(s.Env).(type) {
		case worker.Consumer:
			return handling(handle)
		case worker.Follower:
			return handling(handle)
		case func(context.Context, worker.SearchRequest) (worker.SearchResult, error):
			return handling(handle)
		default:
			panic(fmt.Sprintf("simulate: the handler of %s is a %T", name, handle))
		}
	}
}

// handling returns a handler that calls f.
func handling[In, Out any](f func(context.Context, In) (Out, error)) handler {
	return func(ctx context.Context, in any) (any, error) { return f(ctx, in.(In)) }
}

// scheduled are the inputs of the functions of a schedule.
var scheduled = map[string]any{"due": worker.SearchRequest{}}

// Defect is a deliberate defect of the kernel, which a simulation must find. It changes the data that the kernel
// reads and writes, because the kernel has no switch for it.
type Defect int

const (
	// NoDefect leaves the kernel as it is.
	NoDefect Defect = iota
	// LeaseIgnored hides the lease of a task from the kernel, as if the kernel did not check it.
	LeaseIgnored
	// StepUnfenced writes the outcomes of steps without the condition that no other delivery has taken the step.
	StepUnfenced
)

// isTask reports whether an item is a task.
func isTask(it attributes) bool { return strings.HasPrefix(textOf(it, "pk"), "task#") }

// hideLease removes the lease from a task that was read.
func hideLease(it attributes) {
	if !isTask(it) {
		return
	}
	var doc map[string]json.RawMessage
	must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
	delete(doc, "lease")
	b, err := json.Marshal(doc)
	must(err)
	delete(it, "packed")
	it["doc"] = &types.AttributeValueMemberS{Value: string(b)}
}

// unfenced removes the condition from the write of an existing task.
func unfenced(put types.Put) types.Put {
	if isTask(put.Item) && put.ConditionExpression != nil && !strings.Contains(*put.ConditionExpression,
		"attribute_not_exists") {
		put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues = nil, nil, nil
	}
	return put
}

// routing has the patterns of all paths, and owners the function of each pattern.
var routing = sync.OnceValues(func() (*http.ServeMux, map[string]string) {
	mux, owners := http.NewServeMux(), map[string]string{}
	for _, r := range slices.Concat(api.Routes(), api.PublicRoutes, api.GuardedRoutes) {
		path := strings.ReplaceAll(r.Path, "+}", "...}") // as the gateway writes the rest of a path
		if path == "/" {
			path = "/{$}"
		}
		pattern := strings.TrimSpace(r.Method + " " + path)
		mux.Handle(pattern, http.NotFoundHandler())
		owners[pattern] = r.Function
	}
	return mux, owners
})

// serving returns the function that the gateway calls for a request.
func serving(method, path string) topology.Function {
	mux, owners := routing()
	_, pattern := mux.Handler(httptest.NewRequest(method, path, nil))
	if owners[pattern] == "" {
		panic("simulate: no function serves " + method + " " + path)
	}
	return topology.FunctionNamed(owners[pattern])
}

// permit notes what a call of the state table lacks the permission for. The call is carried out all the same, so that
// one run finds all that is missing.
func (w *world) permit(f topology.Function, in any) {
	if u, ok := w.Withheld[f.Name]; ok {
		f.State = slices.DeleteFunc(slices.Clone(f.State), func(is topology.Use) bool { return is == u })
	}
	missing := permit.Missing(f, permit.State, in)
	if missing == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, sentence := range missing {
		w.forbidden[sentence] = true
	}
}
