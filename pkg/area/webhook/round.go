package webhook

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/content-automation/api/pkg/base/lock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// round is the result of attempts at held deliveries that were made at the same time.
type round struct {
	// sent, slow and failed count the attempts, those that took long and those without success.
	sent, slow, failed int
	// last is the id of the last delivery that was dealt with.
	last string
}

// held is a held delivery during a round.
type held struct {
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
func (t Timer) load(ctx context.Context, r *Receiver, items []store.Item) ([]*held, error) {
	var all []*held
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
		all = append(all, &held{notes: r,
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
func (h *held) deliver(ctx context.Context, probe bool) error {
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
	return h.conclude(ctx, h.recorded(o, probe), &o)
}

// done counts the delivery, and its attempt if one was made.
func (h *held) done(o *Outcome) {
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
func (h *held) conclude(ctx context.Context, change func(*DeliveryRecord), o *Outcome) error {
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
