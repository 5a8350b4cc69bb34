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
	now := s.Now()
	err := f.startFollowing(tx, now, s.task.Owner, shelf.Moment{Now: now,
		Clock: s.shelf.Clock.Add(now.Sub(s.shelf.Now))})
	if err == nil && s.place.Photos {
		err = f.after(tx, now, s.task.Owner, PhotosKind, nil)
	}
	return err
}

// startFollowing adds the task to the transaction that has content follow the run that ends at a moment.
func (r *Record) startFollowing(tx *store.Tx, now time.Time, o tenant.Owner, ended shelf.Moment) error {
	r.FollowRound++
	return r.after(tx, now, o, FollowKind, ended)
}

// after adds a task of the round to the transaction that begins once indexes show what was written before.
func (r *Record) after(tx *store.Tx, now time.Time, o tenant.Owner, kind task.Kind, payload any) error {
	return task.Create(tx, now, task.Task{DueAt: now.Add(indexLag), Message: task.Message{
		ID: task.ID(kind, r.FactoryID, r.FollowRound), Kind: kind, Queue: topology.SyncFeed, Subject: r.FactoryID,
		Owner: o}}, payload)
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
		if err != nil {
			return task.Again(err)
		}
		if r != nil { // or else the feed was deleted
			p.Since = r.Followed
		}
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
	return t.End(func(ctx context.Context, tx *store.Tx) error { return w.followed(ctx, tx, t.Subject, p) })
}

// followed adds to the transaction that all content of a factory has followed a run, unless the feed was set anew
// meanwhile: then the next run has all content follow.
func (w *Worker) followed(ctx context.Context, tx *store.Tx, factoryID string, p shelf.Following) error {
	it, r, err := find(ctx, w.DB, factoryID)
	if err != nil || r == nil || !r.Followed.Now.Equal(p.Since.Now) {
		return err
	}
	r.Followed = p.Ended
	return tx.Rewrite(it, r)
}
