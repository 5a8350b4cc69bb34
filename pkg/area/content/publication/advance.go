package publication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// advanceAtOnce is the number of items whose metrics one step of Advance reads. Each takes two writes for each of its
// publications.
const advanceAtOnce = 3

// The number of times that Advance looks whether the items of one time are published, before it goes on to the next
// time, and the wait between two looks. A rehearsed failure may take longer.
const (
	mostLooks = 60
	lookEvery = 250 * time.Millisecond
)

// indexLag is the time after which the index of the calendar shows what was scheduled just before a move.
const indexLag = 2 * time.Second

// mostDue is the number of items that one step of Advance publishes.
const mostDue = 20

// advancing is the payload of an Advance task.
type advancing struct {
	// At is the time of the call.
	At time.Time `json:"at"`
	// Due is the place in the calendar of the first item that may fall due, Woken are the items of one time that do,
	// and Looks counts the looks at them.
	Due   string   `json:"due,omitempty"`
	Woken []string `json:"woken,omitempty"`
	Looks int      `json:"looks,omitempty"`
	// Again is set for the second look at the calendar, which finds what its index did not show at the first.
	Again bool `json:"again,omitempty"`
	// Published reports that nothing else falls due, and After is the id of the last item whose metrics were read.
	Published bool   `json:"published,omitempty"`
	After     string `json:"after,omitempty"`
}

// StartAdvance moves the clock of a sandbox forward, and adds the task that has happen what falls due. It returns the
// time by which the clock is then ahead of the real one.
func StartAdvance(ctx context.Context, db *store.DB, tx *store.Tx, now time.Time, account tenant.Account,
	seconds int64) (ahead time.Duration, err error) {
	o := tenant.Of(account, tenant.Test)
	if ahead, err = testclock.Add(ctx, db, tx, o, testclock.Move{At: now, Seconds: seconds}); err != nil {
		return 0, err
	}
	return ahead, task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(Advance, id.New("advance", now), 1),
		Kind: Advance, Queue: topology.Publish, Subject: string(account), Owner: o},
	}, advancing{At: now, Due: resource.SortableTime(now)})
}

// advance publishes the items whose time has come, one time after another, and then reads the metrics of all posts.
func (w *Worker) advance(ctx context.Context, r *task.Run) error {
	if r.Mode != tenant.Test {
		return task.Permanent(fmt.Errorf("publication: %s is not a sandbox", r.Owner))
	}
	var p advancing
	if err := errors.Join(r.Decode(&p), r.Kept("progress", &p)); err != nil {
		return err
	}
	c, err := testclock.Read(ctx, w.DB, r.Owner)
	if err == nil && !p.Published {
		err = w.fallDue(ctx, r, p, c)
	} else if err == nil {
		err = w.rereadNext(ctx, r, p, c)
	}
	if err != nil {
		return task.Again(err)
	}
	return nil
}

// then ends the step.
func (p advancing) then(r *task.Run, wait time.Duration) error {
	return errors.Join(r.Keep("progress", p), r.Sleep(wait))
}

// fallDue publishes the items of the next time that has come, once those of the time before are published.
func (w *Worker) fallDue(ctx context.Context, r *task.Run, p advancing, c testclock.Clock) error {
	if len(p.Woken) > 0 {
		items, err := w.DB.GetAll(ctx, store.IDKeys(p.Woken)...)
		if err != nil {
			return err
		}
		if p.Looks++; p.Looks < mostLooks && slices.ContainsFunc(items, underWay) {
			return p.then(r, lookEvery)
		}
	}
	p.Looks, p.Woken = 0, nil
	clock := w.Now().Add(c.Ahead())
	page, err := w.DB.List(ctx, store.Query{Index: store.ByDue, Partition: item.CalendarPartition(r.Owner), From: p.Due,
		To: resource.SortableTime(clock) + "~", OldestFirst: true, Limit: mostDue})
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		if p.Published = p.Again; !p.Again {
			p.Again, p.Due = true, resource.SortableTime(p.At)
			return p.then(r, indexLag)
		}
		return p.then(r, 0)
	}
	var timers []task.Message
	at := ""
	for _, it := range page.Items {
		of, err := item.Decode(&it)
		if err != nil {
			return err
		}
		waits := of.Item.State == item.Scheduled && of.Item.PublishAt != nil && !of.Item.PublishAt.After(clock)
		if waits && at != "" && at != resource.SortableTime(of.Item.PublishAt.Time) {
			break
		}
		p.Due = it.Due.SK + "0" // what follows it: ids are of one length
		if waits {
			at = resource.SortableTime(of.Item.PublishAt.Time)
			p.Woken = append(p.Woken, of.Item.ID)
			timers = append(timers, timerOf(it.Owner, of))
		}
	}
	r.Also(func(_ context.Context, tx *store.Tx) error {
		for _, m := range timers {
			if err := task.Wake(tx, w.Now(), m); err != nil {
				return err
			}
		}
		return nil
	})
	return p.then(r, 0)
}

// underWay reports whether an item is still to be published.
func underWay(it store.Item) bool {
	if it.Kind != item.ItemKind {
		return false
	}
	r, err := item.Decode(&it)
	return err == nil && (r.Item.State == item.Scheduled || r.Item.State == item.Publishing)
}

// rereadNext reads the metrics of the posts of the next items.
func (w *Worker) rereadNext(ctx context.Context, r *task.Run, p advancing, c testclock.Clock) error {
	page, err := w.DB.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(r.Owner, item.ItemKind), Limit: advanceAtOnce,
		OldestFirst: true, From: p.After, To: id.First(id.ContentItem, p.At.Add(time.Millisecond)),
	})
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		return nil
	}
	p.After = page.Items[len(page.Items)-1].PK + "0" // ids are of one length
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			if err := w.reread(ctx, tx, it, c); err != nil {
				return err
			}
		}
		return nil
	})
	return p.then(r, 0)
}

// reread reads the metrics of the posts of an item.
func (w *Worker) reread(ctx context.Context, tx *store.Tx, listed store.Item, c testclock.Clock) error {
	found, r, _, err := item.Lookup(ctx, w.DB, listed.Owner, listed.PK)
	if err != nil || r == nil {
		return err
	}
	keys := []store.Key{}
	for _, pub := range r.Item.Publications {
		keys = append(keys, item.ReadingsKey(pub.ID))
	}
	histories, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	now, changed := w.Now(), false
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		adapter, ok := w.Platforms.Of(tenant.Test, pub.Platform)
		if !ok || pub.State != item.PublicationPublished {
			continue
		}
		read, err := adapter.Metrics(ctx, platform.Account{}, published(r, pub, c))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // the platform has none
		}
		pub.Metrics, changed = item.Read(read, pub.Metrics, now), true
		if err := item.NoteMetrics(tx, found.Owner, pub, histories[i]); err != nil {
			return err
		}
		pub.Touch(now)
	}
	if !changed {
		return nil
	}
	r.Item.Touch(now)
	return item.Replace(tx, found, r)
}
