package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/store"
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

// The time for which an event is held back. It is woken sooner if a probe succeeds.
const (
	shortestHold = 15 * time.Second
	longestHold  = 5 * time.Minute
)

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
// open one attempt at a time probes the receiver, and all other events wait; waiting counts as no failure. Nothing
// depends on its item: each event that waits has a task of its own.
type breaker struct {
	// To is the destination at that time. A new destination starts with a closed breaker.
	To string `json:"to"`
	// Since is when the first of the counted attempts failed.
	Since    time.Time `json:"since"`
	Failures int       `json:"failures"`
	// ProbeAt is the time of the next probe, or nil if the breaker is closed.
	ProbeAt *time.Time `json:"probe_at,omitempty"`
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
	case b.stale(r), now.Sub(b.Since) >= tripWithin:
		b = breaker{To: r.GoesTo(), Since: now}
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

// hold returns for how long events are held back now.
func (b breaker) hold(now time.Time, chance float64) time.Duration {
	return Spread(max(shortestHold, min(longestHold, now.Sub(b.Since))), 0.25, chance)
}

// readBreaker takes over the breaker's item; one without a kind does not exist.
func (r *Receiver) readBreaker(it store.Item) error {
	r.breakerItem, r.breaker = it, breaker{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&r.breaker)
}

// saveBreaker writes the breaker. If another function has written it first, it takes
// that over and returns store.ErrConflict.
func (r *Receiver) saveBreaker(ctx context.Context, b breaker) error {
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
	now := r.now()
	it.ExpireAt = now.Add(keepBreakers)
	// Two failures at the same time must not look like one that is written twice.
	it.Attributes = map[string]string{writeAttribute: rand.Text()}
	tx := &store.Tx{}
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

// ProbeAt returns when the next probe is due.
func (r *Receiver) ProbeAt(now time.Time) time.Time {
	if at := r.breaker.ProbeAt; at != nil {
		return *at
	}
	return now.Add(shortestProbe)
}

// noteReach records whether an attempt found the receiver down.
func (r *Receiver) noteReach(ctx context.Context, o Outcome) {
	var err error
	for range maxConflicts {
		switch next := r.breaker.failed(&r.record, r.now()); {
		case r.record.State != StateEnabled:
			return
		case !o.Unanswered() && r.breakerItem.Kind == "":
			return
		case !o.Unanswered():
			err = r.closeBreaker(ctx)
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

// closeBreaker deletes the breaker. If it was open, the same transaction wakes what was held back.
func (r *Receiver) closeBreaker(ctx context.Context) error {
	tx := &store.Tx{}
	tx.Delete(r.breakerItem)
	if r.breaker.ProbeAt != nil {
		if err := WakeIn(tx, r.ref, r.now()); err != nil {
			return err
		}
	}
	if err := r.db.Commit(ctx, tx); err != nil {
		return errors.Join(err, r.rereadBreaker(ctx, err))
	}
	return r.readBreaker(store.Item{})
}
