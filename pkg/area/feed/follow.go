package feed

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Content has the content of a factory follow its catalog.
type Content interface {
	// Follow has some of the content of a factory follow the products that it shows, and moves the place behind it.
	Follow(ctx context.Context, o tenant.Owner, factoryID string, p *shelf.Following) error
}

// follow adds the tasks to the transaction that have content and photos follow a run. They begin after the index of
// products and content shows what was written before.
func (s *sync) follow(tx *store.Tx, f *Record) error {
	if f.FactoryID == "" {
		return nil // the feed was deleted
	}
	f.FollowRound++
	message := func(kind task.Kind) task.Message {
		return task.Message{ID: task.ID(kind, f.FactoryID, f.FollowRound), Kind: kind, Queue: topology.SyncFeed,
			Subject: f.FactoryID, Owner: s.task.Owner}
	}
	now := s.Now()
	due := now.Add(indexLag)
	err := task.Create(tx, now, task.Task{Message: message(FollowKind), DueAt: due}, shelf.Moment{Now: now,
		Clock: s.shelf.Clock.Add(now.Sub(s.shelf.Now))})
	if err == nil && s.place.Photos {
		err = task.Create(tx, now, task.Task{Message: message(PhotosKind), DueAt: due}, nil)
	}
	return err
}

// indexLag is the time after which indexes show earlier writes.
const indexLag = 2 * time.Second

// Follow has the content of a factory follow its products, some at a time.
func (w *Worker) Follow(ctx context.Context, t *task.Run) error {
	if !id.Valid(id.Factory, t.Subject) || w.Content == nil {
		return nil
	}
	p := shelf.Following{}
	if err := errors.Join(t.Decode(&p.Ended), t.Recall("place", &p)); err != nil {
		return err
	}
	if p.After == nil {
		_, r, err := find(ctx, w.DB, t.Subject)
		if err != nil || r == nil {
			return task.Again(err)
		}
		p.Since = r.Followed
	}
	if err := w.Content.Follow(ctx, t.Owner, t.Subject, &p); err != nil {
		return task.Again(err)
	}
	if p.After != nil {
		return errors.Join(t.Keep("place", p), t.Sleep(0))
	}
	if p.Busy {
		return nil
	}
	return t.End(func(ctx context.Context, tx *store.Tx) error { return w.followed(ctx, tx, t.Subject, p.Ended) })
}

// followed adds to the transaction that all content of a factory has followed the run that ended at a moment.
func (w *Worker) followed(ctx context.Context, tx *store.Tx, factoryID string, ended shelf.Moment) error {
	it, r, err := find(ctx, w.DB, factoryID)
	if err != nil || r == nil {
		return err
	}
	r.Followed = ended
	return tx.Rewrite(it, r)
}
