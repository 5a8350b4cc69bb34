package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/lock"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
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
	// AfterID is the id of the last delivery of the round before.
	AfterID string `json:"after,omitempty"`
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
		return r.breaker.duringProbe(now, t.Chance()).ProbeAt.Sub(now), err
	}
	admission, err := r.Admit(ctx, false)
	if err != nil || admission.HeldBack || !admission.Until.IsZero() {
		return pace, err
	}
	p.Probes++
	p.Rate, p.AfterID = 1, ""
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
	if p.AfterID != "" {
		q.From = p.AfterID + "~"
	}
	items, err := t.DB.Merge(q, r.ref.HeldPartitions()).Next(ctx)
	switch {
	case err != nil:
		return 0, false, err
	case len(items) == 0 && p.AfterID != "":
		p.AfterID = "" // once more from the beginning: older events may have been held back meanwhile
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
		p.AfterID, p.Looks = did.last, 0
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

// round is the result of attempts at held deliveries that were made at the same time.
type round struct {
	// sent, slow and failed count the attempts, those that took long and those without success.
	sent, slow, failed int
	// last is the id of the last delivery that was dealt with.
	last string
}

// heldDelivery is a held delivery during a round.
type heldDelivery struct {
	attempt
	notes *Receiver // takes the outcomes of all
	mu    *lock.Mutex
	did   *round
}

// send makes attempts at held deliveries, whose items were read, at most SlowLimit at a time. It holds the step's lease
// meanwhile, so that a message that comes twice makes one request. After a crash, what was sent and not written is sent
// again.
func (t Timer) send(ctx context.Context, s *task.Step, r *Receiver, items []store.Item, probe bool) (did round,
	err error) {
	all, err := t.load(ctx, r, items)
	if err != nil || len(all) == 0 {
		return did, err
	}
	if err := s.LeaseFor(ctx, leaseTime, nil); err != nil {
		return did, err
	}
	var mu lock.Mutex
	failed := make([]error, len(all))
	concurrently(len(all), SlowLimit, func(i int) {
		h := all[i]
		h.mu, h.did = &mu, &did
		if failed[i] = h.deliver(ctx, probe); failed[i] != nil {
			h.done(nil)
			slog.Error("held delivery not sent", "delivery", h.delivery.ID, "error", failed[i])
		}
	})
	if slices.Contains(failed, nil) {
		return did, nil // the next look finds the others
	}
	return did, errors.Join(failed...)
}

// load reads what the attempts need in one round trip. It leaves out the deliveries that are held no longer.
func (t Timer) load(ctx context.Context, r *Receiver, items []store.Item) ([]*heldDelivery, error) {
	var all []*heldDelivery
	var keys []store.Key
	for _, it := range items {
		d, err := ReadDelivery(&it)
		if err != nil {
			return nil, err
		}
		if !d.Held() {
			continue
		}
		seen := *r // an attempt reads it while the outcome of another one is noted
		all = append(all, &heldDelivery{notes: r,
			attempt: attempt{Deliverer: t.Deliverer, item: it, delivery: d, receiver: &seen}})
		keys = append(keys, store.IDKey(d.EventID), MakerKey(d.Owner.Account, d.Maker))
	}
	there, err := t.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, h := range all {
		h.event = there[2*i]
		if h.reader, err = r.record.Reader(there[2*i+1]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// deliver makes the attempt, unless the time does not suffice, and writes its outcome.
func (h *heldDelivery) deliver(ctx context.Context, probe bool) error {
	now := h.Now()
	if reason := h.over(); reason != "" {
		h.done(nil)
		return h.conclude(ctx, func(r *DeliveryRecord) { r.Fail(reason, now) }, nil)
	}
	if late(ctx) {
		return nil // the next round makes it
	}
	request, err := h.sign(ctx)
	if err != nil {
		return err
	}
	o, err := h.call(ctx, request)
	if err != nil {
		return err
	}
	h.done(&o)
	h.mu.Lock()
	h.notes.Note(ctx, o)
	h.mu.Unlock()
	return h.conclude(ctx, h.record(o, probe), &o)
}

// done counts the delivery, and its attempt if one was made.
func (h *heldDelivery) done(o *Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did.last = max(h.did.last, h.delivery.ID)
	if o == nil {
		return
	}
	h.did.sent++
	if !o.Succeeded() {
		h.did.failed++
	}
	if o.LatencyMS >= SlowAfter.Milliseconds() {
		h.did.slow++
	}
}

// conclude writes the change of the delivery, with a task if more attempts follow. A caller may have begun a schedule
// meanwhile: then only a success counts.
func (h *heldDelivery) conclude(ctx context.Context, change func(*DeliveryRecord), o *Outcome) error {
	it, d := h.item, h.delivery
	again := false
	return persist(ctx, func() (err error) {
		if again {
			if it, d, err = h.reread(ctx); err != nil {
				return err
			}
		}
		again = true
		switch {
		case d.State != DeliveryPending:
			return nil
		case !d.Held():
			if o != nil && o.Succeeded() {
				h.succeedLate(ctx, o)
			}
			return nil
		}
		change(&d)
		tx := &store.Tx{}
		if d.Scheduled() {
			d.Schedules++
			err = d.begin(tx, h.Now())
		}
		if err := errors.Join(err, d.WriteTo(&it)); err != nil {
			slog.Error("held delivery not written", "delivery", d.ID, "error", err) // another try would not help
			return nil
		}
		tx.Replace(it)
		if err := h.DB.Commit(ctx, tx); err != nil {
			return err
		}
		h.report(&d, o)
		return nil
	})
}

// EventGrace is the age at which the missing deliveries of an event count as lost: longer than a function may take from
// naming an event to committing it, and longer than the way from there to the delivery usually takes.
const EventGrace = 3 * time.Minute

// firstLook is the period that the first sweep covers.
const firstLook = 24 * time.Hour

// sweepMargin is kept back of the function's time, to write the checkpoint.
const sweepMargin = 5 * time.Second

// checkpoint names how far the sweeps have come.
const checkpoint = "events"

// sweepPage is the number of items that are read and repaired together.
const sweepPage = 100

// Sweeper finds events without the deliveries that they should have, and makes those. It relies on the table alone.
// Sweepers may run at the same time: repairing an event twice has one effect.
type Sweeper struct {
	db         *store.DB
	dispatcher *Dispatcher
	now        func() time.Time
}

// NewSweeper returns a sweeper that reads and repairs db.
func NewSweeper(db *store.DB, now func() time.Time) *Sweeper {
	return &Sweeper{db, NewDispatcher(db, now), now}
}

// SweepResult counts the work of a sweep.
type SweepResult struct {
	// Events is the number of events read, and Made the number of deliveries that were missing.
	Events     int `json:"events"`
	Deliveries int `json:"made"`
	// Unfinished reports that the time did not suffice: the next sweep goes on.
	Unfinished bool `json:"unfinished"`
}

// Sweep looks at all events since the last sweep, in the order of their time, and makes the deliveries that are
// missing. After an event that failed it goes on, so that one cannot keep the others from being repaired, but the next
// sweep begins with it again. With atOnce it ignores the grace: an operator who knows that messages were lost need not
// wait for it.
func (s *Sweeper) Sweep(ctx context.Context, atOnce bool) (done SweepResult, err error) {
	work, now := ctx, s.now()
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		work, cancel = context.WithDeadline(ctx, deadline.Add(-sweepMargin))
		defer cancel()
	}
	m, err := task.ReadCheckpoint(work, s.db, checkpoint)
	if err != nil {
		return endSweep(work, done, err)
	}
	// Events up to here may still be on their way to the table.
	settled := id.First(id.Event, now.Add(-EventGrace))
	from, until := m.DoneUntil, settled
	if atOnce {
		until = id.First(id.Event, now.Add(time.Millisecond))
	}
	if from == "" {
		from = id.First(id.Event, now.Add(-firstLook))
	}
	if from >= until {
		return done, nil
	}
	if _, ok := id.Time(from); !ok {
		return done, fmt.Errorf("webhook: the sweep's checkpoint %q is not an id", from)
	}
	all := s.db.Merge(store.Query{Index: store.ByDue, From: from, To: until, Limit: sweepPage}, event.Partitions())
	var failed []error
	for {
		items, err := all.Next(work)
		if err != nil {
			return endSweep(work, done, errors.Join(append(failed, err)...))
		}
		if len(items) == 0 {
			break
		}
		made, err := s.repair(work, items)
		done.Deliveries += made
		if err != nil && work.Err() != nil {
			return endSweep(work, done, errors.Join(append(failed, err)...))
		}
		done.Events += len(items)
		if err != nil {
			failed = append(failed, err)
		}
		if len(failed) > 0 {
			continue
		}
		if err := m.Advance(ctx, min(items[len(items)-1].PK, settled)); err != nil {
			return overtaken(done, err)
		}
	}
	if len(failed) > 0 {
		return done, errors.Join(failed...)
	}
	return overtaken(done, m.Advance(ctx, min(until, settled)))
}

// repair makes the missing deliveries of events, and returns how many they were.
func (s *Sweeper) repair(ctx context.Context, items []store.Item) (made int, err error) {
	refs, failed := make([]event.Ref, len(items)), make([]error, len(items))
	at := make([]time.Time, len(items))
	owners := map[tenant.Owner][]int{}
	for i, it := range items {
		refs[i] = event.RefOf(it)
		at[i], _ = id.Time(it.PK) // event.New has made the id
		owners[it.Of("")] = append(owners[it.Of("")], i)
	}
	all := s.dispatcher.match(ctx, refs, owners, failed)
	// A webhook does not get the events from before it was made or enabled.
	all = slices.DeleteFunc(all, func(f *fanOut) bool { return at[f.source].Before(f.to.Since()) })
	keys := make([]store.Key, len(all))
	for i, f := range all {
		to := Ref{Owner: f.ref.Owner, ID: f.to.ID}
		keys[i] = to.DeliveryKey(DeliveryID(at[f.source], f.ref.ID, to.ID))
	}
	there, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return 0, errors.Join(append(failed, err)...)
	}
	var missing []*fanOut
	for i, f := range all {
		if there[i].Kind == "" {
			missing = append(missing, f)
		}
	}
	s.dispatcher.create(ctx, missing)
	for _, f := range missing {
		if f.err == nil {
			made++
			continue
		}
		failed = append(failed, fmt.Errorf("webhook: event %s not delivered to %s: %w", f.ref.ID, f.to.ID, f.err))
	}
	return made, errors.Join(failed...)
}

// endSweep ends a sweep. Running out of time is no error.
func endSweep(work context.Context, done SweepResult, err error) (SweepResult, error) {
	if work.Err() != nil {
		done.Unfinished = true
		return done, nil
	}
	return done, err
}

// overtaken ends a sweep whose checkpoint another sweeper has moved: that one does the rest.
func overtaken(done SweepResult, err error) (SweepResult, error) {
	if errors.Is(err, store.ErrConflict) {
		return done, nil
	}
	return done, err
}
