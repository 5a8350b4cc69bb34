package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training"
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

// Cleaner ends the work and removes the records of a factory that was deleted.
type Cleaner interface {
	// Clean ends a bounded number of things, and reports whether there may be more. It is called until there are none,
	// and may be called after that: it is idempotent. What fails is tried without end.
	Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error)
}

// factories returns the handlers of the work that follows a change of a factory: it ends all running work of a deleted
// factory, continues the waiting work of a paused one, and publishes what plans hold.
func factories(w *generate.Worker) Handlers {
	return Handlers{
		factoryrecord.End: cleanup{all: []Cleaner{
			items{w}, publication.FactoryCleaner{DB: w.DB, Now: w.Now}, training.Cleaner{DB: w.DB, Now: w.Now},
			product.Cleaner{DB: w.DB, Now: w.Now}, social.FactoryCleaner{DB: w.DB, Now: w.Now},
			architect.Cleaner{DB: w.DB, Now: w.Now}, experiment.Cleaner{DB: w.DB, Now: w.Now},
		}},
		factoryrecord.Resume:  resumer{Worker: w},
		factoryrecord.Publish: publisher{Worker: w},
	}
}

// ending is the payload of an End task.
type ending struct {
	At int `json:"at"`
	// Found reports that this pass has ended something, and Again that it is not the first: the index lags behind the
	// last writes.
	Found bool `json:"found,omitempty"`
	Again bool `json:"again,omitempty"`
}

// cleanup is the handler of the task factoryrecord.End.
type cleanup struct {
	all []Cleaner
}

// Step calls the next cleaner.
func (h cleanup) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p ending
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if p.At < len(h.all) {
		more, err := h.all[p.At].Clean(ctx, s.Owner, s.Subject)
		switch {
		case err != nil:
			return o, task.Again(fmt.Errorf("work: end %s: %w", s.Subject, err))
		case more:
			p.Found = true
			o.Wait = lag
		default:
			p.At++
		}
	} else if p.Found || !p.Again {
		p, o.Wait = ending{Again: true}, lag
	} else {
		o.Done = true
	}
	o.Payload = p
	return o, nil
}

// items ends the work of a factory's content items. Content plans end by themselves.
type items struct{ *generate.Worker }

func (e items) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	page, err := e.DB.List(ctx, running(o, factoryID, cancelAtOnce, item.Queued, item.Generating))
	if err != nil {
		return false, err
	}
	canceler := generate.Canceler{DB: e.DB, Loaders: e.Loaders, Now: e.Now}
	for _, it := range page.Items {
		if err := canceler.Cancel(ctx, it.Key); err != nil {
			return false, err
		}
	}
	return len(page.Items) > 0 || page.Next != nil, nil
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

// waking is the payload of a Resume or Publish task.
type waking struct {
	// After is the position at which the next step continues.
	After *store.Cursor `json:"after,omitempty"`
}

// resumer is the handler of Resume.
type resumer struct {
	*generate.Worker
}

// Step wakes the plans and the next items. Waking one twice, or one that does not wait, is harmless.
func (h resumer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p waking
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	q := running(s.Owner, s.Subject, wakeAtOnce, item.Queued, item.Scheduled)
	q.After = p.After
	page, err := h.DB.List(ctx, q)
	if err != nil {
		return o, task.Again(err)
	}
	var book factoryrecord.Book
	if p.After == nil {
		found, err := h.DB.Lookup(ctx, factoryrecord.BookKey(s.Subject))
		if err == nil {
			book, err = factoryrecord.BookOf(found)
		}
		if err != nil {
			return o, task.Again(err)
		}
	}
	o.Payload, o.Done = waking{page.Next}, page.Next == nil
	o.Join = func(_ context.Context, tx *store.Tx) error {
		if err := plan.Wake(tx, h.Now(), s.Owner, book); err != nil {
			return err
		}
		for _, it := range page.Items {
			r, err := item.Decode(&it)
			if err != nil {
				return err
			}
			if r.State == item.Scheduled {
				err = publication.WakeHeld(tx, h.Now(), s.Owner, r)
			} else {
				err = generate.Wake(tx, h.Now(), s.Owner, r.ID, r.Attempt)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return o, nil
}

// publisher is the handler of Publish.
type publisher struct {
	*generate.Worker
}

// Step starts the automatic publishing of the next items that plans hold.
func (h publisher) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p waking
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	q := running(s.Owner, s.Subject, wakeAtOnce, item.Generated)
	q.After, q.Ranges = p.After, map[string]store.Range{item.PublishAtFilter: {From: resource.SortableTime(h.Now())}}
	page, err := h.DB.List(ctx, q)
	if err != nil {
		return o, task.Again(err)
	}
	o.Payload, o.Done = waking{page.Next}, page.Next == nil
	o.Join = func(_ context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			r, err := item.Decode(&it)
			if err != nil {
				return err
			}
			if err := r.PublishPlanned(tx, h.Now(), s.Owner, s.Task.ID); err != nil {
				return err
			}
		}
		return nil
	}
	return o, nil
}
