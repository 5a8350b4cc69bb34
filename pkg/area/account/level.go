package account

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Bounds are the upper bounds of the histograms, in milliseconds. Their places are stored,
// so new bounds are appended. Longer times are in one class more. Calls end within 30 s.
var Bounds = []int64{10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60_000, 120_000, 300_000, 600_000,
	1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000}

// keep is the time for which a month is kept after its begin: a year, and the rest of the current month.
const keep = 400 * 24 * time.Hour

// monthLayout is the format of a month.
const monthLayout = "2006-01"

// The attributes of a count.
const (
	calls    = "calls"
	failed   = "failed"
	refused  = "refused"
	position = "position"
	oldest   = "oldest"
	looked   = "looked"
)

func class(n int) string { return "class_" + strconv.Itoa(n) }

// classOf returns the class of the histogram that a latency falls into.
func classOf(ms int64) int {
	for n, bound := range Bounds {
		if ms <= bound {
			return n
		}
	}
	return len(Bounds)
}

// stack is the partition of the counts for all accounts together.
const stack = "levels#stack"

// The names of the counts besides calls. No operation has such an id.
const (
	delivery     = "/delivery"
	generation   = "/generation/"
	probe        = "/probe"
	levelWaiting = "/waiting"
)

// partition is the partition of an account's counts. Each operation has an item for each
// month, so that an update is small.
func partition(o tenant.Owner) string { return "levels#" + o.String() }

func keyOf(partition string, at time.Time, operation string) store.Key {
	return store.Key{PK: partition, SK: at.UTC().Format(monthLayout) + "#" + operation}
}

// Counts are how often something was done in a month.
type Counts struct {
	// Of is the counted operation, or the kind of a generation.
	Of string
	// Calls are how often it was tried, and Failed how often it failed. A call fails by a status from 500.
	Calls, Failed int64
	// Classes is the histogram of how long it took.
	Classes []int64
}

// Add adds the counts of something else.
func (c *Counts) Add(o Counts) {
	c.Calls += o.Calls
	c.Failed += o.Failed
	if c.Classes == nil {
		c.Classes = make([]int64, len(Bounds)+1)
	}
	for n, count := range o.Classes {
		c.Classes[n] += count
	}
}

// Percentile returns the bound that so many of a hundred times did not exceed, and false if
// there were none. It is the last bound for longer times.
func (c Counts) Percentile(p int64) (ms int64, ok bool) {
	var all, seen int64
	for _, n := range c.Classes {
		all += n
	}
	if all == 0 {
		return 0, false
	}
	for n, count := range c.Classes {
		if seen += count; seen*100 >= all*p {
			return Bounds[min(n, len(Bounds)-1)], true
		}
	}
	return Bounds[len(Bounds)-1], true
}

// Month has the counts of an account in a month.
type Month struct {
	// Operations and Generations are in the order of their names.
	Operations, Generations []Counts
	Deliveries              Counts
}

// ReadLevels reads the counts of an account in a month.
func ReadLevels(ctx context.Context, db *store.DB, o tenant.Owner, at time.Time) (m Month, err error) {
	err = read(ctx, db, partition(o), at, func(c Counts, _ store.Item) {
		switch made, ok := strings.CutPrefix(c.Of, generation); {
		case ok:
			c.Of = made
			m.Generations = append(m.Generations, c)
		case c.Of == delivery:
			m.Deliveries = c
		default:
			m.Operations = append(m.Operations, c)
		}
	})
	return m, err
}

// Stack has the counts of all accounts together in a month.
type Stack struct {
	// Probes failed if they did not get the expected answer.
	Probes Counts
	// Waiting are the looks for work that waits: they failed if they found some, and their
	// time is the age of the oldest.
	Waiting Counts
	// Oldest is the result of the last look, and Looked its time, or zero if there was none.
	Oldest time.Duration
	Looked time.Time
}

// ReadStack reads the counts of all accounts together in a month.
func ReadStack(ctx context.Context, db *store.DB, at time.Time) (s Stack, err error) {
	err = read(ctx, db, stack, at, func(c Counts, it store.Item) {
		switch c.Of {
		case probe:
			s.Probes = c
		case levelWaiting:
			s.Waiting = c
			s.Oldest = time.Duration(it.Numbers[oldest]) * time.Millisecond
			s.Looked = time.Unix(it.Numbers[looked], 0).UTC()
		}
	})
	return s, err
}

// mostCounts bounds how many counts one month lists.
const mostCounts = 500

func read(ctx context.Context, db *store.DB, partition string, at time.Time, each func(Counts, store.Item)) error {
	month := at.UTC().Format(monthLayout)
	q := store.Query{Index: store.Table, Partition: partition, From: month + "#", To: month + "#~", Limit: mostCounts,
		OldestFirst: true}
	return db.Each(ctx, q, func(it store.Item) error {
		_, of, _ := strings.Cut(it.SK, "#")
		c := Counts{Of: of, Calls: it.Numbers[calls], Failed: it.Numbers[failed], Classes: make([]int64, len(Bounds)+1)}
		for n := range c.Classes {
			c.Classes[n] = it.Numbers[class(n)]
		}
		each(c, it)
		return nil
	})
}

// update is the update that adds counts to an item.
func (c Counts) update(at time.Time) expression.UpdateBuilder {
	u := expression.Add(store.Number(calls), expression.Value(c.Calls))
	if c.Failed > 0 {
		u = u.Add(store.Number(failed), expression.Value(c.Failed))
	}
	for n, count := range c.Classes {
		if count > 0 {
			u = u.Add(store.Number(class(n)), expression.Value(count))
		}
	}
	y, m, _ := at.UTC().Date()
	return store.Expires(u, time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).Add(keep))
}

// once returns the counts of one that took so long.
func once(took time.Duration, ok bool) Counts {
	c := Counts{Calls: 1, Classes: make([]int64, len(Bounds)+1)}
	c.Classes[classOf(took.Milliseconds())] = 1
	if !ok {
		c.Failed = 1
	}
	return c
}

// add adds counts to an update, and writes it.
func add(ctx context.Context, db *store.DB, key store.Key, u expression.UpdateBuilder) error {
	counted := store.Number(calls)
	always := expression.Or(counted.AttributeNotExists(), counted.GreaterThanEqual(expression.Value(0)))
	_, err := db.Update(ctx, key, u, always)
	return err
}

// Probed counts a probe of the service.
func Probed(ctx context.Context, db *store.DB, at time.Time, took time.Duration, ok bool) error {
	return add(ctx, db, keyOf(stack, at, probe), once(took, ok).update(at))
}

// Waited counts a look for work that waits, and keeps the age of the oldest, or zero if none waits.
func Waited(ctx context.Context, db *store.DB, at time.Time, age time.Duration) error {
	u := once(age, age == 0).update(at).
		Set(store.Number(oldest), expression.Value(age.Milliseconds())).Set(store.Number(looked),
		expression.Value(at.Unix()))
	return add(ctx, db, keyOf(stack, at, levelWaiting), u)
}

// Observe returns the observer of a kernel: it counts everything that was made, with the
// time from its order to its end. Only the time of a success is counted.
func Observe(db *store.DB) func(context.Context, task.Ended) error {
	return func(ctx context.Context, e task.Ended) error {
		c := once(e.Took, e.Done)
		if !e.Done {
			c.Classes = nil
		}
		return add(ctx, db, keyOf(partition(e.Owner), e.At, generation+e.Label), c.update(e.At))
	}
}

// Delivered counts deliveries to webhooks that have ended.
func Delivered(ctx context.Context, db *store.DB, o tenant.Owner, at time.Time, delivered, lost int64) error {
	return add(ctx, db, keyOf(partition(o), at, delivery), Counts{Calls: delivered + lost, Failed: lost}.update(at))
}
