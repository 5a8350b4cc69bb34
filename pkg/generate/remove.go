package generate

import (
	"context"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// removal is the payload of a Remove task.
type removal struct {
	Attempts int `json:"attempts"`
}

// RemoveFiles adds the task that removes the files of all attempts of a resource to the transaction that deletes the
// resource. The argument attempts is the number of the last attempt.
func RemoveFiles(tx *store.Tx, now time.Time, o tenant.Owner, subject string, attempts int) error {
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: task.ID(Remove, subject, 1), Kind: Remove, Queue: topology.GenerateText, Subject: subject, Owner: o,
	}}, removal{attempts})
}

// remover is the handler of Remove. It tries without end: files that a customer has deleted must not stay.
type remover struct{ *Worker }

// Step removes the files, and their entries in the register. A repeated step finds none.
func (h remover) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var r removal
	if err := s.Decode(&r); err != nil {
		return o, err
	}
	for attempt := range r.Attempts {
		if err := h.Objects.Remove(ctx, placeOf(s.Owner, s.Subject, attempt+1)); err != nil {
			return o, task.Again(fmt.Errorf("generate: remove the files of %s: %w", s.Subject, err))
		}
	}
	o.Done = true
	o.Join = func(ctx context.Context, tx *store.Tx) error { return quota.FreeBytes(ctx, h.DB, tx, s.Subject) }
	return o, unregister(ctx, h.DB, s.Subject)
}
