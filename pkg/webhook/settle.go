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

// trouble is an error of the table or the queue, which passes.
type trouble struct{ error }

// Unwrap gives the error itself.
func (t trouble) Unwrap() error { return t.error }

func isTrouble(err error) bool {
	var t trouble
	return errors.As(err, &t)
}

// persist repeats what fails until the context ends.
func persist(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil {
			return nil
		}
		if ended := backoff.Wait(ctx, try, firstPause, longestPause); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// settle records the outcome of an attempt, and sends the message for the next
// one if there is one. What is not recorded is attempted again, so it is tried for
// as long as the call of the function lasts. It gives store.ErrConflict where the
// delivery has gone on without this attempt.
func (w *worker) settle(ctx context.Context, t *task, o outcome) error {
	// Chosen once, so that the table knows a repeated write by its content.
	now, chance := w.now(), w.random.Chance()
	again := t.hook.probeAt(now)
	for try := 1; ; try++ {
		if !w.mayRecord(t, o) {
			return store.ErrConflict
		}
		claimed := t.delivery
		if t.probe && o.unanswered() {
			t.delivery.recordProbe(now, again)
		} else {
			t.delivery.record(o, now, wait(t.delivery.Failures, o.retryAfter, chance))
		}
		update, err := t.delivery.recorded(t.owner, t.stored, o.Attempt)
		if err != nil {
			return err
		}
		if err = w.update(t, update); err == nil {
			break
		}
		if isTrouble(err) {
			t.delivery = claimed // where it was written none the less, the next try meets that
		} else if !errors.Is(err, store.ErrConflict) {
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

// mayRecord tells whether an outcome may still be recorded, as far as is known of
// the delivery. While the claim holds, all may. A success that comes
// late, when another has taken the claim over, still ends the delivery: there is
// nothing to attempt any more. A failure that comes late says nothing new.
func (w *worker) mayRecord(t *task, o outcome) bool {
	if t.gone || t.delivery.State != statePending {
		return false
	}
	return o.succeeded() || w.claims(t)
}
