package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// taskRemove is the task of a job that removes a resource's files.
const taskRemove = "remove"

// removal is the job that removes the files of a resource that is no more.
type removal struct {
	job.Job
	Due time.Time `json:"due"`
}

// Remove adds to the transaction that deletes a resource the job that removes the
// files of all its attempts, of which attempts is the last.
func Remove(tx *store.Tx, now time.Time, o tenant.Owner, subject string, attempts int) error {
	r := removal{Due: now, Job: job.Job{
		ID: "job#remove#" + subject, Queue: job.GenerateText, Subject: subject, Task: taskRemove,
		Attempt: attempts, Owner: o, Turn: 1,
	}}
	it, err := job.Item(now, r.Job, r)
	if err != nil {
		return err
	}
	it.Due = dueKey(r.ID, r.Due)
	tx.Create(it, nil)
	return nil
}

// remove removes the files. Done again it finds none.
func (w *Worker) remove(ctx context.Context, j job.Job) error {
	it, err := w.db.Get(ctx, store.IDKey(j.ID))
	if errors.Is(err, store.ErrNotFound) || err == nil && it.Due == (store.Key{}) {
		return nil
	}
	if err != nil {
		return err
	}
	for attempt := range j.Attempt {
		if err := w.objects.Remove(ctx, placeOf(j, attempt+1)); err != nil {
			return fmt.Errorf("engine: remove the files of %s: %w", j.Subject, err)
		}
	}
	it.Due = store.Key{} // not due any more
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
		return err
	}
	return nil // another has removed them, too
}

func placeOf(j job.Job, attempt int) media.Place {
	return media.Place{Owner: j.Owner, Resource: j.Subject, Attempt: attempt}
}

// clear removes what an attempt has stored that ended without a result. Nobody can
// reach it any more, so that failing to is no more than waste.
func (w *Worker) clear(ctx context.Context, r *run) {
	for _, p := range r.Parts {
		if kinds[p.Kind].file == "" || !p.Ready && len(p.Made.Files) == 0 {
			continue
		}
		if err := w.objects.Remove(ctx, placeOf(r.Job, r.Attempt)); err != nil {
			slog.Warn("files of an attempt not removed", "run", r.ID, "error", err)
		}
		return
	}
}
