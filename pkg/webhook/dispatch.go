package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
)

// What dispatch has under way at a time at most.
const (
	maxReads  = 10
	maxWrites = 16
)

// Dispatcher makes the deliveries of events.
type Dispatcher struct {
	db    *store.DB
	queue queue.Sender
	now   func() time.Time
}

// NewDispatcher makes a dispatcher that sends to the given queue.
func NewDispatcher(db *store.DB, q queue.Sender, now func() time.Time) *Dispatcher {
	return &Dispatcher{db, q, now}
}

// fanOut is one event on its way to one webhook.
type fanOut struct {
	source  int // place of the event in the batch
	ref     event.Ref
	webhook string
	since   time.Time // from when on the webhook gets events
	// turn is what is to be asked for; nil where nothing is needed any more.
	turn *turn
	err  error
}

// Handle takes a batch of events from the bus.
func (d *Dispatcher) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	return response(batch.Records, d.dispatch(ctx, batch.Records)), nil
}

// dispatch gives each event a delivery for each webhook that wants it, first in the
// table and then in the queue. A crash in between leaves a delivery without a
// message; the event then comes again, finds the delivery untouched, and sends the
// message. It gives at the place of each event its error or nil.
func (d *Dispatcher) dispatch(ctx context.Context, batch []events.SQSMessage) []error {
	failed := make([]error, len(batch))
	refs := make([]event.Ref, len(batch))
	owners := map[owner][]int{}
	for i, m := range batch {
		if refs[i], failed[i] = parseEvent(m.Body); failed[i] == nil {
			o := owner{refs[i].Owner}
			owners[o] = append(owners[o], i)
		}
	}
	all := d.match(ctx, refs, owners, failed)
	d.create(ctx, all)
	d.send(ctx, all)
	for _, f := range all {
		failed[f.source] = errors.Join(failed[f.source], f.err)
	}
	for i, err := range failed {
		if err != nil {
			slog.Error("event not dispatched", "event", refs[i].ID, "message_id", batch[i].MessageId, "error", err)
		}
	}
	return failed
}

// parseEvent reads the reference that the relay put into an event of the bus.
func parseEvent(body string) (event.Ref, error) {
	var envelope struct {
		Detail event.Ref `json:"detail"`
	}
	if err := json.Unmarshal([]byte(body), &envelope); err != nil {
		return event.Ref{}, fmt.Errorf("webhook: not an event of the bus: %w", err)
	}
	ref := envelope.Detail
	if !id.Valid(id.Event, ref.ID) || ref.Type == "" || ref.Account == "" || ref.Mode == "" {
		return ref, fmt.Errorf("webhook: the event %q of the bus is incomplete", ref.ID)
	}
	return ref, nil
}

// match finds the webhooks that want the events: one query for each account and
// mode, consistent, so that no webhook that was there is missed.
func (d *Dispatcher) match(ctx context.Context, refs []event.Ref, owners map[owner][]int, failed []error) []*fanOut {
	var (
		mu  sync.Mutex
		all []*fanOut
	)
	which := slices.Collect(maps.Keys(owners))
	concurrently(len(which), maxReads, func(n int) {
		hooks, err := d.webhooks(ctx, which[n])
		mu.Lock()
		defer mu.Unlock()
		for _, i := range owners[which[n]] {
			failed[i] = err
			for _, w := range hooks {
				if w.State == stateEnabled && w.wants(refs[i]) {
					all = append(all, &fanOut{source: i, ref: refs[i], webhook: w.ID, since: w.since()})
				}
			}
		}
	})
	return all
}

func (d *Dispatcher) webhooks(ctx context.Context, o owner) ([]record, error) {
	var all []record
	q := store.Query{Index: store.Table, Partition: o.webhooks(), Limit: maxWebhooks}
	err := d.db.Each(ctx, q, func(it store.Item) error {
		var w record
		if err := it.Decode(&w); err != nil {
			return err
		}
		all = append(all, w)
		return nil
	})
	return all, err
}

// create writes the deliveries, each for itself: where some of them are there
// already, as after a crash, the others are still made.
func (d *Dispatcher) create(ctx context.Context, all []*fanOut) {
	concurrently(len(all), maxWrites, func(i int) {
		all[i].turn, all[i].err = d.createOne(ctx, all[i].ref, all[i].webhook)
	})
}

// createOne writes a delivery and gives the turn to ask for, or nil where a
// delivery that was there has been attempted already.
func (d *Dispatcher) createOne(ctx context.Context, ref event.Ref, webhookID string) (*turn, error) {
	at, _ := id.Time(ref.ID) // parseEvent has checked the id
	now := d.now()
	made, it, err := newDelivery(now, at, ref, webhookID)
	if err != nil {
		return nil, err
	}
	tx := &store.Tx{}
	tx.CreateExpiring(it, now.Unix(), nil)
	err = d.db.Commit(ctx, tx)
	it.Version++
	if errors.Is(err, store.ErrConflict) {
		if it, err = d.db.Get(ctx, it.Key); err == nil {
			made, err = readDelivery(&it)
		}
		if err == nil && !made.untouched() {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	t := made.turn(it.Version)
	return &t, nil
}

// untouched tells whether no attempt was begun.
func (d *delivery) untouched() bool {
	return d.State == statePending && d.Next == 1 && d.Claim == nil
}

// send asks for the first attempts at all deliveries.
func (d *Dispatcher) send(ctx context.Context, all []*fanOut) {
	var of []*fanOut
	var to []bound
	var turns []turn
	for _, f := range all {
		if f.err == nil && f.turn != nil {
			of, to, turns = append(of, f), append(to, bound{owner{f.ref.Owner}, f.webhook}), append(turns, *f.turn)
		}
	}
	for i, err := range together(ctx, d.queue, d.now(), time.Time{}, to, turns) {
		of[i].err = err
	}
}
