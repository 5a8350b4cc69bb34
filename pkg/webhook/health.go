package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/store"
)

// successEvery is how exact last_success_at is: not every success writes it.
const successEvery = time.Minute

// failingLimit is how long a webhook may have nothing but failures.
const failingLimit = 5 * 24 * time.Hour

// hook is a webhook as the messages of one batch share it.
type hook struct {
	to  bound
	key store.Key
	// err tells why it could not be read.
	err error
	// slots bounds the attempts that are under way at a time.
	slots  chan struct{}
	strain strain

	mu         sync.Mutex
	item       store.Item
	record     record
	outageItem store.Item
	outage     outage
}

// slotsPerHook is how many attempts one instance of the function has under way at
// one receiver.
const slotsPerHook = 20

func newHook(to bound) *hook {
	return &hook{
		to: to, key: to.webhookKey(to.webhook), slots: make(chan struct{}, slotsPerHook), strain: strain{key: to.strainKey(to.webhook)},
	}
}

// read takes over the webhook's item; one without a kind is not there.
func (h *hook) read(it store.Item) error {
	h.item, h.record = it, record{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&h.record)
}

// state is empty where the webhook was deleted.
func (h *hook) state() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.record.State
}

// target gives the webhook that is sent to, and what signs for it.
func (h *hook) target() (Webhook, secrets) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.record.Webhook, h.record.Secrets
}

// note takes over what an attempt tells of the webhook's health, and tells
// whether that is worth a write: a change is, and one success a minute.
func (r *record) note(o outcome, now time.Time) bool {
	at := o.At
	switch {
	case r.State != stateEnabled:
		return false
	case o.succeeded():
		if r.FailingSince == nil && r.LastSuccessAt != nil && at.Sub(*r.LastSuccessAt) < successEvery {
			return false
		}
		r.FailingSince, r.LastSuccessAt = nil, &at
		return true
	case o.gone():
		r.disable(reasonGone)
	case r.FailingSince == nil:
		// An attempt that ends late must not undo what a later one has shown.
		if r.LastSuccessAt != nil && at.Before(*r.LastSuccessAt) {
			return false
		}
	case at.Sub(*r.FailingSince) >= failingLimit:
		r.disable(reasonFailing)
	default:
		return false
	}
	if r.FailingSince == nil {
		r.FailingSince = &at
	}
	if r.State == stateDisabled {
		r.Touch(now)
	}
	return true
}

// noteHealth writes what an attempt tells of its webhook. It comes before the
// attempt's own record: where the function dies in between, the attempt is made
// again and tells the same once more. An error here is not worth a repeat of the
// attempt: the next one tells the same, too.
func (d *Deliverer) noteHealth(ctx context.Context, h *hook, o outcome) {
	d.tallies.add(h.key, o.Attempt, d.now())
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	for range maxTurns {
		now := d.now()
		noted := h.record
		if h.item.Kind == "" || !noted.note(o, now) {
			return
		}
		seen := d.tallies.take(h.key)
		noted.Latencies = noted.Latencies.with(seen.answers, now)
		if err = d.writeHealth(ctx, h, noted, now); err == nil {
			return
		}
		d.tallies.put(h.key, seen, now)
		if !errors.Is(err, store.ErrConflict) {
			break
		}
		// A call or another attempt has changed the webhook: it is noted on that.
		var it store.Item
		if it, err = d.get(ctx, h.key); err != nil {
			break
		}
		if err = h.read(it); err != nil {
			break
		}
	}
	slog.Error("health of a webhook not noted", "webhook", h.key.SK, "error", err)
}

// writeHealth writes the webhook, and in the same transaction the event that
// tells the account's other webhooks that this one was disabled.
func (d *Deliverer) writeHealth(ctx context.Context, h *hook, noted record, now time.Time) error {
	it := h.item
	if err := it.Encode(noted); err != nil {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if noted.State == stateDisabled {
		told, err := event.New(now, it.Owner, event.WebhookDisabled, noted.view(now), nil)
		if err != nil {
			return err
		}
		tx.Create(told, nil)
	}
	if err := d.db.Commit(ctx, tx); err != nil {
		return err
	}
	it.Version++
	h.item, h.record = it, noted
	return nil
}
