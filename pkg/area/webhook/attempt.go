package webhook

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// leaseTime is the time after which the lease of an attempt ends unless it is renewed: a little shorter than the
// message of a dead function stays invisible. So when that message comes again, the lease has ended.
const leaseTime = queue.HiddenFor - time.Second

// attempt is an attempt at a delivery, with its event and receiver. Step makes it: load, over and Admit find out
// whether a request is sent, send sends it, and settle commits what became of it.
type attempt struct {
	*Deliverer
	item     store.Item // of the delivery
	delivery DeliveryRecord
	event    store.Item
	reader   Reader
	receiver *Receiver
}

// Step makes an attempt, or puts it off. The kernel repeats it until the delivery has ended, so a failure of this
// service never counts as one of the receiver.
//
// The lease is taken before the request is sent, so that a message that comes twice makes one request. After a crash
// during an attempt, it is unknown whether the receiver got the event: the lease ends, and the attempt is made again.
func (d *Deliverer) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	a, err := d.load(ctx, s)
	switch {
	case err != nil:
		return task.Outcome{}, task.Again(err)
	case a.delivery.State != DeliveryPending:
		return task.Outcome{Done: true}, nil // it has expired
	case a.delivery.Held():
		return task.Outcome{Done: true}, nil // the timer of the circuit breaker makes the attempt
	}
	now := d.Now()
	if due := a.delivery.NextAttemptAt; now.Before(due.Time) && !a.delivery.Urgent {
		return task.Outcome{Wait: due.Sub(now)}, nil // what it was woken for has happened
	}
	if reason := a.over(); reason != "" {
		return a.settle(func(r *DeliveryRecord) { r.Fail(reason, now) }, nil), nil
	}
	// A slow receiver occupies a call of the function until it answers: in a call of its own, it delays no other
	// receiver's events.
	if !d.Slow && a.receiver.MayHang(now, a.delivery.Urgent) {
		return task.Outcome{Queue: topology.DeliverSlow}, nil
	}
	admission, err := a.receiver.Admit(ctx, a.delivery.Urgent)
	if err != nil {
		return task.Outcome{}, task.Again(err)
	}
	if admission.HeldBack || !admission.Until.IsZero() {
		return a.putOff(admission), nil
	}
	return a.send(ctx, s, admission.Probe)
}

// load reads everything that an attempt needs in one round trip.
func (d *Deliverer) load(ctx context.Context, s *task.Step) (*attempt, error) {
	var e Errand
	if err := s.Decode(&e); err != nil {
		return nil, err
	}
	to := Ref{Owner: s.Owner, ID: e.WebhookID}
	keys := append([]store.Key{to.DeliveryKey(s.Subject), store.IDKey(e.EventID),
		MakerKey(s.Account, e.Maker)}, HealthKeys(to)...)
	var items []store.Item
	if err := persist(ctx, func() (err error) {
		items, err = d.DB.GetAll(ctx, keys...)
		return err
	}); err != nil {
		return nil, err
	}
	a := &attempt{Deliverer: d, item: items[0], event: items[1]}
	if a.item.Kind == "" {
		return a, nil
	}
	var err error
	if a.delivery, err = ReadDelivery(&a.item); err != nil {
		return nil, err
	}
	if a.receiver, err = d.monitor.Receiver(to, items[3:]); err != nil {
		return nil, err
	}
	w := a.receiver.Record()
	a.reader, err = w.Reader(items[2])
	return a, err
}

// over returns the reason for which the delivery ends without an attempt, or nothing.
func (a *attempt) over() string {
	switch w := a.receiver.Record(); {
	case w.State == "":
		return FailedDeleted
	case w.State != StateEnabled:
		return FailedDisabled
	case a.event.Kind == "":
		return FailedExpired
	// A test event has no resource, so no scope is checked.
	case a.event.Kind == event.Kind && !a.reader.May(event.RefOf(a.event).Type):
		return FailedNotPermitted
	}
	return ""
}

// putOff returns the outcome of an attempt that is not made now.
func (a *attempt) putOff(refused Admission) task.Outcome {
	now := a.Now()
	return a.settle(func(r *DeliveryRecord) {
		switch {
		case r.Urgent: // a caller has requested it meanwhile
		case refused.HeldBack:
			r.Hold(now)
		default:
			r.PutOff(now, refused.Until, WaitsCapacity)
		}
	}, nil)
}

// send makes the attempt and records its result at the receiver. The attempt itself is recorded later: after a crash in
// between, it is made again, and the result at the receiver is the same.
func (a *attempt) send(ctx context.Context, s *task.Step, probe bool) (task.Outcome, error) {
	if late(ctx) {
		return task.Outcome{}, nil // our own end would cut it off: the next function makes it
	}
	request, err := a.sign(ctx)
	if err != nil {
		return task.Outcome{}, task.Again(err)
	}
	if err := s.LeaseFor(ctx, leaseTime, nil); err != nil {
		return task.Outcome{}, task.Again(err)
	}
	o, err := a.call(ctx, request)
	if err != nil {
		return task.Outcome{}, task.Again(err)
	}
	a.receiver.Note(ctx, o)
	return a.settle(a.record(o, probe), &o), nil
}

// late reports whether the function would time out before the receiver has used its time to answer.
func late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= AttemptTimeout
}

// sign returns the request of the attempt.
func (a *attempt) sign(ctx context.Context) (outgoing, error) {
	w, ref := a.receiver.Record(), event.RefOf(a.event)
	body, err := event.Body(ctx, a.event, a.Signer, w.Fields...)
	if err != nil {
		return outgoing{}, err
	}
	keys, err := w.Secrets.Keys(ctx, a.Envelope, a.delivery.Webhook(), a.Now())
	return outgoing{ref.ID, ref.Type, body, keys, w.ID, ref.Request}, err
}

// call sends the request. It returns an error only for a failure of this service.
func (a *attempt) call(ctx context.Context, request outgoing) (Outcome, error) {
	w := a.receiver.Record()
	ended := a.receiver.Watch(ctx, a.Name())
	o, err := a.destination(&w.Webhook).send(ctx, request)
	ended()
	begun := cmp.Or(a.delivery.RestartedAt, &a.delivery.CreatedAt)
	o.Age = a.Now().Sub(begun.Time)
	if err == nil {
		err = ctx.Err() // our time was over, not the receiver's
	}
	return o, err
}

// record returns the change of the delivery by an attempt. Its times are chosen once, so that the change is the same
// when it is made again.
func (a *attempt) record(o Outcome, probe bool) func(*DeliveryRecord) {
	now, chance := a.Now(), a.Chance()
	return func(r *DeliveryRecord) {
		if probe && o.Unanswered() {
			r.RecordProbe(o, now)
			return
		}
		r.Record(o, now, Wait(r.Failures, o.RetryAfter, chance))
	}
}

// settle returns the outcome that changes the delivery, after an attempt if o is not nil. If a caller has changed the
// delivery since it was read, the change is made again on the new state, which decides when the task goes on.
func (a *attempt) settle(change func(*DeliveryRecord), o *Outcome) task.Outcome {
	item, fresh := a.item, true
	settled := a.delivery
	out := task.Outcome{
		Join: func(ctx context.Context, tx *store.Tx) (err error) {
			if !fresh {
				if item, settled, err = a.reread(ctx); err != nil || settled.State != DeliveryPending {
					return err
				}
			}
			fresh = false
			change(&settled)
			if err := settled.WriteTo(&item); err != nil {
				return task.Permanent(err)
			}
			tx.Replace(item)
			return nil
		},
		Due: func() (time.Time, bool) {
			if !settled.Scheduled() { // it has ended, or is held back
				return time.Time{}, false
			}
			return settled.NextAttemptAt.Time, true
		},
		OnCommit: func(context.Context) { a.report(&settled, o) },
	}
	if o != nil && o.Succeeded() {
		out.Undo = func(ctx context.Context, _ *task.Task) { a.succeedLate(ctx, o) }
	}
	return out
}

// reread reads the delivery again. It has no state if it does not exist any more.
func (a *attempt) reread(ctx context.Context) (it store.Item, d DeliveryRecord, err error) {
	if it, err = a.DB.Lookup(ctx, a.item.Key); err == nil && it.PK != "" {
		d, err = ReadDelivery(&it)
	}
	return it, d, err
}

// The pauses between tries while the table fails.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// persist repeats a function that fails until the context ends. The message stays invisible in the queue until then.
func persist(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil {
			return nil
		}
		if over := backoff.Wait(ctx, try, firstPause, longestPause); over != nil {
			return errors.Join(over, err)
		}
	}
}

// succeedLate ends the delivery although another function has taken over the attempt, because the receiver has the
// event. A late failure is ignored: the other function makes its own attempt.
func (a *attempt) succeedLate(ctx context.Context, o *Outcome) {
	var ended *DeliveryRecord
	err := persist(ctx, func() (err error) {
		ended, err = a.endLate(ctx, o)
		return err
	})
	switch {
	case err != nil: // the attempt is made again
		slog.Error("success of a delivery not recorded", "delivery", a.delivery.ID, "error", err)
	case ended != nil:
		a.report(ended, o)
	}
}

// endLate ends the delivery, and its task if it has one, in one transaction. It returns nil if they have ended already.
func (a *attempt) endLate(ctx context.Context, o *Outcome) (*DeliveryRecord, error) {
	it, d, err := a.reread(ctx)
	if err != nil || d.State != DeliveryPending {
		return nil, err
	}
	tx := &store.Tx{}
	if d.Scheduled() {
		work, err := a.DB.Get(ctx, d.Task())
		if err == nil {
			err = task.Cancel(tx, work)
		}
		if err != nil {
			return nil, err
		}
	}
	d.Record(*o, a.Now(), 0)
	if err := d.WriteTo(&it); err != nil {
		return nil, err
	}
	tx.Replace(it)
	return &d, a.DB.Commit(ctx, tx)
}
