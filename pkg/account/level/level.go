// Package level counts the calls of accounts by month and operation, from the stream of
// the audit log: how many there were, how many failed by the service's fault, and how long
// they took. It links no HTTP framework.
package level

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// Bounds are the upper bounds of the histogram of latencies, in milliseconds. Their
// places are stored: new ones follow. What takes longer is in one class more.
var Bounds = []int64{10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000}

// keep is how long a month is kept after its begin: a year, and what is left of the
// running month.
const keep = 400 * 24 * time.Hour

// monthLayout is how a month is written.
const monthLayout = "2006-01"

// The attributes of a count.
const (
	calls    = "calls"
	failed   = "failed"
	position = "position"
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

// probes is the partition of the service's own probes.
const probes = "levels#probes"

// partition is that of an account's counts. Each operation has an item for each month, so
// that an update is small.
func partition(o tenant.Owner) string { return "levels#" + o.String() }

func keyOf(partition string, at time.Time, operation string) store.Key {
	return store.Key{PK: partition, SK: at.UTC().Format(monthLayout) + "#" + operation}
}

// Counts are the calls of one operation in a month.
type Counts struct {
	Operation string
	// Calls are those that were answered, refused ones included, and Failed those that
	// were answered with a status from 500.
	Calls, Failed int64
	// Classes is the histogram of latencies.
	Classes []int64
}

// Add adds the counts of another operation.
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

// Percentile returns the bound that the latency of so many of a hundred calls did not
// exceed; false where there were none. It is the last bound for what took longer.
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

// Month reads the counts of an account in a month, by operation.
func Month(ctx context.Context, db *store.DB, o tenant.Owner, at time.Time) ([]Counts, error) {
	return read(ctx, db, partition(o), at)
}

// Probes reads the probes of a month: Calls is their number, and Failed how many did not
// get what they asked for.
func Probes(ctx context.Context, db *store.DB, at time.Time) (sum Counts, err error) {
	all, err := read(ctx, db, probes, at)
	for _, c := range all {
		sum.Add(c)
	}
	return sum, err
}

// mostOperations bounds how many operations one month lists.
const mostOperations = 500

func read(ctx context.Context, db *store.DB, partition string, at time.Time) (all []Counts, err error) {
	month := at.UTC().Format(monthLayout)
	q := store.Query{Index: store.Table, Partition: partition, From: month + "#", To: month + "#~", Limit: mostOperations, OldestFirst: true}
	err = db.Each(ctx, q, func(it store.Item) error {
		_, operation, _ := strings.Cut(it.SK, "#")
		c := Counts{Operation: operation, Calls: it.Numbers[calls], Failed: it.Numbers[failed], Classes: make([]int64, len(Bounds)+1)}
		for n := range c.Classes {
			c.Classes[n] = it.Numbers[class(n)]
		}
		all = append(all, c)
		return nil
	})
	return all, err
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

// Probed counts a probe of the service.
func Probed(ctx context.Context, db *store.DB, at time.Time, took time.Duration, ok bool) error {
	c := Counts{Calls: 1, Classes: make([]int64, len(Bounds)+1)}
	c.Classes[classOf(took.Milliseconds())] = 1
	if !ok {
		c.Failed = 1
	}
	counted := store.Number(calls)
	always := expression.Or(counted.AttributeNotExists(), counted.GreaterThanEqual(expression.Value(0)))
	_, err := db.Update(ctx, keyOf(probes, at, "job"), c.update(at), always)
	return err
}
