package feed

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Content has the content of a factory follow its catalog.
type Content interface {
	// Follow has a page of the content of a factory follow the products that it shows. It returns the place of the next
	// page, or nil.
	Follow(ctx context.Context, o tenant.Owner, factoryID string, after *store.Cursor) (*store.Cursor, error)
}

// follow adds the tasks to the transaction that have content and photos follow a run. They begin after the index of
// products and content shows what was written before.
func (s *sync) follow(tx *store.Tx, f *Record) error {
	message := func(kind task.Kind, q topology.Queue) task.Message {
		return task.Message{ID: task.ID(kind, f.FactoryID, f.FollowRound), Kind: kind, Queue: q, Subject: f.FactoryID,
			Owner: s.task.Owner}
	}
	due := s.Now().Add(indexLag)
	err := task.Create(tx, s.Now(), task.Task{Message: message(FollowKind, topology.SyncFeed), DueAt: due}, nil)
	if err == nil && s.place.Photos {
		err = task.Create(tx, s.Now(), task.Task{Message: message(PhotosKind, topology.SyncFeed), DueAt: due}, nil)
	}
	return err
}

// indexLag is the time after which indexes show earlier writes.
const indexLag = 2 * time.Second

// Follow has the content of a factory follow its products, a page at a time.
func (w *Worker) Follow(ctx context.Context, t *task.Run) error {
	if !id.Valid(id.Factory, t.Subject) || w.Content == nil {
		return nil
	}
	var after *store.Cursor
	if err := t.Recall("after", &after); err != nil {
		return err
	}
	next, err := w.Content.Follow(ctx, t.Owner, t.Subject, after)
	if err != nil {
		return task.Again(err)
	}
	if next == nil {
		return nil
	}
	return errors.Join(t.Keep("after", next), t.Sleep(0))
}
