package rollup

import (
	"context"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// Group is what a sum is of: a day, as 2026-11-22, and the kind and platform of content.
type Group struct{ Day, Kind, Platform string }

// margin is how far the days of two time zones may be apart, and one more.
const margin = 3 * 24 * time.Hour

// DayKeys returns the keys of the items that Days reads the sums of from, for days in any
// time zone: one for each month.
func DayKeys(factory string, from, to time.Time) (keys []store.Key) {
	last := to.Add(margin)
	for m := firstOf(from.Add(-margin)); !m.After(last); m = m.AddDate(0, 1, 0) {
		keys = append(keys, store.Key{PK: partition(factory), SK: daySums + m.Format(month)})
	}
	return keys
}

func firstOf(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// ZoneOf returns the time zone of a factory's item: that of its schedule, or UTC.
func ZoneOf(factory store.Item) (*time.Location, error) {
	_, zone, err := zoneOf(factory)
	return zone, err
}

// Days returns the sums of the days from one to another, both included, in a time zone.
// Read are the items of DayKeys, which have them if the factory had that time zone. For
// another one, Days reads the items of quarters, in one round trip more for each megabyte.
func Days(ctx context.Context, db *store.DB, factory string, from, to time.Time, zone *time.Location,
	read []store.Item) (map[Group]Amounts, error) {
	all := totals{}
	pure := true
	for _, it := range read {
		pure = pure && isPure(it, zone.String())
	}
	first, last := from.Format(time.DateOnly), to.Format(time.DateOnly)
	if pure {
		for _, it := range read {
			if it.Kind != Kind {
				continue
			}
			at, err := time.Parse(daySums+month, it.SK)
			if err != nil {
				return nil, err
			}
			day := func(n int) string { return at.AddDate(0, 0, n-1).Format(time.DateOnly) }
			if err := all.add(it, first, last, day); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	q := store.Query{
		Index: store.Table, Partition: partition(factory), OldestFirst: true, Limit: 1000,
		From: quarterSums + from.Add(-margin).Format(time.DateOnly),
		To:   quarterSums + to.Add(margin).Format(time.DateOnly),
	}
	err := db.Each(ctx, q, func(it store.Item) error {
		at, err := time.Parse(quarterSums+time.DateOnly, it.SK)
		if err != nil {
			return err
		}
		return all.add(it, first, last,
			func(n int) string { return at.Add(time.Duration(n) * quarter).In(zone).Format(time.DateOnly) })
	})
	return all, err
}

// totals are sums by what they are of.
type totals map[Group]Amounts

// add adds the cells of an item; day returns the day of the first number in their names.
func (t totals) add(it store.Item, first, last string, day func(n int) string) error {
	for name, n := range it.Numbers {
		if n == 0 || strings.HasPrefix(name, zonePrefix) {
			continue
		}
		c, err := cellOf(name)
		if err != nil {
			return err
		}
		kind, platform, err := valuesOf(c)
		if err != nil {
			return err
		}
		g := Group{day(c.n), kind, platform}
		if g.Day < first || g.Day > last {
			continue
		}
		sum := t[g]
		sum[c.metric] += n
		t[g] = sum
	}
	return nil
}
