package credential

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/store"
)

// Calls are the numbers of calls of a key in some time.
type Calls struct {
	// Requests made with the key, refused ones included.
	Requests int64 `json:"calls"`
	// Those that were refused before they were carried out: with an ended secret, for the plan, the address, the scope
	// or the rate limit.
	Refused int64 `json:"refused"`
}

func (c *Calls) add(other Calls) {
	c.Requests += other.Requests
	c.Refused += other.Refused
}

// Usage is the number of calls of a key.
type Usage struct {
	// The current hour and the 23 before it.
	LastDay Calls `json:"last_24h"`
	// Today (UTC) and the 29 days before.
	LastMonth Calls `json:"last_30d"`
}

// tally returns the calls of the window in a credential's item.
func tally(it *store.Item) Calls {
	c := read("", *it)
	n := Calls{Requests: int64(c.Count)}
	excess, _ := c.Excess()
	n.Refused = min(it.Numbers[refused]+int64(excess), n.Requests)
	return n
}

// keepUsage is the time for which a day of usage is kept.
const keepUsage = 32 * 24 * time.Hour

// usageKey is the key of the item with the calls of a key on one day, by the hour.
func usageKey(keyID string, at time.Time) store.Key {
	return store.IDKey(Usages(keyID + "#" + at.UTC().Format(time.DateOnly)))
}

func hourOf(name string, hour int) string { return fmt.Sprintf("%s%02d", name, hour) }

// addUsage adds the calls of a window to the usage of a key.
func addUsage(tx *store.Tx, keyID string, n int64, c Calls) {
	if c.Requests == 0 {
		return
	}
	at := begin(n)
	requests := store.Number(hourOf(calls, at.Hour()))
	u := expression.Add(requests, expression.Value(c.Requests)).Add(store.Number(hourOf(refused, at.Hour())),
		expression.Value(c.Refused))
	always := expression.Or(requests.AttributeNotExists(), requests.GreaterThanEqual(expression.Value(0)))
	tx.Update(usageKey(keyID, at), store.Expires(u, at.Add(keepUsage)), always, store.Conflict)
}

// usageDays is the number of days that Usage covers.
const usageDays = 30

// UsageKeys returns the keys of the items with the usage of a key.
func UsageKeys(keyID string, now time.Time) []store.Key {
	keys := make([]store.Key, usageDays)
	for day := range keys {
		keys[day] = usageKey(keyID, now.AddDate(0, 0, -day))
	}
	return keys
}

// SecretKey returns the key of the item of a credential.
func SecretKey(hash string) store.Key { return key(hash) }

// UsageOf returns the usage of a key from the items of UsageKeys, and from the item of its current credential, whose
// window they do not include yet. That item may be the zero Item.
func UsageOf(days []store.Item, current store.Item, now time.Time) Usage {
	var u Usage
	hour, today := now.UTC().Truncate(time.Hour), now.UTC().Truncate(24*time.Hour)
	for back, it := range days {
		midnight := today.AddDate(0, 0, -back)
		for h := range 24 {
			c := Calls{it.Numbers[hourOf(calls, h)], it.Numbers[hourOf(refused, h)]}
			u.LastMonth.add(c)
			if at := midnight.Add(time.Duration(h) * time.Hour); hour.Sub(at) < 24*time.Hour {
				u.LastDay.add(c)
			}
		}
	}
	ended := current.Numbers[turned]
	for n, c := range map[int64]Calls{current.Numbers[window]: tally(&current),
		current.Numbers[turnedWindow]: {ended, ended}} {
		if at := begin(n).Truncate(time.Hour); !at.Before(today.AddDate(0, 0, 1-usageDays)) {
			u.LastMonth.add(c)
			if hour.Sub(at) < 24*time.Hour {
				u.LastDay.add(c)
			}
		}
	}
	return u
}

// Day is the number of calls of a key on a day.
type Day struct {
	// Day (UTC).
	Date string `json:"day" format:"date" example:"2026-05-01"`
	Calls
}

// DaysOf returns the calls of each day of the last month, the earliest first, from the same items as UsageOf.
func DaysOf(days []store.Item, current store.Item, now time.Time) []Day {
	all := make([]Day, len(days))
	for back, it := range days {
		d := &all[len(days)-1-back]
		d.Date = now.UTC().AddDate(0, 0, -back).Format(time.DateOnly)
		for h := range 24 {
			d.add(Calls{it.Numbers[hourOf(calls, h)], it.Numbers[hourOf(refused, h)]})
		}
		ended := current.Numbers[turned]
		for n, c := range map[int64]Calls{current.Numbers[window]: tally(&current),
			current.Numbers[turnedWindow]: {ended, ended}} {
			if begin(n).Format(time.DateOnly) == d.Date {
				d.add(c)
			}
		}
	}
	return all
}
