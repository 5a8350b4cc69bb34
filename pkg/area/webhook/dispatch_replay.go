package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// replayPage is the number of events in one step.
const replayPage = 100

// Replayer carries out replays.
type Replayer struct{ *Dispatcher }

// Replay replays a page of events. A step that is taken twice finds the deliveries of the first time, and makes those
// that are missing. It is tried until the task's deadline.
func (r Replayer) Replay(ctx context.Context, s *task.Run) error {
	var replay EndpointReplay
	if err := errors.Join(s.Decode(&replay), s.Kept("after", &replay.After)); err != nil {
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
		From: replay.From, To: replay.To, Limit: replayPage, After: replay.After, OldestFirst: true,
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
		f.held = held
		switch {
		case !reader.May(f.ref.Type):
			continue
		case made.Kind == "":
			missing = append(missing, f)
			continue
		}
		if err := r.again(ctx, made); err != nil {
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

// again restarts the schedule of a delivery that has failed, has neither a task nor is held back, or waits for its next
// attempt after a failed one: that attempt is made now instead.
func (r Replayer) again(ctx context.Context, it store.Item) error {
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
