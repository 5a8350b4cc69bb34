package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// record is the stored document of an export or import, of type R.
type record[R any] interface {
	*R
	// runs reports whether it has not ended.
	runs() bool
	Touch(now time.Time)
}

// stateFilter is the name of the filter by the state of an export or import.
const stateFilter = "state"

// Describe returns the values by which lists filter exports.
func (x Export) Describe() map[string]string {
	all := x.Resource.Describe()
	all[stateFilter] = string(x.State)
	return all
}

// Describe returns the values by which lists filter imports.
func (i Import) Describe() map[string]string {
	all := i.Resource.Describe()
	all[stateFilter] = string(i.State)
	return all
}

func (r *exportRecord) runs() bool { return r.State == Running }
func (r *importRecord) runs() bool { return r.State == Running }

// running reads the record of a step. It returns task.ErrMoved if it does not exist or has ended.
func running[R any, P record[R]](ctx context.Context, db *store.DB, s *task.Step) (it store.Item, r P, err error) {
	it, err = db.Get(ctx, store.IDKey(s.Subject))
	if errors.Is(err, store.ErrNotFound) {
		return it, nil, task.ErrMoved
	}
	r = new(R)
	if err == nil {
		err = it.Decode(r)
	}
	if err == nil && !r.runs() {
		err = task.ErrMoved
	}
	return it, r, err
}

// changing returns what an outcome adds to its transaction: the record of its step with a change. The record is read
// anew, because another delivery of the step may have changed it.
func changing[R any, P record[R]](db *store.DB, s *task.Step, now func() time.Time,
	change func(*store.Tx, *store.Item, P) error) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		it, r, err := running[R, P](ctx, db, s)
		if err != nil {
			return err
		}
		r.Touch(now())
		if err := change(tx, &it, r); err != nil {
			return err
		}
		if err := it.Encode(r); err != nil {
			return err
		}
		tx.Replace(it)
		return nil
	}
}
