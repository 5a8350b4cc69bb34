package simulate

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
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
	runtime.GC()
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
