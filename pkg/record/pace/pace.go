// Package pace has what operators set for the providers of generations without a deployment: which of them are turned
// off, and how many calls a minute each takes. Calls beyond the limit of a provider or model get a later time: each
// call takes a place in a window of some seconds, and a full window passes calls on to the next one. Read returns the
// State.
package pace

import (
	"context"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// copies is the number of items that have the state: all live work reads it, and a partition takes 3,000 reads a
// second.
const copies = 8

// Key returns the key of the copy of the state that an account reads: the settings, and for each limited name the first
// window with places.
func Key(account tenant.Account) store.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(account)) // returns no error
	return copyKey(h.Sum32() % copies)
}

func copyKey(n uint32) store.Key { return store.IDKey("pace#" + strconv.Itoa(int(n))) }

// Settings are the settings of operators. Names are those of providers, such as fal, or ids of models, such as
// stable-image-core.
type Settings struct {
	// Off are the names that get no calls.
	Off []string `json:"off,omitempty"`
	// PerMinute are the calls a minute by name. A name without a limit takes any number.
	PerMinute map[string]int `json:"per_minute,omitempty"`
}

// State is the state of all providers.
type State struct {
	Settings
	free map[string]int64
}

// Of returns the state of an item with a key of Key. The state of a missing item has no limits.
func Of(it store.Item) (State, error) {
	s := State{free: map[string]int64{}}
	if it.Kind == "" {
		return s, nil
	}
	maps.Copy(s.free, it.Numbers)
	return s, it.Decode(&s.Settings)
}

// IsOff reports whether a provider or one of its models is turned off.
func (s State) IsOff(provider, model string) bool {
	return slices.Contains(s.Off, provider) || slices.Contains(s.Off, model)
}

// Limited returns the name whose limit holds for a model of a provider: the model's, or else the provider's. It is
// empty if there is no limit.
func (s State) Limited(provider, model string) string {
	for _, name := range []string{model, provider} {
		if s.PerMinute[name] > 0 {
			return name
		}
	}
	return ""
}

// Delay returns the time until a model of a provider can take n more calls than those that have a place.
func (s State) Delay(provider, model string, n int, now time.Time) time.Duration {
	name := s.Limited(provider, model)
	if name == "" {
		return 0
	}
	l := limitOf(s.PerMinute[name])
	first := max(s.free[attribute(name)], l.at(now))
	return max(l.begin(first).Sub(now), 0) + time.Duration(n)*l.length/time.Duration(l.places)
}

// limit divides the time into windows with places.
type limit struct {
	length time.Duration
	places int
}

// The windows are short, so that no minute has many more calls than its limit: with windows of ten seconds, at most a
// sixth more. A lower limit needs longer windows.
const (
	shortWindow = 10 * time.Second
	longWindow  = time.Minute
)

func limitOf(perMinute int) limit {
	if places := perMinute * int(shortWindow/time.Second) / 60; places >= 5 {
		return limit{shortWindow, places}
	}
	return limit{longWindow, perMinute}
}

func (l limit) at(t time.Time) int64         { return t.UnixNano() / int64(l.length) }
func (l limit) begin(window int64) time.Time { return time.Unix(0, window*int64(l.length)).UTC() }

// attribute returns a name without the period, which separates parts of a path in expressions.
func attribute(name string) string { return "free_" + strings.ReplaceAll(name, ".", "_") }

// places is the number of calls that have a place in a window.
const places = "places"

// farthest bounds the windows that one call of Take looks at.
const farthest = 1000

// ErrFull reports that no window has a place for a long time.
var ErrFull = errors.New("pace: no place")

// Take takes the next place of a name with a limit, and returns the time of the call: now, or a time in a later window.
// A place that is not used is lost. The state may be some seconds old. The argument chance, from 0 to 1, spreads the
// calls of a later window over it.
func (s State) Take(ctx context.Context, db *store.DB, name string, now time.Time, chance float64) (time.Time, error) {
	l := limitOf(s.PerMinute[name])
	first := l.at(now)
	window := max(s.free[attribute(name)], first)
	count := store.Number(places)
	for range farthest {
		it, err := db.Update(ctx, store.IDKey("places#"+name+"#"+strconv.FormatInt(window, 10)),
			store.Expires(expression.Add(count, expression.Value(1)), l.begin(window).Add(time.Hour)),
			expression.Or(count.AttributeNotExists(), count.LessThan(expression.Value(l.places))))
		if _, full := store.ConflictOf(err); full {
			window++
			continue
		}
		if err != nil {
			return time.Time{}, err
		}
		if it.Numbers[places] >= int64(l.places) {
			err = fill(ctx, db, attribute(name), window+1)
		}
		at := l.begin(window).Add(time.Duration(chance * float64(l.length)))
		if window == first {
			at = now
		}
		return at, err
	}
	return time.Time{}, ErrFull
}

// fill notes that the windows before the given one are full.
func fill(ctx context.Context, db *store.DB, attribute string, window int64) error {
	free := store.Number(attribute)
	for n := range uint32(copies) {
		_, err := db.Update(ctx, copyKey(n), expression.Set(free, expression.Value(window)),
			expression.Or(free.AttributeNotExists(), free.LessThan(expression.Value(window))))
		if _, later := store.ConflictOf(err); err != nil && !later {
			return err
		}
	}
	return nil
}

// Kind is the kind of the items that have the state.
const Kind = "pace"

// Change changes the settings. It is for operators: if two change them at a time, one gets store.ErrConflict.
func Change(ctx context.Context, db *store.DB, change func(*Settings)) (is Settings, err error) {
	var keys []store.Key
	for n := range uint32(copies) {
		keys = append(keys, copyKey(n))
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return is, err
	}
	s, err := Of(items[0])
	if err != nil {
		return is, err
	}
	if is = s.Settings; is.PerMinute == nil {
		is.PerMinute = map[string]int{}
	}
	change(&is)
	maps.DeleteFunc(is.PerMinute, func(_ string, n int) bool { return n <= 0 })
	tx := &store.Tx{}
	for n, it := range items {
		missing := it.Kind == ""
		it.Key, it.Kind = keys[n], Kind
		if err := it.Encode(is); err != nil {
			return is, err
		}
		if missing {
			tx.Create(it, store.ErrConflict)
		} else {
			tx.Replace(it)
		}
	}
	return is, db.Commit(ctx, tx)
}

// Read returns the state of all providers.
func Read(ctx context.Context, db *store.DB) (State, error) {
	it, err := db.Lookup(ctx, copyKey(0))
	if err != nil {
		return State{}, err
	}
	return Of(it)
}
