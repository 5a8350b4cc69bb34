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
	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// Bounds of the calls to the table at the same time.
const (
	maxReads  = 10
	maxWrites = 16
)

// Dispatcher makes the deliveries of events. For each batch it finds the webhooks that want the events, leaves out
// those whose makers may not read them, and writes the deliveries, whose tasks make the attempts.
type Dispatcher struct {
	db  *store.DB
	now func() time.Time
}

// NewDispatcher returns a dispatcher that writes to db.
func NewDispatcher(db *store.DB, now func() time.Time) *Dispatcher { return &Dispatcher{db, now} }

// fanOut is an event for one webhook.
type fanOut struct {
	source   int // place of the event in the batch
	ref      event.Ref
	to       *WebhookRecord
	heldBack bool // whether the circuit breaker of the webhook is open
	err      error
}

// Handle handles a batch of events from the bus: Dispatch as the handler of a queue whose messages nothing holds.
func (d *Dispatcher) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	return queue.Response(batch.Records, d.Dispatch(ctx, batch.Records)), nil
}

// Dispatch makes a delivery of each event for each webhook that wants it. It returns at the
// place of each event its error or nil.
func (d *Dispatcher) Dispatch(ctx context.Context, batch []events.SQSMessage) []error {
	failed := make([]error, len(batch))
	refs := make([]event.Ref, len(batch))
	owners := map[tenant.Owner][]int{}
	for i, m := range batch {
		if refs[i], failed[i] = parseEvent(m.Body); failed[i] == nil {
			of := refs[i].Of("") // the webhooks of all profiles are in one list
			owners[of] = append(owners[of], i)
		}
	}
	all := d.match(ctx, refs, owners, failed)
	d.create(ctx, all)
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
		return event.Ref{}, fmt.Errorf("webhook: parse event of the bus: %w", err)
	}
	ref := envelope.Detail
	if !id.Valid(id.Event, ref.ID) || ref.Type == "" || ref.Account == "" || ref.Mode == "" {
		return ref, fmt.Errorf("webhook: the event %q of the bus is incomplete", ref.ID)
	}
	return ref, nil
}

// match finds the webhooks that want the events and whose makers may read them: for each owner one consistent query, so
// that no webhook that was there is missed, and one read of the makers.
func (d *Dispatcher) match(ctx context.Context, refs []event.Ref, owners map[tenant.Owner][]int,
	failed []error) []*fanOut {
	var (
		mu  sync.Mutex
		all []*fanOut
	)
	which := slices.SortedFunc(maps.Keys(owners), tenant.Owner.Compare)
	concurrently(len(which), maxReads, func(n int) {
		var wanted []*fanOut
		hooks, err := d.webhooks(ctx, which[n])
		for _, i := range owners[which[n]] {
			for _, w := range hooks {
				if w.gets(refs[i]) {
					wanted = append(wanted, &fanOut{source: i, ref: refs[i], to: w})
				}
			}
		}
		if err == nil {
			wanted, err = d.permitted(ctx, wanted)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, i := range owners[which[n]] {
			failed[i] = err
		}
		if err == nil {
			all = append(all, wanted...)
		}
	})
	return all
}

// permitted returns the entries whose events the makers of their webhooks may read, and notes which of them are held
// back by a circuit breaker. It reads the breakers of failing webhooks only: those of others are closed.
func (d *Dispatcher) permitted(ctx context.Context, wanted []*fanOut) ([]*fanOut, error) {
	there := map[string]store.Item{} // makers and breakers, by their ids
	var keys []store.Key
	read := func(id string, key store.Key) {
		if _, known := there[id]; !known {
			there[id] = store.Item{}
			keys = append(keys, key)
		}
	}
	for _, f := range wanted {
		read(f.to.CreatedBy, MakerKey(f.ref.Account, f.to.CreatedBy))
		if f.to.FailingSince != nil {
			read(f.to.ID, breakerKey(Ref{Owner: f.ref.Owner, ID: f.to.ID}))
		}
	}
	items, err := d.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		there[it.SK] = it
	}
	now := d.now()
	return slices.DeleteFunc(wanted, func(f *fanOut) bool {
		reader, broken := f.to.Reader(there[f.to.CreatedBy])
		held, unreadable := holds(f.to, there[f.to.ID], now)
		f.heldBack, err = held, errors.Join(err, broken, unreadable)
		return !reader.May(f.ref.Type)
	}), err
}

// webhooks reads the webhooks of an owner.
func (d *Dispatcher) webhooks(ctx context.Context, o tenant.Owner) ([]*WebhookRecord, error) {
	var all []*WebhookRecord
	q := store.Query{Index: store.Table, Partition: List(o), Limit: PerRead}
	err := d.db.Each(ctx, q, func(it store.Item) error {
		w := &WebhookRecord{}
		if err := it.Decode(w); err != nil {
			return err
		}
		all = append(all, w)
		return nil
	})
	return all, err
}

// create writes the deliveries, each with its task in a transaction of its own. After a crash, some of them exist
// already: then it makes the others.
func (d *Dispatcher) create(ctx context.Context, all []*fanOut) {
	concurrently(len(all), maxWrites, func(i int) { all[i].err = d.createOne(ctx, all[i]) })
}

// createOne writes a delivery, and its task unless it is held back, if they do not exist.
func (d *Dispatcher) createOne(ctx context.Context, f *fanOut) error {
	at, _ := id.Time(f.ref.ID) // parseEvent has checked the id
	now, tx := d.now(), &store.Tx{}
	made := NewDelivery(now, at, f.ref, &f.to.Webhook)
	if f.heldBack {
		made.Hold(now)
	}
	if err := made.CreateIn(tx, now); err != nil {
		return err
	}
	err := d.db.Commit(ctx, tx)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// concurrently calls f for each number below n, at most limit at a time.
func concurrently(n, limit int, f func(i int)) {
	var group errgroup.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = group.Wait() // f returns no errors
}

// replayPage is the number of events in one step.
const replayPage = 100

// Replayer carries out replays.
type Replayer struct{ *Dispatcher }

// Replay replays a page of events. A step that is taken twice finds the deliveries of the first time, and makes those
// that are missing. It is tried until the task's deadline.
func (r Replayer) Replay(ctx context.Context, s *task.Run) error {
	var replay EndpointReplay
	if err := errors.Join(s.Decode(&replay), s.Recall("after", &replay.Cursor)); err != nil {
		return task.Permanent(err)
	}
	if s.Cause() != nil {
		return nil
	}
	next, err := r.page(ctx, Ref{Owner: s.Owner, ID: s.Subject}, replay)
	if err != nil || next == nil {
		return task.Again(err)
	}
	return errors.Join(s.Keep("after", next), s.Sleep(0))
}

// page replays a page of events and returns the cursor of the next one, or nil after the
// last. A webhook that is deleted or disabled gets no more events.
func (r Replayer) page(ctx context.Context, to Ref, replay EndpointReplay) (*store.Cursor, error) {
	it, err := r.db.Lookup(ctx, to.Key())
	var w WebhookRecord
	if err == nil && it.PK != "" {
		err = it.Decode(&w)
	}
	if err != nil || w.State != StateEnabled {
		return nil, err
	}
	page, err := r.db.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(to.Owner, event.Kind),
		From: replay.From, To: replay.To, Limit: replayPage, After: replay.Cursor, OldestFirst: true,
	})
	if err != nil {
		return nil, err
	}
	return page.Next, r.deliverMissing(ctx, &w, to, page.Items)
}

// deliverMissing makes the deliveries of those events that were never delivered to the
// webhook, and that its maker may read.
func (r Replayer) deliverMissing(ctx context.Context, w *WebhookRecord, to Ref, items []store.Item) error {
	var all []*fanOut
	keys := []store.Key{MakerKey(to.Account, w.CreatedBy), breakerKey(to)}
	for _, it := range items {
		ref := event.RefOf(it)
		if at, ok := id.Time(ref.ID); ok && w.Wants(ref) {
			all = append(all, &fanOut{ref: ref, to: w})
			keys = append(keys, to.DeliveryKey(DeliveryID(at, ref.ID, to.ID)))
		}
	}
	there, err := r.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	reader, err := w.Reader(there[0])
	if err != nil {
		return err
	}
	held, err := holds(w, there[1], r.now())
	if err != nil {
		return err
	}
	var missing []*fanOut
	for i, f := range all {
		made := there[i+2]
		f.heldBack = held
		switch {
		case !reader.May(f.ref.Type):
			continue
		case made.Kind == "":
			missing = append(missing, f)
			continue
		}
		if err := r.restart(ctx, made); err != nil {
			return err
		}
	}
	r.create(ctx, missing)
	failed := make([]error, len(missing))
	for i, f := range missing {
		failed[i] = f.err
	}
	return errors.Join(failed...)
}

// restart restarts the schedule of a delivery that has failed, has neither a task nor is held back, or waits for its
// next attempt after a failed one: that attempt is made now instead.
func (r Replayer) restart(ctx context.Context, it store.Item) error {
	d, err := ReadDelivery(&it)
	if err != nil || d.State == DeliveryDelivered || d.Held() || d.Scheduled() && !d.retries() {
		return err
	}
	tx := &store.Tx{}
	if err := d.RestartIn(tx, it, r.now(), false); err != nil {
		return err
	}
	if err := r.db.Commit(ctx, tx); err != nil {
		return fmt.Errorf("webhook: restart delivery %s: %w", d.ID, err)
	}
	return nil
}
