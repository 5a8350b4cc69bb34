package analytics

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime may lack the time zones.

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of all items of this package. The items of a factory share a partition.
//
// An item of daySums has the sums of a month by day. The days are in the time zone that the factory
// had when they were counted, and the item has the number of lines of each zone. An item of
// quarterSums has the sums of a day (UTC) by quarter of an hour, which add up to the days of any
// zone. An item of countedItem has the contribution of a subject so far.
const Kind = "analytics"

// The prefixes of the sort keys.
const (
	daySums     = "day#"
	quarterSums = "quarter#"
	countedItem = "counted#"
	// after, appended to a prefix, sorts after every key with that prefix.
	after = "~"
)

// kinds has the kinds of content by their numbers in the names of cells, in which 0 stands for no
// kind. The numbers are stored, so new kinds go to the end.
var kinds = append([]platform.Kind{""}, platform.Kinds()...)

// numbersOf returns the numbers of a kind and a platform in the names of cells.
func numbersOf(kind, name string) (k, p int, err error) {
	if k = slices.Index(kinds, platform.Kind(kind)); k < 0 {
		return 0, 0, fmt.Errorf("rollup: no number for the kind %q", kind)
	}
	if name == "" {
		return k, 0, nil
	}
	row, ok := registry.Find(name)
	if !ok {
		return 0, 0, fmt.Errorf("rollup: no number for the platform %q", name)
	}
	return k, row.Number, nil
}

// valuesOf returns the kind and the platform of a cell.
func valuesOf(c cell) (kind, name string, err error) {
	if c.kind >= len(kinds) || c.metric >= metrics {
		return "", "", fmt.Errorf("rollup: no kind or metric of the number in %s", c.name())
	}
	if c.platform == 0 {
		return string(kinds[c.kind]), "", nil
	}
	rows := registry.Rows()
	i := slices.IndexFunc(rows, func(r registry.Row) bool { return r.Number == c.platform })
	if i < 0 {
		return "", "", fmt.Errorf("rollup: no platform of the number in %s", c.name())
	}
	return string(kinds[c.kind]), rows[i].Name, nil
}

// zonePrefix is the prefix of the names of numbers that count the lines of a zone.
const zonePrefix = "zone:"

const (
	month   = "2006-01"
	quarter = 15 * time.Minute
)

func partition(factory string) string { return "analytics#" + factory }

// newItem returns an empty item of a factory. The items of a sandbox are listed with the age of the
// factory, so that the reset of the sandbox finds them.
func newItem(o tenant.Owner, factory, sk string) store.Item {
	it := store.Item{Key: store.Key{PK: partition(factory), SK: sk}, Kind: Kind, Owner: o, Numbers: map[string]int64{}}
	if o.Mode == tenant.Test {
		it.Listed = store.Key{PK: store.OwnerPartition(o, Kind), SK: factory}
	}
	return it
}

// zoneOf returns the time zone of a factory's item, which is that of its schedule, or UTC.
func zoneOf(of store.Item) (name string, zone *time.Location, err error) {
	var f struct {
		Schedule *struct{ Timezone string }
	}
	if err := json.Unmarshal(of.Doc, &f); err != nil {
		return "", nil, fmt.Errorf("rollup: decode %s: %w", of.PK, err)
	}
	if f.Schedule == nil || f.Schedule.Timezone == "" {
		return "UTC", time.UTC, nil
	}
	zone, err = factory.Zone(f.Schedule.Timezone)
	return f.Schedule.Timezone, zone, err
}

// isFactory reports whether the item is a factory, deleted or not.
func isFactory(it store.Item) bool { return it.Kind == factoryrecord.Kind }

// cell names a sum within an item. It has two digits each for the day in its month or the quarter
// in its day, the kind, the platform and the metric.
type cell struct {
	n, kind, platform, metric int
}

func (c cell) name() string {
	return fmt.Sprintf("%02d%02d%02d%02d", c.n, c.kind, c.platform, c.metric)
}

// cellOf parses the name of a cell.
func cellOf(name string) (c cell, err error) {
	if len(name) != 8 {
		return c, fmt.Errorf("rollup: %q names no sum", name)
	}
	for i, part := range []*int{&c.n, &c.kind, &c.platform, &c.metric} {
		n, err := strconv.ParseUint(name[2*i:2*i+2], 10, 8)
		if err != nil {
			return c, fmt.Errorf("rollup: %q names no sum", name)
		}
		*part = int(n)
	}
	return c, nil
}

// sums maps the sort keys of items to their numbers by name.
type sums map[string]map[string]int64

func (s sums) add(sk, name string, n int64) {
	if s[sk] == nil {
		s[sk] = map[string]int64{}
	}
	if s[sk][name] += n; s[sk][name] == 0 {
		delete(s[sk], name)
	}
	if len(s[sk]) == 0 {
		delete(s, sk)
	}
}

// count adds lines in a time zone to the sums, multiplied by times.
func (s sums) count(lines []Line, name string, zone *time.Location, times int64) error {
	for _, l := range lines {
		kind, number, err := numbersOf(l.Kind, l.Platform)
		if err != nil {
			return err
		}
		c := cell{kind: kind, platform: number}
		local, utc := l.At.In(zone), l.At.UTC()
		day, hours := daySums+local.Format(month), quarterSums+utc.Format(time.DateOnly)
		s.add(day, zonePrefix+name, times)
		for metric, n := range l.Amounts {
			c.metric = metric
			c.n = local.Day()
			s.add(day, c.name(), n*times)
			c.n = int(utc.Sub(utc.Truncate(24*time.Hour)) / quarter)
			s.add(hours, c.name(), n*times)
		}
	}
	return nil
}

// widest returns the greatest number of numbers in one item.
func (s sums) widest() (n int) {
	for _, numbers := range s {
		n = max(n, len(numbers))
	}
	return n
}

// write adds the sums to the sums in the table.
func (s sums) write(tx *store.Tx, o tenant.Owner, factory string) {
	for _, sk := range slices.Sorted(maps.Keys(s)) {
		it := newItem(o, factory, sk)
		it.Numbers = s[sk]
		tx.Add(it)
	}
}

// isPure reports whether all lines of an item of days were counted in a zone.
func isPure(days store.Item, zone string) bool {
	for name, n := range days.Numbers {
		if of, ok := strings.CutPrefix(name, zonePrefix); ok && n != 0 && of != zone {
			return false
		}
	}
	return true
}
