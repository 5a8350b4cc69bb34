package generate

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Preparing is Work that reads what its texts draw on, such as sources, before they are written.
type Preparing interface {
	Work
	// Reads reports whether that are pages and feeds of others, of which a function may die.
	Reads() bool
	// Prepare reads it, and returns the change of the work that the commit makes, or nil if there is nothing to read.
	Prepare(ctx context.Context, db *store.DB, now time.Time) (change func(Work), err error)
}

// prepare prepares the work for its texts, and reports whether the step is done with it: what was read is stored before
// the writer is asked, so that a step that is repeated asks the same.
func (w *Worker) prepare(ctx context.Context, a *attempt, work Work, o *task.Outcome) (done bool, err error) {
	part := &a.Parts[a.n]
	preparing, ok := work.(Preparing)
	if !ok || part.Kind != provider.KindText || part.is(prepared) {
		return false, nil
	}
	if preparing.Reads() {
		if err := a.GuardShared(ctx); err != nil {
			return false, err
		}
	}
	change, err := preparing.Prepare(ctx, w.DB, w.Now())
	if err != nil || change == nil {
		return false, err
	}
	o.Join = w.join(a.Step, a.Attempt, func(_ *store.Tx, work Work) error {
		change(work)
		return nil
	})
	return true, part.move(prepared)
}
