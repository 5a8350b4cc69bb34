package publication

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	day = 24 * time.Hour
	// period is the time that one counter of an account's budget covers.
	period = 4 * time.Hour
	// atAnyTime is the part of a shared budget that can be used at any time of its day: a fourth of it.
	atAnyTime = 4
	// leastPause and longestPause bound how long a publication waits before it looks at a budget again.
	leastPause   = time.Minute
	longestPause = 4 * time.Hour
)

// budget is a budget with its use.
type budget struct {
	platform.Budget
	// passed is the part of the present counter's time that has passed.
	passed time.Duration
	// used counts in the present counter, and earlier in those before it.
	used, earlier int64
}

// limit returns how much the present counter may have after the given part of its time.
func (b budget) limit(passed time.Duration) int64 {
	most := int64(b.Max) - b.earlier
	if b.Shared {
		free := most / atAnyTime
		return free + int64(math.Ceil(float64(most-free)*min(1, passed.Hours()/day.Hours())))
	}
	return most
}

// wait returns the time until the given uses are within the budget, or 0 if they are now.
func (b budget) wait(uses int64) time.Duration {
	left := period - b.passed
	if b.Shared {
		left = day - b.passed
	}
	const step = 5 * time.Minute
	wait := time.Duration(0)
	for wait < left && wait < longestPause && b.used+uses > b.limit(b.passed+wait) {
		wait += step
	}
	return wait
}

// budget reads the use of a budget, and returns the key of the present counter. The budget of an
// account includes the counters that are partly less than 24 hours old.
func (w *Worker) budget(ctx context.Context, b platform.Budget, name, accountID string) (left budget,
	present store.Key, err error) {
	if most, ok := w.Budgets[name]; ok {
		b.Max = most
	}
	length, of, many := day, "", 1
	if !b.Shared {
		length, of, many = period, "#"+accountID, int(day/period)+1
	}
	keys := make([]store.Key, many)
	var passed time.Duration
	for i := range keys {
		keys[i], passed = social.BudgetKey(name, of, length, b.Starts, w.Now(), i)
	}
	application := social.Metered(name)
	if application != "" {
		keys = append(keys, store.IDKey(application))
	}
	items, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return left, present, task.Again(err)
	}
	if application != "" {
		if most, ok, err := social.DailyLimit(items[many]); err != nil {
			return left, present, task.Again(err)
		} else if ok {
			b.Max = most
		}
	}
	left = budget{Budget: b, passed: passed, used: items[0].Count()}
	for _, it := range items[1:many] {
		left.earlier += it.Count()
	}
	return left, keys[0], nil
}

// grant takes the uses of a publication out of the budget of its platform. It does so in a separate
// step, once for each time that the publication begins. ready reports whether nothing is left to
// take. A publication beyond the budget waits until the budget permits it.
func (w poster) grant(ctx context.Context, o tenant.Owner, p posting, progress platform.Progress, name string,
	b *platform.Budget, what platform.Post) (out task.Outcome, ready bool, err error) {
	if b == nil || o.Mode != tenant.Live || p.Granted > progress.Restarts {
		return out, true, nil
	}
	uses := int64(b.Uses(what))
	left, _, err := w.budget(ctx, *b, name, p.Account)
	if err != nil {
		return out, false, err
	}
	if wait := left.wait(uses); wait > 0 {
		wait = max(leastPause, task.Jitter(wait))
		return task.Outcome{Payload: p, Wait: wait, Deadline: w.Now().Add(wait + postWithin)}, false, nil
	}
	granted := p
	out.Payload = &granted
	out.Join = func(ctx context.Context, tx *store.Tx) error {
		granted.Granted = p.Granted
		left, key, err := w.budget(ctx, *b, name, p.Account)
		if err != nil || left.wait(uses) > 0 {
			return err // the next step waits
		}
		granted.Granted = progress.Restarts + 1
		tx.CountUntil(key, uses, left.limit(left.passed), w.Now().Add(3*day), store.ErrConflict)
		return nil
	}
	return out, false, nil
}

// readings returns what a reading with a price takes of the budgets of its platform. It returns false if the reading is
// beyond one of them. Readings that are not urgent have three quarters of the budget, so that the first readings of new
// posts have the rest.
func (w *Worker) readings(ctx context.Context, name string, c platform.Capabilities, price int, urgent bool) (
	all []social.Use, within bool, err error) {
	own := platform.Budget{Max: c.Reads.Max, Shared: true}
	uses := int64(max(1, price))
	if c.Budget != nil {
		own.Starts = c.Budget.Starts
	}
	within = true
	if c.Reads.Part > 0 {
		shared, key, err := w.budget(ctx, *c.Budget, name, "")
		if err != nil {
			return nil, false, err
		}
		own.Max = shared.Max / c.Reads.Part
		all = append(all, social.Use{Key: key, Units: uses, Limit: shared.limit(shared.passed)})
		within = shared.used+uses <= shared.limit(shared.passed)
	}
	left, key, err := w.budget(ctx, own, name+".reads", "")
	if err != nil {
		return nil, false, err
	}
	most := left.limit(left.passed)
	if !urgent {
		most -= most / 4
	}
	return append(all, social.Use{Key: key, Units: uses, Limit: most}), within && left.used+uses <= most, nil
}

// allow takes a reading out of the budgets of its platform, in a step of its own. The function granted returns the
// payload with the result. It returns false if the reading is beyond a budget.
func (w *Worker) allow(ctx context.Context, name string, c platform.Capabilities, price int, urgent bool,
	granted func(bool) any) (out task.Outcome, within bool, err error) {
	return w.take(ctx, func(ctx context.Context) ([]social.Use, bool, error) {
		return w.readings(ctx, name, c, price, urgent)
	}, granted)
}

// take takes what the function find returns out of budgets, in a step of its own. The function granted returns the
// payload with the result. It returns false if find does.
func (w *Worker) take(ctx context.Context, find func(context.Context) ([]social.Use, bool, error),
	granted func(bool) any) (out task.Outcome, within bool, err error) {
	_, within, err = find(ctx)
	if err != nil || !within {
		return out, false, err
	}
	payload := &late{granted(true)}
	out.Payload = payload
	out.Join = func(ctx context.Context, tx *store.Tx) error {
		uses, within, err := find(ctx)
		if payload.any = granted(within); err != nil || !within {
			return err // the next step leaves the call out
		}
		for _, u := range uses {
			tx.CountUntil(u.Key, u.Units, u.Limit, w.Now().Add(3*day), store.ErrConflict)
		}
		return nil
	}
	return out, true, nil
}

// late is a payload that is known when its step is committed.
type late struct{ any }

func (l *late) MarshalJSON() ([]byte, error) { return json.Marshal(l.any) }
