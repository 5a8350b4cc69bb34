package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The circuit breaker opens after TripAfter attempts in a row within tripWithin that the receiver did not answer.
const (
	TripAfter  = 5
	tripWithin = time.Minute
)

// The wait between two probes of a receiver that is down: a tenth of the time that it has been down, within these
// bounds. So it has all its events soon after its return, measured by its absence.
const (
	shortestProbe = 2 * time.Second
	longestProbe  = 5 * time.Minute
)

// timerLost is the time after which a probe that the timer has not made shows that the timer is missing: a restored
// table may have one half of a transaction.
const timerLost = 6 * longestProbe

// breakerKind is the kind of a circuit breaker's item, and keepBreakers how long it is
// kept: longer than a webhook may fail.
const (
	breakerKind  = "breaker"
	keepBreakers = FailingLimit + 24*time.Hour
)

// writeAttribute names the last write of a breaker.
const writeAttribute = "write"

func breakerKey(ref Ref) store.Key {
	return store.Key{PK: "breaker#" + ref.Owner.String(), SK: ref.ID}
}

// breaker is the circuit breaker of a receiver that does not answer, which functions share by the table. While it is
// open one attempt at a time probes the receiver, and all other events are held back, which counts as no failure. Held
// deliveries have no tasks: the one task of the breaker, its timer, probes the receiver and sends them when it answers.
// The transaction that opens the breaker creates the timer, and the one that ends the timer deletes the breaker.
type breaker struct {
	// To is the destination at that time. A new destination starts with a closed breaker.
	To string `json:"to"`
	// Since is when the first of the counted attempts failed.
	Since    time.Time `json:"since"`
	Failures int       `json:"failures"`
	// ProbeAt is the time of the next probe, or nil if the breaker is closed.
	ProbeAt *time.Time `json:"probe_at,omitempty"`
	// Timer is the id of the timer. A closed breaker has one until all that was held back is sent.
	Timer string `json:"timer,omitempty"`
}

// open reports whether the webhook's receiver counts as down.
func (b breaker) open(r *WebhookRecord) bool { return b.ProbeAt != nil && !b.stale(r) }

// stale reports whether the breaker is about another destination, or about the time before the webhook was enabled.
func (b breaker) stale(r *WebhookRecord) bool {
	return b.To != r.GoesTo() || r.EnabledAt != nil && b.Since.Before(*r.EnabledAt)
}

// failed returns the breaker after one more attempt that was not answered.
func (b breaker) failed(r *WebhookRecord, now time.Time) breaker {
	switch {
	case b.open(r):
		return b
	// Attempts that hang one after another take longer than the window: while the backlog is sent, it does not count.
	case b.stale(r), b.Failures == 0, b.Timer == "" && now.Sub(b.Since) >= tripWithin:
		b = breaker{To: r.GoesTo(), Since: now, Timer: b.Timer}
	}
	if b.Failures++; b.Failures >= TripAfter {
		at := now.Add(shortestProbe)
		b.ProbeAt = &at
	}
	return b
}

// probed returns the breaker while a probe is under way.
func (b breaker) probed(now time.Time, chance float64) breaker {
	wait := max(shortestProbe, min(longestProbe, now.Sub(b.Since)/10))
	at := now.Add(Spread(wait, Jitter, chance))
	b.ProbeAt = &at
	return b
}

// answered returns the breaker, which has a timer, after an attempt that was answered.
func (b breaker) answered(r *WebhookRecord, now time.Time) breaker {
	if b.ProbeAt == nil && b.Failures == 0 && !b.stale(r) {
		return b
	}
	return breaker{To: r.GoesTo(), Since: now, Timer: b.Timer}
}

// holds reports whether events are held back now. When a probe is due, the next event makes it.
func (b breaker) holds(r *WebhookRecord, now time.Time) bool {
	return b.open(r) && now.Before(*b.ProbeAt)
}

// holds reports whether the breaker of a webhook, whose item was read, holds events back.
func holds(r *WebhookRecord, it store.Item, now time.Time) (bool, error) {
	var b breaker
	if it.Kind == "" {
		return false, nil
	}
	err := it.Decode(&b)
	return b.holds(r, now), err
}

// readBreaker takes over the breaker's item; one without a kind does not exist.
func (r *Receiver) readBreaker(it store.Item) error {
	r.breakerItem, r.breaker = it, breaker{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&r.breaker)
}

// saveBreaker writes the breaker, with its timer if it opens. If another function has written it first, it takes
// that over and returns store.ErrConflict.
func (r *Receiver) saveBreaker(ctx context.Context, b breaker) error {
	now, tx := r.now(), &store.Tx{}
	switch {
	case b.ProbeAt != nil && b.Timer == "":
		b.Timer = newTimer(r.ref)
		t := task.Task{Message: timerMessage(r.ref, &r.record, b.Timer), DueAt: *b.ProbeAt}
		if err := task.Create(tx, now, t, Return{}); err != nil {
			return err
		}
	case b.ProbeAt == nil && r.breaker.ProbeAt != nil && b.Timer != r.timer:
		if err := task.Wake(tx, now, timerMessage(r.ref, &r.record, b.Timer)); err != nil {
			return err
		}
	}
	it := r.breakerItem
	if it.Kind == "" {
		var err error
		if it, err = store.NewItem(breakerKind, r.ref.Owner, r.ref.ID, b); err != nil {
			return err
		}
		it.Key, it.Listed = breakerKey(r.ref), store.Key{}
	} else if err := it.Encode(b); err != nil {
		return err
	}
	it.ExpireAt = now.Add(keepBreakers)
	// Two failures at the same time must not look like one that is written twice.
	it.Attributes = map[string]string{writeAttribute: rand.Text()}
	if it.Version == 0 {
		tx.CreateExpiring(it, now.Unix(), nil)
	} else {
		tx.Replace(it)
	}
	if err := r.db.Commit(ctx, tx); err != nil {
		return errors.Join(err, r.rereadBreaker(ctx, err))
	}
	it.Version++
	r.breakerItem, r.breaker = it, b
	return nil
}

// rereadBreaker takes over the breaker that a write has met.
func (r *Receiver) rereadBreaker(ctx context.Context, met error) error {
	if !errors.Is(met, store.ErrConflict) {
		return nil
	}
	it, err := r.get(ctx, breakerKey(r.ref))
	if err != nil {
		return err
	}
	return r.readBreaker(it)
}

// noteReach records whether an attempt found the receiver down.
func (r *Receiver) noteReach(ctx context.Context, o Outcome) {
	var err error
	for range maxConflicts {
		next := r.breaker.failed(&r.record, r.now())
		if !o.Unanswered() {
			next = r.breaker.answered(&r.record, r.now())
		}
		switch {
		case r.record.State != StateEnabled:
			return
		case !o.Unanswered() && r.breakerItem.Kind == "":
			return
		case !o.Unanswered() && r.breaker.Timer == "":
			err = r.deleteBreaker(ctx)
		case next == r.breaker:
			return
		default:
			err = r.saveBreaker(ctx, next)
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if err != nil {
		slog.Error("circuit breaker of a webhook not written", "webhook", r.ref.ID, "error", err)
	}
}

// deleteBreaker deletes a breaker that never opened.
func (r *Receiver) deleteBreaker(ctx context.Context) error {
	tx := &store.Tx{}
	tx.Delete(r.breakerItem)
	if err := r.db.Commit(ctx, tx); err != nil {
		return errors.Join(err, r.rereadBreaker(ctx, err))
	}
	return r.readBreaker(store.Item{})
}
