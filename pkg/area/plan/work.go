package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The number of items that one step cancels, and the number that it wakes in one transaction.
const (
	cancelAtOnce = 100
	wakeAtOnce   = 50
)

// lag is the time after which the index shows earlier writes.
const lag = 2 * time.Second

// Clean ends a bounded number of things of a factory that was deleted, and reports whether there may be more.
type Clean = func(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error)

// work is the background work of plans and their factories.
type work struct {
	*generate.Worker
	clean []Clean
}

// Handlers returns the handlers of the background work of plans and of their factories. The functions clean up after a
// factory that was deleted.
func Handlers(worker *generate.Worker, clean ...Clean) map[task.Kind]task.Handler {
	w := work{worker, clean}
	items, _ := w.Loaders[item.ItemKind].(item.Loader) // its reader reads the feeds of news
	return map[task.Kind]task.Handler{
		Task: task.Func((&Handler{DB: w.DB, Loaders: w.Loaders, Providers: w.Providers, Sources: items.Reader,
			Now: w.Now}).Plan),
		Advance:               Advancer(w.DB, w.Now),
		factoryrecord.End:     task.Func(w.end),
		factoryrecord.Resume:  task.Func(w.resume),
		factoryrecord.Publish: task.Func(w.publish),
	}
}

// end ends the work and removes the records of a factory that was deleted. It tries what fails without end.
func (w work) end(ctx context.Context, s *task.Run) error {
	for _, clean := range append([]Clean{w.cancel}, w.clean...) {
		more, err := clean(ctx, s.Owner, s.Subject)
		if err != nil {
			return task.Again(fmt.Errorf("work: end %s: %w", s.Subject, err))
		}
		if more {
			s.Forget("clean")
			return s.Sleep(lag)
		}
	}
	before := false
	if err := s.Recall("clean", &before); err != nil || before {
		return err
	}
	return errors.Join(s.Keep("clean", true), s.Sleep(lag)) // the index lags behind the last writes
}

// cancel ends the work of a factory's content items. Content plans end by themselves.
func (w work) cancel(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	canceler := generate.Canceler{DB: w.DB, Loaders: w.Loaders, Now: w.Now}
	return w.DB.Some(ctx, running(o, factoryID, cancelAtOnce, item.Queued, item.Generating),
		func(it store.Item) error { return canceler.Cancel(ctx, it.Key) })
}

// running returns the query of the next items of a factory in some states.
func running(o tenant.Owner, factoryID string, limit int, states ...item.State) store.Query {
	q := store.Query{Index: store.ByParent, Partition: item.ParentPartition(o, factoryID), Limit: limit,
		OldestFirst: true, OneOf: map[string][]string{}}
	for _, state := range states {
		q.OneOf["state"] = append(q.OneOf["state"], string(state))
	}
	return q
}

// resume wakes the plans and the items of a factory that was paused. Waking one twice, or one that does not wait, is
// harmless.
func (w work) resume(ctx context.Context, s *task.Run) error {
	found, err := w.DB.Lookup(ctx, factoryrecord.BookKey(s.Subject))
	var book factoryrecord.Book
	if err == nil {
		book, err = factoryrecord.BookOf(found)
	}
	if err != nil {
		return task.Again(err)
	}
	s.Also(func(_ context.Context, tx *store.Tx) error { return Wake(tx, w.Now(), s.Owner, book) })
	q := running(s.Owner, s.Subject, wakeAtOnce, item.Queued, item.Scheduled)
	return w.change(ctx, s, q, func(tx *store.Tx, r *item.Record) error {
		if r.Item.State == item.Scheduled {
			return publication.WakeHeld(tx, w.Now(), s.Owner, r)
		}
		return generate.Wake(tx, w.Now(), s.Owner, r.Item.ID, r.Item.Attempt)
	})
}

// publish starts the automatic publishing of the items that the plans of a factory hold.
func (w work) publish(ctx context.Context, s *task.Run) error {
	q := running(s.Owner, s.Subject, wakeAtOnce, item.Generated)
	q.Ranges = map[string]store.Range{item.PublishAtFilter: {From: resource.SortableTime(w.Now())}}
	return w.change(ctx, s, q, func(tx *store.Tx, r *item.Record) error {
		return r.PublishPlanned(tx, w.Now(), s.Owner, s.ID)
	})
}

// change changes the next items of a list together with the step.
func (w work) change(ctx context.Context, s *task.Run, q store.Query,
	each func(*store.Tx, *item.Record) error) error {
	if err := s.Recall("after", &q.After); err != nil {
		return err
	}
	page, err := w.DB.List(ctx, q)
	if err != nil {
		return task.Again(err)
	}
	s.Also(func(_ context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			r, err := item.Decode(&it)
			if err == nil {
				err = each(tx, r)
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
	return errors.Join(s.Keep("after", page.Next), s.Sleep(0))
}
