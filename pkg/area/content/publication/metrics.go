package publication

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
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
	// Tries is the number of times that the next reading has failed.
	Tries int `json:"tries,omitempty"`
	// Granted reports that the next reading is taken out of the budget of its platform.
	Granted bool `json:"granted,omitempty"`

	// ahead is the time that was added to the clock of the sandbox after the publication.
	ahead time.Duration
}

// watch starts the task that reads the metrics of a publication.
func watch(p planner, pub *item.Publication) error {
	due := pub.PublishedAt.Add(firstReadings[0])
	if p.r.PublishAt != nil && p.r.PublishAt.After(pub.PublishedAt.Time) && p.Mode == tenant.Test {
		due = p.now // the clock of the sandbox was moved: the post may be days old
	}
	return task.Create(p.tx, p.now, task.Task{
		Message: task.Message{ID: task.ID(Read, pub.ID, 1), Kind: Read, Queue: topology.Publish, Subject: p.r.ID,
			Owner: p.Owner},
		DueAt: due,
	}, reading{Publication: pub.ID, Account: pub.SocialAccountID, At: pub.PublishedAt.Time})
}

// reader is the handler of Read.
type reader struct{ *Worker }

// Step reads the metrics once. If a platform limits calls, the next reading is at the time that it names.
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
	clock, err := testclock.Of(&beside[1])
	if err != nil {
		return o, err
	}
	p.ahead = aged(clock, r, &pub)
	var acct social.Record
	if social.Is(beside[0], s.Owner) {
		if acct, err = social.Decode(&beside[0]); err != nil {
			return o, task.Again(err)
		}
	}
	adapter, ok := w.Platforms.Of(s.Mode, pub.Platform)
	if !ok || !acct.Usable() || acct.FiguresBarred {
		return w.next(p), nil // the readings go on once the account is connected again
	}
	if c := adapter.Capabilities(); c.Reads != nil && s.Mode == tenant.Live && !p.Granted {
		urgent := w.Now().Sub(p.At) <= day
		o, within, err := w.allow(ctx, acct.Meter(), c, c.Reads.Price, urgent, func(granted bool) any {
			p.Granted = granted
			return p
		})
		if err == nil && !within {
			o = w.next(p)
		}
		return o, err
	}
	ctx, token, err := w.Vault.Token(ctx, s.Owner, &acct)
	if errors.Is(err, seal.ErrOpen) {
		slog.Warn("credentials not opened: a reading is left out", "social_account_id", acct.ID, "error", err)
		return w.next(p), nil
	}
	if err != nil {
		return o, task.Again(err)
	}
	read, err := adapter.Metrics(ctx, token, published(r, &pub, clock))
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		return w.failed(p, err, beside[0].Key, acct.Tokens), nil
	}
	o = w.next(p)
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, beside, err := w.read(ctx, s, item.ReadingsKey(p.Publication))
		if err != nil || r == nil {
			return err
		}
		pub := r.Publication(p.Publication)
		if pub == nil {
			return nil
		}
		now := w.Now()
		pub.Metrics = item.Read(read, pub.Metrics, now)
		if err := item.NoteMetrics(tx, s.Owner, pub, beside[0]); err != nil {
			return err
		}
		pub.Touch(now)
		r.Touch(now)
		return item.Replace(tx, it, r)
	}
	return o, nil
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

// next returns the outcome of a reading that is over or left out. Readings whose time has passed
// meanwhile are left out, too, because they would be the same.
func (w reader) next(p reading) task.Outcome {
	p.Tries, p.Granted = 0, false
	age := w.Now().Sub(p.At) + p.ahead
	at, ok := following(age)
	if !ok {
		return task.Outcome{Payload: p, Done: true}
	}
	return task.Outcome{Payload: p, Wait: at - age}
}

// failed returns the outcome of a reading that failed.
func (w reader) failed(p reading, cause error, key store.Key, used int) (o task.Outcome) {
	var e *platform.Error
	kind := platform.KindOf(cause)
	if errors.As(cause, &e) && kind == platform.BadContent && !platform.Denied(cause) {
		return task.Outcome{Done: true} // the post was deleted, or has no metrics
	}
	if p.Tries++; p.Tries >= mostTries || kind == platform.Reconnect || platform.Denied(cause) {
		o = w.next(p)
	} else {
		o = task.Outcome{Payload: p, Wait: pause(p.Tries, cause)}
	}
	o.Join = w.note(social.ForReading, cause, key, used)
	return o
}

// note returns the Outcome.Join that adds to an account what the error of a call says about it. It returns nil if that
// is nothing. Used counts the tokens of the account at the call.
func (w *Worker) note(of social.Purpose, cause error, key store.Key, used int) func(context.Context, *store.Tx) error {
	if !of.Concerns(cause) {
		return nil
	}
	return func(ctx context.Context, tx *store.Tx) error {
		it, err := w.DB.Lookup(ctx, key)
		if err != nil || it.PK == "" {
			return err
		}
		return of.Note(tx, w.Now(), it, used, cause)
	}
}
