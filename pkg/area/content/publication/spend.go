package publication

import (
	"context"
	"math"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// MayRead reports whether comments may be read within the budgets of a platform.
func (w *Worker) MayRead(ctx context.Context, name string, c platform.Capabilities) (bool, error) {
	if c.Reads == nil {
		return true, nil
	}
	_, within, err := w.readings(ctx, name, c, c.Reads.Price, false)
	return within, err
}

// CountRead adds to the transaction what the reading of comments has used. It is known after the reading, so that the
// last reading of a day may exceed the budget.
func (w *Worker) CountRead(ctx context.Context, tx *store.Tx, name string, c platform.Capabilities, uses int) error {
	if c.Reads == nil || uses == 0 {
		return nil
	}
	all, _, err := w.readings(ctx, name, c, uses, true)
	for _, u := range all {
		tx.CountUntil(u.key, u.uses, math.MaxInt32, w.Now().Add(3*day), store.ErrConflict)
	}
	return err
}

// AllowWrite takes a call that writes, hides or deletes a comment out of the budget of its platform, in a step of its
// own. The function granted returns the payload with the result. It returns false if the call is beyond the budget.
func (w *Worker) AllowWrite(ctx context.Context, name string, c platform.Capabilities, price int,
	granted func(bool) any) (out task.Outcome, within bool, err error) {
	return w.take(ctx, func(ctx context.Context) ([]use, bool, error) {
		of, counter := platform.Budget{Max: c.Reads.Max, Shared: true}, name+".reads"
		switch {
		case c.Reads.Part > 0:
			of, counter = *c.Budget, name
		case c.Budget != nil:
			of.Starts = c.Budget.Starts
		}
		left, key, err := w.budget(ctx, of, counter, "")
		limit := left.limit(left.passed)
		return []use{{key, int64(price), limit}}, left.used+int64(price) <= limit, err
	}, granted)
}
