package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ResetKind is the kind of the task that empties a sandbox.
const ResetKind task.Kind = "sandbox.reset"

// StartReset adds to the transaction the task that empties the sandbox of an account. Its id
// is new each time, so that two calls of the same millisecond do not conflict.
func StartReset(tx *store.Tx, now time.Time, account tenant.Account) error {
	o := tenant.Of(account, tenant.Test)
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: task.ID(ResetKind, id.New("reset", now), 1), Kind: ResetKind, Queue: topology.GenerateText,
		Subject: string(account), Owner: o,
	}}, request{now})
}

// request is the payload of the task. Items that were made after it stay.
type request struct {
	Before time.Time `json:"before"`
}

// Resetter carries out the tasks of sandboxes.
type Resetter struct{ erasure.Deleter }

// Handlers returns the handlers of the kinds of tasks that empty a sandbox.
func (h *Resetter) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{ResetKind: task.Func(h.Reset), generate.Expire: task.Func(h.expire)}
}

// Reset deletes the next items of a sandbox.
func (h *Resetter) Reset(ctx context.Context, r *task.Run) error {
	var asked request
	var p erasure.Pass
	if err := errors.Join(inSandbox(r), r.Decode(&asked), r.Kept("pass", &p)); err != nil {
		return task.Permanent(err)
	}
	_, wait, done, err := h.Next(ctx, r.Owner, &p, asked.Before, "")
	if err != nil || done {
		return task.Again(err)
	}
	return errors.Join(r.Keep("pass", p), r.Sleep(wait))
}

// expire deletes a resource of a sandbox, if it is still there.
func (h *Resetter) expire(ctx context.Context, r *task.Run) error {
	if err := inSandbox(r); err != nil {
		return task.Permanent(err)
	}
	_, err := h.Delete(ctx, r.Owner, store.IDKey(r.Subject))
	return task.Again(err)
}

func inSandbox(r *task.Run) error {
	if r.Mode != tenant.Test {
		return fmt.Errorf("reset: %s is not a sandbox", r.Owner)
	}
	return nil
}
