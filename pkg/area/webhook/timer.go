package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// TimerKind is the kind of the tasks that probe the receiver of a webhook, their subject, and send what its circuit
// breaker has held back. A breaker has one such task.
const TimerKind task.Kind = "return-deliveries"

// MostASecond bounds the deliveries that are sent in a second after an outage: each writes its item, and all items of a
// webhook share a partition.
const MostASecond = 100

// pace is the time between two rounds of deliveries.
const pace = time.Second

// settling are the waits between the last looks for held deliveries. A function that has read the circuit breaker
// before it closed may hold an event back after that: together they are longer than a function lives
// and the index lags.
var settling = []time.Duration{5 * time.Second, 20 * time.Second, 40 * time.Second}

// Return is the payload of such a task.
type Return struct {
	// Rate is the number of deliveries of the next round.
	Rate int `json:"rate,omitempty"`
	// After is the id of the last delivery of the round before.
	After string `json:"after,omitempty"`
	// Probes counts the probes.
	Probes int `json:"probes,omitempty"`
	// Looks counts the looks in a row that found no held delivery.
	Looks int `json:"looks,omitempty"`
}

// next returns the state after a round with the given result.
func (p *Return) next(did round) {
	switch {
	case did.failed > 0:
		p.Rate = max(1, p.Rate/2)
	case did.slow > 0:
		p.Rate = max(1, min(p.Rate, SlowLimit))
	case did.sent >= p.Rate:
		p.Rate = min(2*p.Rate, MostASecond)
	}
}

func newTimer(ref Ref) string { return task.ID(TimerKind, ref.ID, 0) + "#" + rand.Text() }

// timerMessage returns a message to a timer. Only the function of the queue for slow receivers may be kept waiting, and
// only the other one may assume roles in AWS, where nothing hangs.
func timerMessage(ref Ref, w *WebhookRecord, id string) task.Message {
	q := topology.DeliverSlow
	if w.Destination != nil {
		q = topology.Deliver
	}
	return task.Message{ID: id, Kind: TimerKind, Queue: q, Subject: ref.ID, Owner: ref.Owner, Group: ref.ID}
}

// wakeTimer adds a message to the transaction that has the timer of a webhook, if it has one, take its next step now.
func (s *Service) wakeTimer(ctx context.Context, tx *store.Tx, w *WebhookRecord) error {
	to := refOf(ctx, w.ID)
	it, err := s.db.Lookup(ctx, breakerKey(to))
	var b breaker
	if err == nil && it.Kind != "" {
		err = it.Decode(&b)
	}
	if err != nil || b.Timer == "" {
		return err
	}
	return task.Wake(tx, s.now(), timerMessage(to, w, b.Timer))
}

// Timer is the handler of the tasks of open circuit breakers. Each step makes a probe, or sends a round of deliveries.
type Timer struct{ *Deliverer }

var _ task.Handler = Timer{}

// Step probes the receiver if it is down, and otherwise sends the next round of what was held back.
func (t Timer) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	var p Return
	if err := s.Decode(&p); err != nil {
		return task.Outcome{}, task.Permanent(err)
	}
	if late(ctx) {
		return task.Outcome{}, nil
	}
	to := Ref{Owner: s.Owner, ID: s.Subject}
	items, err := t.DB.GetAll(ctx, HealthKeys(to)...)
	if err != nil {
		return task.Outcome{}, task.Again(err)
	}
	r, err := t.monitor.Receiver(to, items)
	if err != nil {
		return task.Outcome{}, task.Again(err)
	}
	r.timer = s.ID
	o, enabled := task.Outcome{Payload: &p}, r.record.State == StateEnabled
	switch {
	case r.breaker.Timer != "" && r.breaker.Timer != s.ID:
		o.Done = true // the breaker has expired, and another one has opened
	case enabled && r.breaker.open(&r.record):
		o.Wait, err = t.probe(ctx, s, r, &p)
	case enabled && r.inFlight.full():
		o.Wait = r.pause().Sub(t.Now())
	default:
		var over bool
		if o.Wait, over, err = t.advance(ctx, s, r, &p); over {
			t.end(r, &o)
		}
	}
	if err != nil {
		return task.Outcome{Payload: &p}, task.Again(err)
	}
	return o, nil
}

// probe probes a receiver that is down with the oldest delivery of one partition, each time of another one: an event
// that the receiver never answers must not keep it down. It returns how long to wait then. Without a held delivery, the
// next event makes the probe.
func (t Timer) probe(ctx context.Context, s *task.Step, r *Receiver, p *Return) (time.Duration, error) {
	p.Looks = 0
	now := t.Now()
	if r.breaker.holds(&r.record, now) {
		return r.breaker.ProbeAt.Sub(now), nil
	}
	oldest, err := t.oldest(ctx, r.ref, p.Probes)
	if err != nil || oldest.Kind == "" {
		return r.breaker.probed(now, t.Chance()).ProbeAt.Sub(now), err
	}
	admission, err := r.Admit(ctx, false)
	if err != nil || admission.Held || !admission.Until.IsZero() {
		return pace, err
	}
	p.Probes++
	p.Rate, p.After = 1, ""
	if _, err := t.send(ctx, s, r, []store.Item{oldest}, admission.Probe); err != nil {
		return 0, err
	}
	if now = t.Now(); r.breaker.holds(&r.record, now) {
		return r.breaker.ProbeAt.Sub(now), nil
	}
	return 0, nil
}

// oldest returns the oldest held delivery of a partition, or of the next one that has any.
func (t Timer) oldest(ctx context.Context, ref Ref, first int) (none store.Item, err error) {
	for i := range HeldShards {
		page, err := t.DB.List(ctx, store.Query{Index: store.ByDue, Partition: ref.heldIn((first + i) % HeldShards),
			OldestFirst: true, Limit: 5})
		if err != nil {
			return none, err
		}
		for _, it := range page.Items {
			if d, err := ReadDelivery(&it); err != nil || d.Held() {
				return it, err
			}
		}
	}
	return none, nil
}

// advance sends the next round, oldest first. It returns how long to wait then, or that nothing is left.
func (t Timer) advance(ctx context.Context, s *task.Step, r *Receiver, p *Return) (wait time.Duration, over bool,
	err error) {
	began := t.Now()
	p.Rate = max(1, p.Rate)
	limit := p.Rate
	if r.record.State != StateEnabled {
		limit = MostASecond // they fail without an attempt
	}
	q := store.Query{Index: store.ByDue, Limit: limit}
	if p.After != "" {
		q.From = p.After + "~"
	}
	items, err := t.DB.Merge(q, r.ref.Held()).Next(ctx)
	switch {
	case err != nil:
		return 0, false, err
	case len(items) == 0 && p.After != "":
		p.After = "" // once more from the beginning: older events may have been held back meanwhile
		return 0, false, nil
	case len(items) == 0 && p.Looks == len(settling):
		return 0, true, nil
	case len(items) == 0:
		p.Looks++
		return settling[p.Looks-1], false, nil
	}
	did, err := t.send(ctx, s, r, items, false)
	p.next(did)
	if did.last != "" {
		p.After, p.Looks = did.last, 0
	}
	if err != nil {
		return 0, false, err
	}
	if r.record.State != StateEnabled {
		return 0, false, nil
	}
	return max(0, pace-t.Now().Sub(began)), false, nil
}

// end ends the timer with its breaker, unless that has opened again.
func (t Timer) end(r *Receiver, o *task.Outcome) {
	var opened *time.Time
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		items, err := t.DB.GetAll(ctx, HealthKeys(r.ref)...)
		if err != nil {
			return err
		}
		if err := errors.Join(r.read(items[0]), r.readBreaker(items[1])); err != nil {
			return task.Permanent(err)
		}
		opened = nil
		switch b := r.breaker; {
		case b.Timer != r.timer:
		case b.ProbeAt != nil && r.record.State == StateEnabled:
			opened = b.ProbeAt
		default:
			tx.Delete(r.breakerItem)
		}
		return nil
	}
	o.Due = func() (time.Time, bool) {
		if opened == nil {
			return time.Time{}, false
		}
		return *opened, true
	}
}
