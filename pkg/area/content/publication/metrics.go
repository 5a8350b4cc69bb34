package publication

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// readings has the times after a publication at which the metrics of its post are read.
var readings = []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}

// mostTries bounds the attempts at one reading. After that, the next reading follows.
const mostTries = 10

// reading is the payload of a Read task.
type reading struct {
	Publication string    `json:"publication"`
	Account     string    `json:"account"`
	At          time.Time `json:"at"`
	// Done is the number of readings that are over, and Tries the number of times that the
	// next one has failed.
	Done  int `json:"done,omitempty"`
	Tries int `json:"tries,omitempty"`

	// ahead is the time that was added to the clock of the sandbox after the publication.
	ahead time.Duration
}

// watch starts the task that reads the metrics of a publication.
func watch(p planner, pub *item.Publication) error {
	return task.Create(p.tx, p.now, task.Task{
		Message: task.Message{ID: task.ID(Read, pub.ID, 1), Kind: Read, Queue: topology.Publish, Subject: p.r.ID,
			Owner: p.Owner},
		DueAt: pub.PublishedAt.Add(readings[0]),
	}, reading{Publication: pub.ID, Account: pub.SocialAccountID, At: pub.PublishedAt.Time})
}

// reader is the handler of Read.
type reader struct {
	endless
	*Worker
}

// Step reads the metrics once. If a platform limits calls, the next reading is at the time that it
// names.
func (w reader) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p reading
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	_, r, beside, err := w.read(ctx, s, store.IDKey(p.Account), testclock.Key(s.Owner))
	if err != nil {
		return o, task.Again(err)
	}
	if r == nil || r.Publication(p.Publication) == nil {
		return task.Outcome{Done: true}, nil // the item was deleted
	}
	pub := *r.Publication(p.Publication)
	clock, err := testclock.Decode(&beside[1])
	if err != nil {
		return o, err
	}
	p.ahead = clock.Since(p.At)
	var acct account.Record
	if account.Is(beside[0], s.Owner) {
		if acct, err = account.Decode(&beside[0]); err != nil {
			return o, task.Again(err)
		}
	}
	adapter, ok := w.Platforms.Of(s.Mode, pub.Platform)
	if !ok || !acct.Usable() {
		return w.next(p), nil
	}
	token, err := w.Vault.Token(ctx, s.Owner, &acct)
	if err != nil {
		return o, task.Again(err)
	}
	read, err := adapter.Metrics(ctx, token, published(pub, clock))
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		return w.failed(p, err, beside[0].Key, acct.Tokens), nil
	}
	o = w.next(p)
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, s)
		if err != nil || r == nil {
			return err
		}
		pub := r.Publication(p.Publication)
		if pub == nil {
			return nil
		}
		now := w.Now()
		pub.Metrics = metrics(read, pub.Metrics, now)
		r.NoteMetrics(pub)
		pub.Touch(now)
		r.Touch(now)
		return write(tx, it, r)
	}
	return o, nil
}

// metrics returns the new metrics. A figure that the platform leaves out stays as it was.
func metrics(read platform.Metrics, before *item.Metrics, now time.Time) *item.Metrics {
	m := item.Metrics{Views: read.Views, Likes: read.Likes, Comments: read.Comments, Shares: read.Shares,
		Saves: read.Saves, ReadAt: resource.Instant(now)}
	if before == nil {
		return &m
	}
	for _, count := range []struct{ now, before **int64 }{
		{&m.Views, &before.Views}, {&m.Likes, &before.Likes}, {&m.Comments, &before.Comments},
		{&m.Shares, &before.Shares}, {&m.Saves, &before.Saves},
	} {
		if *count.now == nil {
			*count.now = *count.before
		}
	}
	return &m
}

// published returns the identity of a publication at its platform.
func published(pub item.Publication, clock testclock.Clock) (p platform.Published) {
	if pub.PublishedAt != nil {
		p.Ahead = clock.Since(pub.PublishedAt.Time)
	}
	if pub.PlatformPostID != nil {
		p.ID = *pub.PlatformPostID
	}
	if pub.URL != nil {
		p.URL = *pub.URL
	}
	return p
}

// next returns the outcome of a reading that is over.
func (w reader) next(p reading) task.Outcome {
	p.Done++
	p.Tries = 0
	if p.Done == len(readings) {
		return task.Outcome{Payload: p, Done: true}
	}
	return task.Outcome{Payload: p, Wait: max(0, p.At.Add(readings[p.Done]-p.ahead).Sub(w.Now()))}
}

// failed returns the outcome of a reading that failed.
func (w reader) failed(p reading, cause error, key store.Key, used int) (o task.Outcome) {
	var e *platform.Error
	kind := platform.KindOf(cause)
	if errors.As(cause, &e) && kind == platform.BadContent {
		return task.Outcome{Done: true} // the post was deleted, or has no metrics
	}
	if p.Tries++; p.Tries >= mostTries || kind == platform.Reconnect {
		o = w.next(p)
	} else {
		o = task.Outcome{Payload: p, Wait: time.Duration(p.Tries) * time.Minute}
		if e != nil {
			o.Wait = max(o.Wait, e.RetryAfter)
		}
	}
	if kind != platform.Expired && kind != platform.Reconnect {
		return o
	}
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, err := w.DB.Get(ctx, key)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case err != nil:
			return err
		case kind == platform.Reconnect:
			return account.Lose(tx, w.Now(), it, used)
		}
		return account.Expired(tx, w.Now(), it, used)
	}
	return o
}
