package transfer

import (
	"cmp"
	"context"
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

// running reads the record of a step. It returns nil if the record does not exist or has ended.
func running[R any, P record[R]](ctx context.Context, db *store.DB, s *task.Run) (it store.Item, r P, err error) {
	it, err = db.Lookup(ctx, store.IDKey(s.Subject))
	if err != nil || it.Kind == "" {
		return it, nil, err
	}
	r = new(R)
	if err = it.Decode(r); err != nil || !r.runs() {
		return it, nil, err
	}
	return it, r, nil
}

// changing returns what an outcome adds to its transaction: the record of its step with a change. The record is read
// anew, because another delivery of the step may have changed it.
func changing[R any, P record[R]](db *store.DB, s *task.Run, now func() time.Time,
	change func(*store.Tx, *store.Item, P) error) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		it, r, err := running[R, P](ctx, db, s)
		if err != nil || r == nil {
			return cmp.Or(err, task.ErrMoved)
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
