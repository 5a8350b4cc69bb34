package feed

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// timing is the payload of a timer.
type timing struct {
	Round int `json:"round"`
}

// tick begins a run when its time has come, unless one is under way. It takes the place of one that is held.
func (w *Worker) tick(ctx context.Context, t *task.Run) error {
	var p timing
	if err := t.Decode(&p); err != nil {
		return err
	}
	found, err := w.DB.GetAll(ctx, shelf.Key(t.Subject), factoryrecord.Key(t.Subject), testclock.Key(t.Owner))
	if err != nil {
		return task.Again(err)
	}
	r := &Record{}
	if found[0].Kind != shelf.Kind || !factoryrecord.Usable(found[1], t.Owner) {
		return nil
	}
	if err := found[0].Decode(r); err != nil || r.Round != p.Round || r.NextRunAt == nil {
		return err
	}
	now, err := testclock.At(&found[2], w.Now())
	if err != nil {
		return err
	}
	if wait := r.NextRunAt.Sub(now); wait > 0 {
		return t.Sleep(wait)
	}
	zone, err := zoneOf(&found[1])
	if err != nil {
		return err
	}
	next := r.next(now, zone)
	t.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, err := find(ctx, w.DB, t.Subject)
		if err != nil || r == nil || r.Round != p.Round {
			return err
		}
		paused := factoryrecord.State(found[1]) == factoryrecord.StatePaused
		if r.State != Syncing && !paused {
			if _, err := r.begin(ctx, w.DB, tx, w.Now(), t.Owner); err != nil {
				return err
			}
		}
		r.NextRunAt = next
		return r.rewrite(tx, w.Now(), it)
	})
	return t.Sleep(max(next.Sub(now), time.Second))
}

// StartAdvance adds the task to the transaction that wakes the feeds of a sandbox whose clock was moved.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account) error {
	return testclock.StartWaking(tx, now, account, Advance, topology.SyncFeed)
}

// advancer returns the function of the task.
func (w *Worker) advancer() task.Func {
	return testclock.Waking(w.DB, w.Now, shelf.Kind, func(it store.Item) (*task.Message, error) {
		r := &Record{}
		if err := it.Decode(r); err != nil || r.NextRunAt == nil {
			return nil, err
		}
		m := r.timer(it.Owner)
		return &m, nil
	})
}

// The pauses of the task that fetches photos: between two looks, and while too many files of the account are pending.
// photosAtOnce bounds the photos of a look, so that files that people upload find room.
const (
	photosAtOnce = 20
	photoPause   = 2 * time.Second
	photoBusy    = 20 * time.Second
)

// photos has the missing photos of products fetched, some at a time. A page without any may have others behind it. It
// ends behind the last product.
func (w *Worker) photos(ctx context.Context, t *task.Run) error {
	var after *store.Cursor
	if err := t.Recall("after", &after); err != nil {
		return err
	}
	filters := product.InFeed()
	filters[product.MissPhotosFilter] = filters[product.InFeedFilter]
	page, err := w.DB.List(ctx, store.Query{Index: store.ByParent, Partition: product.Partition(t.Owner, t.Subject),
		OldestFirst: true, Limit: photosAtOnce, Filters: filters, After: after})
	if err != nil {
		return task.Again(err)
	}
	more, err := w.fetchPhotos(ctx, page.Items, product.Shelf{Owner: t.Owner, FactoryID: t.Subject, Now: w.Now()})
	switch {
	case errs.CodeOf(err) == errs.QueueFull:
		return t.Sleep(photoBusy)
	case err != nil:
		return task.Again(err)
	case more:
		return t.Sleep(photoPause)
	case page.Next == nil:
		return nil
	}
	if err := t.Keep("after", page.Next); err != nil || len(page.Items) == 0 {
		return errors.Join(err, t.Sleep(0))
	}
	return t.Sleep(photoPause)
}

// fetchPhotos has one missing photo of each listed product fetched. It reports whether some of them miss more.
func (w *Worker) fetchPhotos(ctx context.Context, listed []store.Item, s product.Shelf) (more bool, err error) {
	for i := 0; err == nil && i < len(listed); i++ {
		err = w.DB.Change(ctx, func(tx *store.Tx) error {
			it, err := w.DB.Lookup(ctx, listed[i].Key)
			if err != nil || it.Kind == "" {
				return err
			}
			left, err := s.Fetch(tx, it)
			more = more || left > 0
			return err
		})
	}
	return more, err
}
