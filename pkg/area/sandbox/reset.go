package sandbox

import (
	"context"
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

// progress is the payload of the task.
type progress struct {
	// Before is the time of the request: later items stay.
	Before time.Time `json:"before"`
	erasure.Pass
}

// StartReset adds to the transaction the task that empties the sandbox of an account. Its id
// is new each time, so that two calls of the same millisecond do not conflict.
func StartReset(tx *store.Tx, now time.Time, account tenant.Account) error {
	o := tenant.Of(account, tenant.Test)
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: task.ID(ResetKind, id.New("reset", now), 1), Kind: ResetKind, Queue: topology.GenerateText,
		Subject: string(account), Owner: o,
	}}, progress{Before: now})
}

// Resetter does the steps of the task.
type Resetter struct{ erasure.Deleter }

var _ task.Handler = (*Resetter)(nil)

// Handlers returns the handlers of the kinds of tasks that empty a sandbox.
func (h *Resetter) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{ResetKind: h, generate.Expire: expiry{h}}
}

// expiry is the handler of generate.Expire.
type expiry struct{ *Resetter }

// Step deletes the resource, if it is still there.
func (e expiry) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if s.Mode != tenant.Test {
		return o, task.Permanent(fmt.Errorf("reset: %s is not a sandbox", s.Owner))
	}
	if _, err := e.Delete(ctx, s.Owner, store.IDKey(s.Subject)); err != nil {
		return o, task.Again(fmt.Errorf("reset: delete %s: %w", s.Subject, err))
	}
	o.Done = true
	return o, nil
}

// Step deletes the next items. Done again it finds others, or none.
func (h *Resetter) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if s.Mode != tenant.Test {
		return o, task.Permanent(fmt.Errorf("reset: %s is not a sandbox", s.Owner))
	}
	var p progress
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if _, o.Wait, o.Done, err = h.Next(ctx, s.Owner, &p.Pass, p.Before, ""); err != nil {
		return o, task.Again(err)
	}
	o.Payload = p
	return o, nil
}
