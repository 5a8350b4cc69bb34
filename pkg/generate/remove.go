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

// removeFiles removes the files of a deleted resource, and their entries in the register. It tries without end: files
// that a customer has deleted must not stay.
func (w *Worker) removeFiles(ctx context.Context, s *task.Run) error {
	var r removal
	if err := s.Decode(&r); err != nil {
		return err
	}
	for attempt := range r.Attempts {
		if err := w.Objects.Remove(ctx, placeOf(s.Owner, s.Subject, attempt+1)); err != nil {
			return task.Again(fmt.Errorf("generate: remove the files of %s: %w", s.Subject, err))
		}
	}
	if err := unregister(ctx, w.DB, s.Subject); err != nil {
		return task.Again(err)
	}
	return s.End(func(ctx context.Context, tx *store.Tx) error { return quota.FreeBytes(ctx, w.DB, tx, s.Subject) })
}
