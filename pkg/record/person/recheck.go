package person

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// RecheckKind is the kind of the task that looks for what acts on behalf of a principal.
const RecheckKind task.Kind = "authority.recheck"

// StartRecheck adds the tasks to the transaction that takes rights from a key or person: one for each mode in which the
// principal may have made something. The version is that of the changed record, so that each change has its own tasks.
func StartRecheck(tx *store.Tx, now time.Time, account tenant.Account, actorID string, version int64,
	modes ...tenant.Mode) error {
	for _, mode := range modes {
		m := task.Message{ID: task.ID(RecheckKind, actorID+"#"+string(mode)+"#"+strconv.FormatInt(version, 10), 1),
			Kind:  RecheckKind,
			Queue: topology.Settle, Subject: actorID, Owner: tenant.Of(account, mode)}
		if err := task.Create(tx, now, task.Task{Message: m}, struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// Recheck looks at one item that acts on behalf of the principal, and ends it if its authority has ended. It returns
// store.ErrConflict if the item has changed in the meantime.
type Recheck func(ctx context.Context, it store.Item) error

// Rechecks returns the function of the tasks: it checks all items of the owner whose authority is the principal, by the
// check of their kind.
func Rechecks(db *store.DB, checks map[string]Recheck) task.Func {
	return func(ctx context.Context, r *task.Run) error {
		for kind, check := range checks {
			q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(r.Owner, kind), Limit: 100}
			err := db.Each(ctx, q, func(it store.Item) error {
				var doc struct {
					Authority struct{ Actor auth.Actor }
				}
				if err := it.Decode(&doc); err != nil || doc.Authority.Actor.ID != r.Subject {
					return err
				}
				return check(ctx, it)
			})
			if err != nil {
				return task.Again(fmt.Errorf("recheck: %s of %s: %w", kind, r.Subject, err))
			}
		}
		return nil
	}
}
