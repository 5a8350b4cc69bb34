package testclock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// wokenAtOnce is the number of tasks that one step wakes.
const wokenAtOnce = 20

// StartWaking adds a task to the transaction that moves the clock of a sandbox. Its function is that of Waking.
func StartWaking(tx *store.Tx, now time.Time, account tenant.Account, kind task.Kind, q topology.Queue) error {
	return task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(kind, id.New("advance", now), 1),
		Kind: kind, Queue: q, Subject: string(account), Owner: tenant.Of(account, tenant.Test)}}, struct{}{})
}

// Waking returns the function of a task that wakes what waits for the clock of a sandbox: the tasks of its items of a
// kind. The message is that of an item's task, or nil if the item does not wait.
func Waking(db *store.DB, now func() time.Time, kind string,
	message func(store.Item) (*task.Message, error)) task.Func {
	return func(ctx context.Context, r *task.Run) error {
		if r.Mode != tenant.Test {
			return task.Permanent(fmt.Errorf("testclock: %s is not a sandbox", r.Owner))
		}
		var after *store.Cursor
		if err := r.Kept("after", &after); err != nil {
			return err
		}
		page, err := db.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(r.Owner, kind),
			Limit: wokenAtOnce, OldestFirst: true, After: after})
		if err != nil {
			return task.Again(err)
		}
		r.Also(func(_ context.Context, tx *store.Tx) error {
			for _, it := range page.Items {
				m, err := message(it)
				if err == nil && m != nil {
					err = task.Wake(tx, now(), *m)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if page.Next == nil {
			return nil
		}
		return errors.Join(r.Keep("after", page.Next), r.Sleep(0))
	}
}
