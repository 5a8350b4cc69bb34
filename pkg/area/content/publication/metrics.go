package publication

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The times after a publication at which the metrics of its post are read: the first ones, and then each day up to the
// last.
var firstReadings = []time.Duration{time.Hour, 6 * time.Hour, day}

// lastReading is the age of a post at its last reading.
const lastReading = 90 * day

// following returns the age at the first reading of a post that is older than the given age. It returns false if all
// readings are over.
func following(age time.Duration) (time.Duration, bool) {
	for _, at := range firstReadings {
		if at > age {
			return at, true
		}
	}
	next := age.Truncate(day) + day
	return next, next <= lastReading
}

// mostTries bounds the attempts at one reading. After that, the next reading follows.
const mostTries = 10

// reading is the payload of a Read task.
type reading struct {
	Publication string    `json:"publication"`
	Account     string    `json:"account"`
	At          time.Time `json:"at"`
}

// watch starts the task that reads the metrics of a publication.
func watch(p planner, pub *item.Publication) error {
	due := pub.PublishedAt.Add(firstReadings[0])
	if p.r.Item.PublishAt != nil && p.r.Item.PublishAt.After(pub.PublishedAt.Time) && p.Mode == tenant.Test {
		due = p.now // the clock of the sandbox was moved: the post may be days old
	}
	return task.Create(p.tx, p.now, task.Task{
		Message: task.Message{ID: task.ID(Read, pub.ID, 1), Kind: Read, Queue: topology.Publish, Subject: p.r.Item.ID,
			Owner: p.Owner},
		DueAt: due,
	}, reading{Publication: pub.ID, Account: pub.SocialAccountID, At: pub.PublishedAt.Time})
}

// metrics reads the metrics of a publication again and again. If a platform limits calls, the next reading is at the
// time that it names. Readings whose time has passed meanwhile are left out, because they would be the same.
func (w *Worker) metrics(ctx context.Context, r *task.Run) error {
	var p reading
	if err := r.Decode(&p); err != nil {
		return err
	}
	_, of, beside, err := w.read(ctx, r.Step, store.IDKey(p.Account), testclock.Key(r.Owner))
	if err != nil {
		return task.Again(err)
	}
	if of == nil || of.Item.Publication(p.Publication) == nil {
		return nil // the item was deleted
	}
	pub := of.Item.Publication(p.Publication)
	clock, err := testclock.Of(&beside[1])
	if err != nil {
		return err
	}
	a, err := w.visits().Of(r, beside[0], social.ForReading)
	if err != nil {
		return err
	}
	a.Tries = mostTries
	if a.Adapter != nil && a.Account.Usable() && !a.Account.FiguresBarred { // or else once it is connected again
		var read platform.Metrics
		price := social.Price{Of: social.ForReading, Urgent: w.Now().Sub(p.At) <= day}
		if own := a.Limits().Reads; own != nil {
			price.Units = own.Price
		}
		if err = a.Spend(ctx, price); err == nil {
			err = a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
				read, err = a.Adapter.Metrics(ctx, token, published(of, pub, clock))
				return err
			})
		}
		switch {
		case task.Waits(err):
			return err
		case platform.Rejects(err) && !platform.Denied(err):
			return nil // the post was deleted, or has no metrics
		case err == nil:
			r.Also(func(ctx context.Context, tx *store.Tx) error { return w.keepMetrics(ctx, tx, r, p, read) })
		}
	}
	a.Over()
	age := w.Now().Sub(p.At) + aged(clock, of, pub)
	at, ok := following(age)
	if !ok {
		return nil
	}
	return r.Sleep(at - age)
}

// keepMetrics adds metrics that were read to their publication.
func (w *Worker) keepMetrics(ctx context.Context, tx *store.Tx, r *task.Run, p reading, read platform.Metrics) error {
	it, of, beside, err := w.read(ctx, r.Step, item.ReadingsKey(p.Publication))
	if err != nil || of == nil {
		return err
	}
	pub := of.Item.Publication(p.Publication)
	if pub == nil {
		return nil
	}
	now := w.Now()
	pub.Metrics = item.Read(read, pub.Metrics, now)
	if err := item.NoteMetrics(tx, r.Owner, pub, beside[0]); err != nil {
		return err
	}
	pub.Touch(now)
	of.Item.Touch(now)
	return item.Replace(tx, it, of)
}

// published returns the identity of a publication at its platform.
func published(r *item.Record, pub *item.Publication, clock testclock.Clock) (p platform.Published) {
	p.Ahead = aged(clock, r, pub)
	if pub.PlatformPostID != nil {
		p.ID = *pub.PlatformPostID
	}
	if pub.URL != nil {
		p.URL = *pub.URL
	}
	return p
}
