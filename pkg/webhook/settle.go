package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/store"
)

// The pauses between tries at recording an outcome.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// settle records the outcome of an attempt, and sends the message for the next
// one if there is one. What is not recorded is attempted again, so it is tried for
// as long as the call of the function lasts. It gives store.ErrConflict where the
// delivery has gone on without this attempt.
func (w *worker) settle(ctx context.Context, t *task, o outcome) error {
	// Chosen once, so that the table knows a repeated write by its content.
	now, chance, mine := w.now(), w.random.Chance(), t.mine
	for try := 1; ; try++ {
		claimed := t.delivery
		t.delivery.record(o, now, wait(t.delivery.Failures, o.retryAfter, chance))
		update, err := t.delivery.recorded(t.key, t.stored, o.Attempt)
		if err != nil {
			return err
		}
		if err = t.take(w.updates.Do(update)); err == nil {
			break
		}
		if !errors.Is(err, store.ErrConflict) {
			t.delivery = claimed // where it was written none the less, the next try meets that
		} else if !t.mayRecord(mine, o) {
			return err
		}
		if ended := backoff.Wait(ctx, try, firstPause, longestPause); ended != nil {
			return errors.Join(ended, err)
		}
	}
	if t.delivery.State != statePending {
		return nil
	}
	return w.sendNext(t)
}

// mayRecord tells whether an outcome may still be recorded, now that the delivery
// was changed by another. While the claim holds, all may. A success that comes
// late, when another has taken the claim over, still ends the delivery: there is
// nothing to attempt any more. A failure that comes late says nothing new.
func (t *task) mayRecord(mine *claim, o outcome) bool {
	if t.gone || t.delivery.State != statePending {
		return false
	}
	return o.succeeded() || t.delivery.Claim != nil && t.delivery.Claim.By == mine.By
}
