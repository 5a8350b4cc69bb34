package webhook

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// A receiver counts as down after tripAfter attempts in a row within tripWithin that
// it has not even answered.
const (
	tripAfter  = 5
	tripWithin = time.Minute
)

// How long after one probe of a receiver that is down the next follows: a tenth of
// the time that it has been down, within these bounds. So it has all its events soon
// after its return, measured by its absence.
const (
	shortestProbe = 2 * time.Second
	longestProbe  = 5 * time.Minute
)

// How long an event is held back at a time. It is sooner where a probe succeeds.
const (
	shortestHold = 15 * time.Second
	longestHold  = 5 * time.Minute
)

// outageKind is the kind of an outage's item, and keepOutages how long it is kept:
// longer than a webhook may fail.
const (
	outageKind  = "outage"
	keepOutages = failingLimit + 24*time.Hour
)

// outage is what is known of a receiver that does not answer: the functions share it
// by the table. While it is down one attempt at a time probes it, and all other
// events wait. They do not fail for it, and nothing is lost where it gets lost
// itself: what waits has a message of its own.
type outage struct {
	// To is where the webhook sent to: it says nothing of another receiver.
	To string `json:"to"`
	// Since is when the first of the attempts failed that are counted.
	Since    time.Time `json:"since"`
	Failures int       `json:"failures"`
	// ProbeAt is when the next probe is due; nil: the receiver does not count as down.
	ProbeAt *time.Time `json:"probe_at,omitempty"`
	// Over tells that it answers again, and that what waits must be woken.
	Over bool `json:"over,omitempty"`
}

// down tells whether the receiver of the webhook counts as down.
func (o outage) down(r *record) bool { return o.ProbeAt != nil && !o.stale(r) }

// stale tells whether the outage is another one's: that of the receiver before, or
// from before the webhook was enabled.
func (o outage) stale(r *record) bool {
	return o.To != r.settings().goesTo() || r.EnabledAt != nil && o.Since.Before(*r.EnabledAt)
}

// failed gives the outage after one more attempt that was not answered.
func (o outage) failed(r *record, now time.Time) outage {
	switch {
	case o.down(r):
		return o // which is known
	case o.stale(r), o.Over, now.Sub(o.Since) >= tripWithin:
		o = outage{To: r.settings().goesTo(), Since: now}
	}
	if o.Failures++; o.Failures >= tripAfter {
		at := now.Add(shortestProbe)
		o.ProbeAt = &at
	}
	return o
}

// probed gives the outage while a probe is made.
func (o outage) probed(now time.Time, chance float64) outage {
	wait := max(shortestProbe, min(longestProbe, now.Sub(o.Since)/10))
	at := now.Add(spread(wait, jitter, chance))
	o.ProbeAt = &at
	return o
}

// hold tells for how long events are held back now.
func (o outage) hold(now time.Time, chance float64) time.Duration {
	return spread(max(shortestHold, min(longestHold, now.Sub(o.Since))), 0.25, chance)
}

// spread makes a wait longer or shorter by up to a part of it. chance is a random
// number from 0 to 1.
func spread(wait time.Duration, part, chance float64) time.Duration {
	return time.Duration(float64(wait) * (1 - part + 2*part*chance))
}

// readOutage takes over the outage's item; one without a kind is not there.
func (h *hook) readOutage(it store.Item) error {
	h.outageItem, h.outage = it, outage{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&h.outage)
}

// saveOutage writes the outage, or takes over what another has written meanwhile and
// gives store.ErrConflict. Whoever calls it holds the webhook.
func (d *Deliverer) saveOutage(ctx context.Context, h *hook, o outage) error {
	it := h.outageItem
	if it.Kind == "" {
		var err error
		if it, err = store.NewItem(outageKind, h.to.Owner, h.to.webhook, o); err != nil {
			return err
		}
		it.Key, it.Listed = h.to.outageKey(h.to.webhook), store.Key{}
	} else if err := it.Encode(o); err != nil {
		return err
	}
	now := d.now()
	it.ExpireAt = now.Add(keepOutages)
	tx := &store.Tx{}
	if it.Version == 0 {
		tx.CreateExpiring(it, now.Unix(), nil)
	} else {
		tx.Replace(it)
	}
	err := d.db.Commit(ctx, tx)
	if err == nil {
		it.Version++
		h.outageItem, h.outage = it, o
		return nil
	}
	return errors.Join(err, d.rereadOutage(ctx, h, err))
}

// rereadOutage takes over the outage that a write has met.
func (d *Deliverer) rereadOutage(ctx context.Context, h *hook, met error) error {
	if !errors.Is(met, store.ErrConflict) {
		return nil
	}
	it, err := d.get(ctx, h.to.outageKey(h.to.webhook))
	if err != nil {
		return err
	}
	return h.readOutage(it)
}

// admit tells whether the task may make its attempt now; where not, until when it is
// held back. While the receiver is down, it may where it is the one to probe it.
func (w *worker) admit(ctx context.Context, t *task) (held time.Duration, err error) {
	h := t.hook
	h.mu.Lock()
	defer h.mu.Unlock()
	for range maxLooks {
		now := w.now()
		switch {
		case t.probe || !h.outage.down(&h.record):
			return 0, nil
		case now.Before(*h.outage.ProbeAt):
			return h.outage.hold(now, w.random.Chance()), nil
		}
		err = w.saveOutage(ctx, h, h.outage.probed(now, w.random.Chance()))
		if err == nil {
			t.probe = true
			return 0, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return 0, trouble{err}
}

// isDown tells whether the receiver counts as down by now, and until when an event is
// held back then.
func (h *hook) isDown(now time.Time, chance float64) (time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.outage.down(&h.record) {
		return 0, false
	}
	return h.outage.hold(now, chance), true
}

// probeAt is when the next probe is due.
func (h *hook) probeAt(now time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.outage.ProbeAt; at != nil {
		return *at
	}
	return now.Add(shortestProbe)
}

// noteReach writes what an attempt tells of whether the receiver is down. An error
// here is not worth a repeat of the attempt: the next one tells the same.
func (w *worker) noteReach(ctx context.Context, h *hook, o outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	for range maxLooks {
		switch next := h.outage.failed(&h.record, w.now()); {
		case h.record.State != stateEnabled:
			return
		case !o.unanswered() && h.outageItem.Kind == "":
			return
		case !o.unanswered():
			err = w.endOutage(ctx, h)
		case next == h.outage:
			return
		default:
			err = w.saveOutage(ctx, h, next)
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if err != nil {
		slog.Error("reach of a webhook not noted", "webhook", h.key.SK, "error", err)
	}
}

// endOutage forgets an outage. Where events were held back, they are woken: the
// outage is over before, so that they are not held back once more, and is forgotten
// after, so that a death in between is made good by the next success.
func (w *worker) endOutage(ctx context.Context, h *hook) error {
	if h.outage.ProbeAt != nil {
		over := h.outage
		over.ProbeAt, over.Over = nil, true
		if err := w.saveOutage(ctx, h, over); err != nil {
			return err
		}
	}
	if h.outage.Over {
		if err := w.send(ctx, wakeMessage(h.to, w.now()))[0]; err != nil {
			return err
		}
	}
	tx := &store.Tx{}
	tx.Delete(h.outageItem)
	err := w.db.Commit(ctx, tx)
	if err != nil {
		return errors.Join(err, w.rereadOutage(ctx, h, err))
	}
	return h.readOutage(store.Item{})
}
