package analytics

import (
	"context"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// Group is the key of a sum: a day, such as 2026-11-22, and the kind and platform of content.
type Group struct{ Day, Kind, Platform string }

// margin is the greatest distance between the days of two time zones, plus one.
const margin = 3 * 24 * time.Hour

// DayKeys returns the keys of the items from which Days reads the sums, for days in any time zone.
// There is one item for each month.
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

// ZoneOf returns the time zone of a factory's item, which is that of its schedule, or UTC.
func ZoneOf(factory store.Item) (*time.Location, error) {
	_, zone, err := zoneOf(factory)
	return zone, err
}

// Days returns the sums of a range of days, both ends included, in a time zone. The argument read
// has the items of DayKeys, which suffice if the factory had that time zone. For a different zone,
// Days reads the items of quarters, which takes a further round trip for each megabyte.
func Days(ctx context.Context, db *store.DB, factory string, from, to time.Time, zone *time.Location,
	read []store.Item) (map[Group]RollupAmounts, error) {
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

// totals maps groups to their sums.
type totals map[Group]RollupAmounts

// add adds the cells of an item; day returns the day of the first number in the name of a cell.
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
