package social

import (
	"context"
	"math"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Price is what a call takes of the budgets of its platform: of that for posts (ForPublishing), for calls that change
// comments (ForComments), or for readings (ForReading).
type Price struct {
	Of Purpose
	// Units that the platform counts. A reading is at least one.
	Units int
	// Urgent reports that a reading may use the part of the budget that is kept for the first readings of new posts.
	Urgent bool
}

// Use is what a call takes of a counter, which has a limit.
type Use struct {
	Key          store.Key
	Units, Limit int64
}

// Budgets has the budgets of platforms.
type Budgets interface {
	// Uses returns what a call for an account takes of counters, or nothing if its platform has no such budget. The
	// wait is the time until the budgets permit the call, or 0 if they do now.
	Uses(ctx context.Context, r *Record, c platform.Capabilities, p Price) (all []Use, wait time.Duration, err error)
}

// keepCount is the time for which a counter is kept.
const keepCount = 3 * 24 * time.Hour

// Spend takes a call out of the budgets of its platform, once until Over, and in a write of its own. If they do not
// permit the call, it returns a platform.Error as a permanent error, whose RetryAfter is the time until they do. A task
// that fails spends nothing.
func (a *Visit) Spend(ctx context.Context, p Price) error {
	if a.Run.Knows("budget") {
		return nil
	}
	if all, err := a.afford(ctx, p); err != nil || len(all) == 0 {
		return err
	}
	_, err := task.Commit(ctx, a.Run, "budget", func(ctx context.Context, tx *store.Tx) (bool, error) {
		all, err := a.afford(ctx, p)
		for _, u := range all {
			tx.CountUntil(u.Key, u.Units, u.Limit, a.Now().Add(keepCount), store.ErrConflict)
		}
		return true, err
	})
	if task.Waits(err) {
		err = task.Again(err) // others use the counters, too
	}
	return err
}

// Affords returns the error that Spend would. It is for a call whose price is known afterwards: see Count.
func (a *Visit) Affords(ctx context.Context, p Price) error {
	_, err := a.afford(ctx, p)
	return err
}

// Count adds to the transaction what a call has used, even if it exceeds the budgets.
func (a *Visit) Count(ctx context.Context, tx *store.Tx, p Price) error {
	all, _, err := a.uses(ctx, p)
	for _, u := range all {
		tx.CountUntil(u.Key, u.Units, math.MaxInt32, a.Now().Add(keepCount), store.ErrConflict)
	}
	return err
}

// Over ends a reading: the next one spends and is tried anew.
func (a *Visit) Over() {
	a.Run.Forget("budget")
	a.Run.Forget("tries")
}

// afford returns what a call takes of counters, or the error of Spend.
func (a *Visit) afford(ctx context.Context, p Price) ([]Use, error) {
	if p.Of == ForReading {
		p.Units = max(1, p.Units)
	}
	all, wait, err := a.uses(ctx, p)
	switch {
	case err != nil:
		return nil, task.Again(err)
	case wait > 0:
		return nil, task.Permanent((&platform.Error{Kind: platform.Quota, Code: platform.CodeQuotaReached,
			Message: "The calls of this platform have used up their share of the day. Try again later."}).After(wait))
	}
	return all, nil
}

// uses returns what Budgets.Uses does. Calls of the sandbox use nothing.
func (a *Visit) uses(ctx context.Context, p Price) (all []Use, wait time.Duration, err error) {
	if a.Run.Mode != tenant.Live || a.Adapter == nil || p.Units == 0 {
		return nil, 0, nil
	}
	return a.Budgets.Uses(ctx, &a.Account, a.Adapter.Capabilities(), p)
}
