package webhook

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// successEvery is the precision of last_success_at: not every success is written.
const successEvery = time.Minute

// FailingLimit is the time for which all attempts at a webhook may fail before it is disabled.
const FailingLimit = 5 * 24 * time.Hour

// note applies the outcome of an attempt to the webhook's health. It reports whether
// that is worth a write: a change is, and one success a minute.
func note(r *WebhookRecord, o Outcome, now time.Time) bool {
	at := o.At
	switch {
	case r.State != StateEnabled:
		return false
	case o.Succeeded():
		if r.FailingSince == nil && r.LastSuccessAt != nil && at.Sub(r.LastSuccessAt.Time) < successEvery {
			return false
		}
		r.FailingSince, r.LastSuccessAt = nil, &at
		return true
	case o.Gone():
		r.Disable(ReasonGone)
	case r.FailingSince == nil:
		// An attempt that ends late must not undo the result of a later one.
		if r.LastSuccessAt != nil && at.Before(r.LastSuccessAt.Time) {
			return false
		}
	case at.Sub(r.FailingSince.Time) >= FailingLimit:
		r.Disable(ReasonFailing)
	default:
		return false
	}
	if r.FailingSince == nil {
		r.FailingSince = &at
	}
	if r.State == StateDisabled {
		r.Touch(now)
	}
	return true
}

// noteHealth records the result of an attempt in its webhook.
func (r *Receiver) noteHealth(ctx context.Context, o Outcome) {
	r.tally.add(r.ref, o.Attempt, r.now())
	var err error
	for range maxConflicts {
		now := r.now()
		noted := r.record
		if r.item.Kind == "" || !note(&noted, o, now) {
			return
		}
		answers := r.tally.take(r.ref)
		noted.Latencies = noted.Latencies.With(answers.sketch, now)
		if err = r.write(ctx, noted, now); err == nil {
			return
		}
		r.tally.put(r.ref, answers, now)
		if !errors.Is(err, store.ErrConflict) {
			break
		}
		// A call or another attempt has changed the webhook: apply the outcome to that.
		var it store.Item
		if it, err = r.get(ctx, r.ref.Key()); err != nil {
			break
		}
		if err = r.read(it); err != nil {
			break
		}
	}
	slog.Error("health of a webhook not written", "webhook", r.ref.ID, "error", err)
}

// write writes the webhook, and in the same transaction the event for the account's
// other webhooks if this one was disabled.
func (r *Receiver) write(ctx context.Context, noted WebhookRecord, now time.Time) error {
	it, tx := r.item, &store.Tx{}
	if err := noted.ReplaceIn(tx, &it, now); err != nil {
		return err
	}
	if err := r.db.Commit(ctx, tx); err != nil {
		return err
	}
	it.Version++
	r.item, r.record = it, noted
	return nil
}
