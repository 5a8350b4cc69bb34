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
func (d *Deliverer) settle(ctx context.Context, t *task, mine *claim, o outcome) error {
	// Chosen once, so that the table knows a repeated write by its content.
	now := d.now()
	pause := wait(t.delivery.Failures, o.retryAfter, d.random.Chance())
	for try := 1; ; try++ {
		item, claimed := t.item, t.delivery
		t.delivery.record(o, now, pause)
		err := d.replace(ctx, t)
		if err == nil {
			break
		}
		t.item, t.delivery = item, claimed
		if errors.Is(err, store.ErrConflict) && d.reread(ctx, t) == nil && !t.mayRecord(mine, o) {
			return store.ErrConflict
		}
		if ended := backoff.Wait(ctx, try, firstPause, longestPause); ended != nil {
			return errors.Join(ended, err)
		}
	}
	if t.delivery.State != statePending {
		return nil
	}
	return d.sendNext(ctx, t)
}

// mayRecord tells whether an outcome may still be recorded, now that the delivery
// was changed by another. While the claim holds, all may. A success that comes
// late, when another has taken the claim over, still ends the delivery: there is
// nothing to attempt any more. A failure that comes late says nothing new.
func (t *task) mayRecord(mine *claim, o outcome) bool {
	if t.item.Kind == "" || t.delivery.State != statePending {
		return false
	}
	return o.succeeded() || t.delivery.Claim != nil && t.delivery.Claim.By == mine.By
}
