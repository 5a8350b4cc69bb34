package social

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Measure is the kind of the task that reads the figures of an account once a day. Package publication has its handler.
const Measure task.Kind = "social.measure"

// Measuring is the payload of a Measure task. The task ends with its connection.
type Measuring struct {
	Connection int `json:"connection"`
}

// MeasureID returns the id of the task of the account's connection.
func (r *Record) MeasureID() string { return task.ID(Measure, r.ID, r.Connection) }

// StartMeasure adds the task to the transaction.
func (r *Record) StartMeasure(tx *store.Tx, now time.Time, o tenant.Owner) error {
	return task.Create(tx, now, task.Task{Message: task.Message{ID: r.MeasureID(), Kind: Measure,
		Queue: topology.Publish, Subject: r.ID, Owner: o}}, Measuring{Connection: r.Connection})
}

// NextMeasure returns the time of the next reading: the same time of each day in UTC, which differs between accounts.
// It is not shortly before midnight, because a late reading would be one of another day.
func (r *Record) NextMeasure(now time.Time) time.Time {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.ID))
	const spread = 20 * time.Hour
	next := platform.Midnight(now).Add(time.Duration(h.Sum32()) * time.Second % spread)
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// DaysKind is the kind of the items with the figures of an account by day. There is one for each month.
const DaysKind = "account_days"

// keepDays is the time for which a month stays.
const keepDays = 2 * 366 * 24 * time.Hour

const month = "2006-01"

// months is the document of a month: its days by their numbers.
type months struct {
	Days map[int]platform.Day `json:"days"`
}

func daysKey(accountID string, at time.Time) store.Key {
	return store.IDKey("days#" + accountID + "#" + at.Format(month))
}

// DaysKeys returns the keys of the items from which Days reads the figures of a period.
func DaysKeys(accountID string, from, to time.Time) (keys []store.Key) {
	for at := time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC); !at.After(to); at = at.AddDate(0, 1, 0) {
		keys = append(keys, daysKey(accountID, at))
	}
	return keys
}

// Days returns the figures of a period, both ends included, in order. The items are those of DaysKeys.
func Days(items []store.Item, o tenant.Owner, from, to time.Time) (all []platform.Day, err error) {
	known := map[time.Time]platform.Day{}
	for i := range items {
		it := &items[i]
		if it.Kind != DaysKind || it.Owner != o {
			continue
		}
		var m months
		if err := it.Decode(&m); err != nil {
			return nil, err
		}
		for _, d := range m.Days {
			known[d.Date] = d
		}
	}
	for at := from; !at.After(to); at = at.AddDate(0, 0, 1) {
		if d, ok := known[at]; ok {
			all = append(all, d)
		}
	}
	return all, nil
}

// KeepDays adds the figures of days, which are in order, to the transaction. They replace those that are stored. A
// figure that is not known now keeps its value, and a day without figures is left out.
func KeepDays(ctx context.Context, db *store.DB, tx *store.Tx, o tenant.Owner, accountID string,
	days []platform.Day) error {
	days = slices.DeleteFunc(slices.Clone(days), func(d platform.Day) bool { return len(d.Named()) == 0 })
	if len(days) == 0 {
		return nil
	}
	keys := DaysKeys(accountID, days[0].Date, days[len(days)-1].Date)
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for i, it := range items {
		var m months
		exists := it.Kind == DaysKind
		if exists {
			if err := it.Decode(&m); err != nil {
				return err
			}
		}
		if m.Days == nil {
			m.Days = map[int]platform.Day{}
		}
		for _, d := range days {
			if daysKey(accountID, d.Date) == keys[i] {
				m.Days[d.Date.Day()] = d.Or(m.Days[d.Date.Day()])
			}
		}
		if !exists {
			it = store.Item{Key: keys[i], Kind: DaysKind, Owner: o,
				ExpireAt: days[len(days)-1].Date.Add(keepDays)}
			if o.Mode == tenant.Test { // the reset of the sandbox finds them
				it.Listed = store.Key{PK: store.OwnerPartition(o, DaysKind), SK: accountID}
			}
		}
		if err := it.Encode(m); err != nil {
			return fmt.Errorf("social: the days of %s: %w", accountID, err)
		}
		if exists {
			tx.Replace(it)
		} else {
			tx.Create(it, nil)
		}
	}
	return nil
}
