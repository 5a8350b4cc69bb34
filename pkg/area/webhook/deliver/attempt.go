package deliver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/area/webhook/health"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// maxConflicts is the number of times that an attempt starts over because another function
// has changed its delivery.
const maxConflicts = 6

// The pauses between tries while the table or the queue fails.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// attempt is an attempt that a message requests, with its event and receiver.
type attempt struct {
	place    int // of its message in the batch
	number   int // of the attempt that the message requests
	receiver *receiver
	payload  *payload
	// delivery is the delivery as the message describes it, or as it was last read or
	// written. Its version is 0 if a write may have failed, so that it must be read, and
	// its state is empty if it does not exist any more.
	delivery endpoint.DeliveryRecord
	// urgent is set if the attempt is made even if the receiver is down or busy.
	urgent bool
	// probe is set if the attempt was admitted as the probe of a receiver that is down.
	probe bool
}

// run carries out an attempt. While the table or the queue fails it keeps trying: the
// message stays invisible for as long. After an error the message comes again.
func (b *batch) run(ctx context.Context, a *attempt) error {
	conflicts := 0
	for try := 1; ; try++ {
		err := b.step(ctx, a)
		switch {
		case errors.Is(err, store.ErrConflict):
			// Another function changed the delivery first, so decide again.
			if conflicts++; conflicts < maxConflicts {
				continue
			}
			return errs.New(errs.ProviderUnavailable, "The delivery %s keeps changing.", a.delivery.ID)
		case !isTransient(err):
			return err
		}
		if ended := backoff.Wait(ctx, try, firstPause, longestPause); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// step carries out an attempt at a loaded delivery: load, admit, lease, send, settle.
func (b *batch) step(ctx context.Context, a *attempt) error {
	if a.delivery.Stored == 0 && a.delivery.State != "" {
		if err := b.reload(ctx, a); err != nil {
			return err
		}
	}
	if !b.leased(a) {
		now := b.Now()
		switch next, reason := decide(&a.delivery, a.number, a.urgent, a.receiver.State(), a.payload,
			a.receiver.reader, now); next {
		case nothing:
			return nil
		case resend:
			return b.askNext(a)
		case wait:
			return b.ask(a, a.delivery.Lease.Until)
		case end:
			a.delivery.Fail(reason, now)
			err := b.update(a, a.delivery.Update())
			if err == nil {
				b.note(a)
			}
			return err
		}
		if !a.probe {
			admission, err := a.receiver.Admit(ctx, a.urgent)
			if err != nil {
				return transient{err}
			}
			if !admission.Until.IsZero() {
				return b.putOff(a, admission)
			}
			a.probe = admission.Probe
		}
		// An event that cannot be rendered is not leased.
		if _, err := a.payload.render(ctx, b.Signer); err != nil {
			return err
		}
		if err := b.update(a, b.lease(a)); err != nil {
			return err
		}
	}
	b.leases.hold(a)
	o, refused, err := b.send(ctx, a)
	b.leases.release(a)
	switch {
	case err != nil:
		return err
	case !refused.Until.IsZero():
		return b.putOff(a, refused)
	}
	if err := b.settle(ctx, a, o); err != nil {
		return fmt.Errorf("record the outcome: %w", err)
	}
	return nil
}

// action is the next step of the handling of a message.
type action int

// The actions.
const (
	nothing action = iota // it was done, or another message does it
	resend                // send the message that should follow this one
	wait                  // come again when another function's lease has ended
	end                   // end the delivery: there is nothing to attempt any more
	proceed               // make the attempt
)

// decide returns the action for a message that requests the attempt with the given number,
// and the reason if it ends the delivery. It depends on the stored state alone, so that a
// message may come twice, late, or after its function died at any point.
//
//   - An outcome is recorded before the message for the next attempt is sent. After a
//     crash in between no message for the next attempt exists, but the last one was not
//     deleted from the queue. It comes again, and as its attempt is the one just before
//     the next, the next is sent then. In the other order the next message could come
//     before the outcome, and could not be distinguished from one under way.
//   - The lease is written before the request is sent, so that a message that comes
//     twice makes one request. After a crash during an attempt, it is unknown whether
//     the receiver got the event: the lease ends, and the attempt is made again.
func decide(d *endpoint.DeliveryRecord, number int, urgent bool, webhook string, p *payload, maker endpoint.Reader,
	now time.Time) (next action, reason string) {
	switch {
	case d.State != endpoint.DeliveryPending:
		return nothing, ""
	case number < d.Next-1:
		return nothing, "" // the message after this one was there already
	case number == d.Next-1:
		return resend, ""
	case d.Lease.Live(now):
		return wait, ""
	case !urgent && d.NextAttemptAt != nil && now.Before(d.NextAttemptAt.Time):
		return resend, "" // it was put off
	case webhook == "":
		return end, endpoint.FailedDeleted
	case webhook != endpoint.StateEnabled:
		return end, endpoint.FailedDisabled
	case p.expired():
		return end, endpoint.FailedExpired
	case !p.mayGo(maker):
		return end, endpoint.FailedNotPermitted
	default:
		return proceed, ""
	}
}

// send makes the attempt and notes its result at the receiver, so that the next attempt
// there need not wait for the record. If the attempt cannot be made now, send returns the
// refusal. An urgent attempt waits for no others: the calls that request those are
// rate-limited.
func (b *batch) send(ctx context.Context, a *attempt) (o endpoint.Outcome, refused health.Admission, err error) {
	if !a.urgent {
		if !a.receiver.Enter(ctx, b.impatient) {
			return o, health.Admission{Until: a.receiver.Pause()}, nil
		}
		defer a.receiver.Leave()
		if until := a.receiver.Hold(); !until.IsZero() && !a.probe {
			return o, health.Admission{Until: until, Held: true}, nil // it went down since
		}
	}
	if !inTime(ctx) {
		return o, health.Admission{Until: b.Now()}, nil // our own end would cut it off
	}
	body, err := a.payload.render(ctx, b.Signer)
	if err != nil {
		return o, refused, err
	}
	r := a.receiver.Record()
	ref := a.payload.ref()
	ended := a.receiver.Watch(ctx)
	o, err = b.destination(&r.Webhook).send(ctx, outgoing{ref.ID, ref.Type, body, a.receiver.keys,
		r.Webhook.ID, ref.Request})
	ended()
	if err == nil {
		err = ctx.Err() // our time was over, not the receiver's
	}
	if err != nil {
		return o, refused, err
	}
	a.receiver.Note(ctx, o)
	return o, refused, nil
}

// inTime reports whether the function has the time for an attempt.
func inTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > endpoint.AttemptTimeout
}

// settle records the outcome of an attempt, and requests the next one if there is one. An
// outcome that is not recorded means another attempt, so settle tries until the call ends.
// It returns store.ErrConflict if the delivery has moved on without this attempt.
func (b *batch) settle(ctx context.Context, a *attempt, o endpoint.Outcome) error {
	// Chosen once, so that a write whose answer was lost is the same when repeated.
	now, chance := b.Now(), b.Chance()
	probeAt := a.receiver.ProbeAt(now)
	for try := 1; ; try++ {
		if !b.mayRecord(a, o) {
			return store.ErrConflict
		}
		before := a.delivery
		if a.probe && o.Unanswered() {
			a.delivery.RecordProbe(now, probeAt)
		} else {
			a.delivery.Record(o, now, endpoint.Wait(a.delivery.Failures, o.RetryAfter, chance))
		}
		update, err := a.delivery.UpdateAttempt(o.Attempt)
		if err != nil {
			return err
		}
		err = b.update(a, update)
		switch {
		case err == nil && a.delivery.State == endpoint.DeliveryPending:
			b.report(a, o)
			return b.askNext(a)
		case err == nil:
			b.report(a, o)
			return nil
		case isTransient(err):
			a.delivery = before // if it was written all the same, the next try meets that
		case !errors.Is(err, store.ErrConflict):
			return err
		}
		if ended := backoff.Wait(ctx, try, firstPause, longestPause); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// mayRecord reports whether an outcome may still be recorded: any outcome while the
// lease holds. A success ends the delivery even if another function has taken the lease
// over; a late failure adds nothing.
func (b *batch) mayRecord(a *attempt, o endpoint.Outcome) bool {
	return a.delivery.State == endpoint.DeliveryPending && (o.Succeeded() || b.leased(a))
}

// putOff ends the lease, if there is one, and requests the attempt for later.
func (b *batch) putOff(a *attempt, refused health.Admission) error {
	waitsFor := endpoint.WaitsCapacity
	if refused.Held {
		waitsFor = endpoint.WaitsBreaker
	}
	a.delivery.PutOff(b.Now(), refused.Until, waitsFor)
	if err := b.update(a, a.delivery.Update()); err != nil {
		return err
	}
	return b.askNext(a)
}

// askNext requests the delivery's next attempt at its time.
func (b *batch) askNext(a *attempt) error {
	var due time.Time
	if at := a.delivery.NextAttemptAt; at != nil {
		due = at.Time
	}
	return b.ask(a, due)
}

// ask sends a message for the delivery's next attempt.
func (b *batch) ask(a *attempt, due time.Time) error {
	ask := a.delivery.Ask(due)
	if a.urgent && a.delivery.Next == a.number {
		ask = ask.Urgently() // it was not made yet
	}
	if err := b.asks.do(ask); err != nil {
		return transient{err}
	}
	return nil
}

// update writes a change of the delivery.
func (b *batch) update(a *attempt, u store.Update) error {
	err := a.applyUpdate(b.updates.do(u))
	if _, met := store.ConflictOf(err); err == nil || met {
		return err
	}
	a.delivery.Stored = 0 // it may have been written all the same
	return transient{err}
}

// applyUpdate updates the local copy of the delivery after a write: by the version that
// it has made, or by the item that it has met.
func (a *attempt) applyUpdate(err error) error {
	if err == nil {
		a.delivery.Stored++
		return nil
	}
	if met, ok := store.ConflictOf(err); ok {
		return errors.Join(a.read(&met), err)
	}
	return err
}

// reload reads the delivery.
func (b *batch) reload(ctx context.Context, a *attempt) error {
	it, err := b.DB.Get(ctx, a.delivery.Key())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return transient{err}
	}
	return a.read(&it)
}

// read takes over the delivery's item; one without a kind does not exist.
func (a *attempt) read(it *store.Item) error {
	if it.Kind == "" {
		a.delivery.State, a.delivery.Stored = "", 0
		return nil
	}
	d, err := endpoint.ReadDelivery(it)
	if err == nil {
		a.delivery = d
	}
	return err
}

// transient is an error of the table or the queue, which passes.
type transient struct{ error }

// Unwrap returns the cause.
func (t transient) Unwrap() error { return t.error }

func isTransient(err error) bool {
	var t transient
	return errors.As(err, &t)
}

// persist repeats a function that fails until the context ends.
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
