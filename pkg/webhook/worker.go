package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/gather"
	"github.com/content-automation/api/pkg/store"
)

// maxLooks bounds how often a task is looked at anew, because its delivery was
// changed by another between reading and writing.
const maxLooks = 6

// worker does the tasks of one batch. What they write and send at about the same
// time goes together.
type worker struct {
	*Deliverer
	// by is the name in its claims.
	by       string
	updates  *gather.Group[store.Update]
	messages *gather.Group[message]
}

// claim claims all attempts that are to be made, as far as the messages tell. A
// task whose delivery turns out to be another than its message knows is looked at
// again by deliver.
func (w *worker) claim(ctx context.Context, tasks []*task) {
	var claimed []*task
	var updates []store.Update
	for _, t := range tasks {
		if todo, _ := t.next(w.now()); todo != stepTry {
			continue
		}
		// What cannot be rendered is not claimed.
		if _, err := t.payload.render(ctx, w.signer); err != nil {
			continue
		}
		claimed, updates = append(claimed, t), append(updates, t.claimed(w.by, w.now()))
	}
	for i, err := range w.db.UpdateAll(ctx, updates...) {
		t := claimed[i]
		if err = t.take(err); err != nil && !errors.Is(err, store.ErrConflict) {
			t.err = err
		}
	}
}

// claimed puts a claim into the delivery, and gives the update that writes it.
func (t *task) claimed(by string, now time.Time) store.Update {
	t.mine = &claim{By: by, Until: now.Add(lease)}
	t.delivery.Claim = t.mine
	return t.delivery.claimed(t.key, t.stored)
}

// take takes over what an update has come to: the version that it has made, or the
// item that it has met in place of the one that it expected.
func (t *task) take(err error) error {
	if err == nil {
		t.stored++
		return nil
	}
	if met, ok := store.ConflictOf(err); ok {
		return errors.Join(t.read(&met), err)
	}
	return err
}

// deliver does what is to be done for a task. An error makes its message come again.
func (w *worker) deliver(ctx context.Context, t *task) error {
	if t.err != nil {
		return t.err
	}
	for range maxLooks {
		err := w.look(ctx, t)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		// Another changed the delivery first: what is to be done may differ now.
	}
	return errs.New(errs.ProviderUnavailable, "The delivery %s keeps changing.", t.DeliveryID)
}

func (w *worker) look(ctx context.Context, t *task) error {
	if t.mine != nil {
		return w.try(ctx, t)
	}
	if t.stored == 0 && !t.gone {
		it, err := w.get(ctx, t.key)
		if err == nil {
			err = t.read(&it)
		}
		if err != nil {
			return err
		}
	}
	now := w.now()
	switch todo, reason := t.next(now); todo {
	case stepResend:
		return w.sendNext(t)
	case stepWait:
		return w.messages.Do(t.delivery.message(t.owner, t.stored, t.delivery.Claim.Until))
	case stepEnd:
		t.delivery.fail(reason)
		t.delivery.Touch(now)
		return t.take(w.updates.Do(t.delivery.change(t.key, t.stored)))
	case stepTry:
		if _, err := t.payload.render(ctx, w.signer); err != nil {
			return err
		}
		if err := t.take(w.updates.Do(t.claimed(w.by, now))); err != nil {
			return err
		}
		return w.try(ctx, t)
	default:
		return nil
	}
}

// sendNext sends the message for the delivery's next attempt.
func (w *worker) sendNext(t *task) error {
	var due time.Time
	if at := t.delivery.NextAttemptAt; at != nil {
		due = *at
	}
	return w.messages.Do(t.delivery.message(t.owner, t.stored, due))
}

// try carries out the attempt that the task has claimed, and records what came of it.
func (w *worker) try(ctx context.Context, t *task) error {
	body, err := t.payload.render(ctx, w.signer)
	if err != nil {
		return err
	}
	to, signing := t.hook.target()
	o, err := w.destination(&to).send(ctx, outgoing{t.EventID, t.payload.eventType(), body, signing})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // our time was over, not the receiver's
	}
	w.noteHealth(ctx, t.hook, o)
	if err := w.settle(ctx, t, o); err != nil {
		return fmt.Errorf("webhook: outcome of %s not recorded: %w", t.DeliveryID, err)
	}
	return nil
}
