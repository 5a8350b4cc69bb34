package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/backoff"
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
	leases   leases
	updates  *gather.Group[store.Update]
	messages *gather.Group[message]
	// impatient is closed when no attempt waits for its turn any more.
	impatient chan struct{}
	// background is what must have an end before the function's.
	background sync.WaitGroup
}

// patience is how long attempts wait for those before them at the same receiver.
// What has not begun by then is put off, so that a slow receiver keeps few attempts
// of a batch waiting.
const patience = 2 * time.Second

// pauseWhenBusy is how long what a slow receiver has no room for is put off, on
// average.
const pauseWhenBusy = 4 * time.Second

// claim claims all attempts that are to be made, as far as the messages tell. What
// else there is to do with a task, or where this fails, deliver sees to.
func (w *worker) claim(ctx context.Context, tasks []*task) {
	var claimed []*task
	var updates []store.Update
	heldBack, busy := map[*hook][]*task{}, map[*hook][]*task{}
	for _, t := range tasks {
		if todo, _ := t.next(w.now()); t.stored == 0 || todo != stepTry {
			continue
		}
		switch held, err := w.admit(ctx, t); {
		case err != nil:
			continue
		case held > 0:
			heldBack[t.hook] = append(heldBack[t.hook], t)
			continue
		case !t.probe && t.hook.strain.isHigh():
			busy[t.hook] = append(busy[t.hook], t)
			continue
		}
		// What cannot be rendered is not claimed.
		if _, err := t.payload.render(ctx, w.signer); err != nil {
			continue
		}
		claimed, updates = append(claimed, t), append(updates, w.claimed(t))
	}
	for i, err := range w.db.UpdateAll(ctx, updates...) {
		t := claimed[i]
		switch err = w.take(t, err); {
		case err == nil:
			w.leases.hold(t)
		case !errors.Is(err, store.ErrConflict):
			t.stored = 0 // nobody knows whether it was written, but who reads it
		}
	}
	for h, tasks := range heldBack {
		wait, _ := h.isDown(w.now(), w.random.Chance())
		w.putOffAll(ctx, tasks, wait, true)
	}
	for _, tasks := range busy {
		w.putOffAll(ctx, tasks, w.pause(), false)
	}
}

// pause is how long a task is put off that a slow receiver has no room for.
func (w *worker) pause() time.Duration { return spread(pauseWhenBusy, 0.5, w.random.Chance()) }

// putOffAll puts off tasks of one webhook. Where that fails, deliver sees to it.
func (w *worker) putOffAll(ctx context.Context, tasks []*task, wait time.Duration, held bool) {
	now := w.now()
	updates := make([]store.Update, len(tasks))
	for i, t := range tasks {
		t.delivery.putOff(now, now.Add(wait), held)
		updates[i] = t.delivery.change(t.owner, t.stored)
	}
	var written []*task
	var to []bound
	var turns []turn
	for i, err := range w.db.UpdateAll(ctx, updates...) {
		t := tasks[i]
		if err = w.take(t, err); err == nil {
			written, to, turns = append(written, t), append(to, t.bound), append(turns, t.delivery.turn(t.stored))
		} else if !errors.Is(err, store.ErrConflict) {
			t.stored = 0
		}
	}
	// Who was sent for has no more to do; the others find that they were put off.
	for i, err := range together(ctx, w.queue, now, now.Add(wait), to, turns) {
		written[i].done = err == nil
	}
}

// claimed puts a claim into the delivery, and gives the update that writes it.
func (w *worker) claimed(t *task) store.Update {
	t.delivery.Claim = &claim{By: w.by, Until: w.now().Add(lease)}
	return t.delivery.claimed(t.owner, t.stored)
}

// take takes over what an update has come to: the version that it has made, or the
// item that it has met in place of the one that it expected.
func (w *worker) take(t *task, err error) error {
	if err == nil {
		t.stored++
		return nil
	}
	if met, ok := store.ConflictOf(err); ok {
		return errors.Join(t.read(&met), err)
	}
	return err
}

// claims tells whether the delivery is claimed by this worker. Only the task itself
// does that: where nobody has heard of it, its answer was lost.
func (w *worker) claims(t *task) bool {
	c := t.delivery.Claim
	return !t.gone && c != nil && c.By == w.by && t.delivery.State == statePending
}

// deliver does what is to be done for a task. It keeps trying where the table or the
// queue is in trouble: the message stays hidden for as long. An error makes its
// message come again.
func (w *worker) deliver(ctx context.Context, t *task) error {
	conflicts := 0
	for try := 1; ; try++ {
		err := t.err
		if err == nil {
			err = w.look(ctx, t)
		}
		switch {
		case errors.Is(err, store.ErrConflict):
			// Another changed the delivery first: what is to be done may differ now.
			if conflicts++; conflicts < maxLooks {
				continue
			}
			return errs.New(errs.ProviderUnavailable, "The delivery %s keeps changing.", t.DeliveryID)
		case !isTrouble(err):
			return err
		}
		if ended := backoff.Wait(ctx, try, firstPause, longestPause); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

func (w *worker) look(ctx context.Context, t *task) error {
	if t.done {
		return nil
	}
	if w.leases.holds(t) {
		return w.try(ctx, t)
	}
	if t.stored == 0 && !t.gone {
		it, err := w.get(ctx, t.key)
		if err != nil {
			return trouble{err}
		}
		if err := t.read(&it); err != nil {
			return err
		}
	}
	if w.claims(t) {
		w.leases.hold(t)
		return w.try(ctx, t)
	}
	now := w.now()
	switch todo, reason := t.next(now); todo {
	case stepResend:
		return w.sendNext(t)
	case stepWait:
		return w.ask(t.delivery.message(t.owner, t.stored, t.delivery.Claim.Until))
	case stepEnd:
		t.delivery.fail(reason)
		t.delivery.Touch(now)
		return w.update(t, t.delivery.change(t.owner, t.stored))
	case stepTry:
		if held, err := w.admit(ctx, t); err != nil || held > 0 {
			if err == nil {
				err = w.putOff(t, held, true)
			}
			return err
		}
		if !t.probe && t.hook.strain.isHigh() {
			return w.putOff(t, w.pause(), false)
		}
		if _, err := t.payload.render(ctx, w.signer); err != nil {
			return err
		}
		if err := w.update(t, w.claimed(t)); err != nil {
			if isTrouble(err) {
				t.stored = 0 // likewise
			}
			return err
		}
		w.leases.hold(t)
		return w.try(ctx, t)
	default:
		return nil
	}
}

// update writes a change of the delivery.
func (w *worker) update(t *task, u store.Update) error {
	err := w.take(t, w.updates.Do(u))
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return trouble{err}
	}
	return err
}

// ask sends a message.
func (w *worker) ask(m message) error {
	if err := w.messages.Do(m); err != nil {
		return trouble{err}
	}
	return nil
}

// sendNext sends the message for the delivery's next attempt.
func (w *worker) sendNext(t *task) error {
	var due time.Time
	if at := t.delivery.NextAttemptAt; at != nil {
		due = *at
	}
	return w.ask(t.delivery.message(t.owner, t.stored, due))
}

// putOff gives the claim up, if there is one, and sends a message for later.
func (w *worker) putOff(t *task, wait time.Duration, held bool) error {
	w.leases.release(t)
	now := w.now()
	t.delivery.putOff(now, now.Add(wait), held)
	if err := w.update(t, t.delivery.change(t.owner, t.stored)); err != nil {
		if isTrouble(err) {
			t.stored = 0
		}
		return err
	}
	return w.sendNext(t)
}

// enter waits for a slot, and tells whether there is one. Nobody waits for one after
// the end of patience.
func (h *hook) enter(ctx context.Context, impatient <-chan struct{}) bool {
	select {
	case h.slots <- struct{}{}:
		return true
	default:
	}
	select {
	case h.slots <- struct{}{}:
		return true
	case <-impatient:
	case <-ctx.Done():
	}
	return false
}

func (h *hook) leave() { <-h.slots }

// try carries out the attempt that the task has claimed, and records what came of it.
func (w *worker) try(ctx context.Context, t *task) error {
	defer w.leases.release(t)
	body, err := t.payload.render(ctx, w.signer)
	if err != nil {
		return err
	}
	o, made, err := w.attempt(ctx, t, body)
	if !made {
		return err
	}
	w.leases.release(t)
	if err := w.settle(ctx, t, o); err != nil {
		return fmt.Errorf("webhook: outcome of %s not recorded: %w", t.DeliveryID, err)
	}
	return nil
}

// attempt makes the attempt, and notes what it tells of the receiver, or puts it off.
// The next attempt at the receiver need not wait for this one's record.
func (w *worker) attempt(ctx context.Context, t *task, body []byte) (o outcome, made bool, err error) {
	if !t.hook.enter(ctx, w.impatient) {
		return o, false, w.putOff(t, w.pause(), false)
	}
	defer t.hook.leave()
	if held, down := t.hook.isDown(w.now(), w.random.Chance()); down && !t.probe {
		return o, false, w.putOff(t, held, true) // it has turned out since the claim
	}
	if !w.inTime(ctx) {
		return o, false, w.putOff(t, 0, false) // the attempt would be cut off by our own end
	}
	to, signing := t.hook.target()
	ended := w.watch(ctx, &t.hook.strain)
	o, err = w.destination(&to).send(ctx, outgoing{t.EventID, t.payload.eventType(), body, signing})
	ended()
	if err == nil {
		err = ctx.Err() // our time was over, not the receiver's
	}
	if err != nil {
		return o, false, err
	}
	w.noteReach(ctx, t.hook, o)
	w.noteHealth(ctx, t.hook, o)
	return o, true, nil
}
