package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/topology"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// replayPage is how many events one message looks at.
const replayPage = 100

// Replayer handles the messages of the queue of dispatch: it carries out replays
// itself, and passes everything else to the dispatcher.
type Replayer struct {
	dispatcher *Dispatcher
	queue      queue.Sender
	holder     *queue.Holder
}

// NewReplayer returns a replayer that handles the messages of q.
func NewReplayer(d *Dispatcher, q queue.Queue, heartbeat queue.Heartbeat) *Replayer {
	return &Replayer{d, q, queue.NewHolder(q, heartbeat)}
}

// Handle handles a batch of messages.
func (r *Replayer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	held := r.holder.Hold(ctx, batch.Records)
	failed := make([]error, len(batch.Records))
	var others []events.SQSMessage
	var at []int
	for i, m := range batch.Records {
		replay, ok := parseReplay(m.Body)
		if !ok {
			others, at = append(others, m), append(at, i)
			continue
		}
		if failed[i] = r.page(ctx, replay); failed[i] != nil {
			slog.Error("page not replayed", "webhook_id", replay.Subject, "message_id", m.MessageId, "error", failed[i])
		}
	}
	for i, err := range r.dispatcher.dispatch(ctx, others) {
		failed[at[i]] = err
	}
	held.End(ctx, failed)
	return queue.Response(batch.Records, failed), nil
}

func parseReplay(body string) (hook.Replay, bool) {
	var m hook.Replay
	err := json.Unmarshal([]byte(body), &m)
	return m, err == nil && m.Queue == topology.Dispatch && m.Subject != "" && m.From != "" && m.To != ""
}

// page replays some events and asks for the next page. A page that comes twice finds
// what the first one has done, and does what is left.
func (r *Replayer) page(ctx context.Context, m hook.Replay) error {
	d := r.dispatcher
	it, err := d.db.Get(ctx, hook.Ref{Owner: m.Owner, ID: m.Subject}.Key())
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	var w hook.Record
	if err == nil {
		err = it.Decode(&w)
	}
	if err != nil {
		return err
	}
	if w.State != hook.StateEnabled {
		return nil
	}
	page, err := d.db.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(m.Owner, event.Kind),
		From: m.From, To: m.To, Limit: replayPage, After: m.After, OldestFirst: true,
	})
	if err != nil {
		return err
	}
	if err := d.deliverMissing(ctx, &w, page.Items); err != nil {
		return err
	}
	if page.Next == nil {
		return nil
	}
	m.After = page.Next
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return r.queue.Send(ctx, queue.Message{Body: string(body), Group: string(m.Account)})[0]
}

// deliverMissing makes the deliveries of those events that were never delivered to the
// webhook.
func (d *Dispatcher) deliverMissing(ctx context.Context, w *hook.Record, items []store.Item) error {
	var all []*fanOut
	var keys []store.Key
	for _, it := range items {
		ref := event.RefOf(it)
		if at, ok := id.Time(ref.ID); ok && w.Wants(ref) {
			to := hook.Ref{Owner: ref.Owner, ID: w.ID}
			all = append(all, &fanOut{ref: ref, to: to})
			keys = append(keys, to.DeliveryKey(hook.DeliveryID(at, ref.ID, w.ID)))
		}
	}
	there, err := d.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	var missing, again []*fanOut
	for i, f := range all {
		switch {
		case there[i].Kind == "":
			missing = append(missing, f)
		case there[i].Filters[hook.StateFilter] == hook.DeliveryFailed:
			if f.ask, f.err = d.restart(ctx, there[i]); f.err != nil {
				return f.err
			}
			again = append(again, f)
		}
	}
	d.create(ctx, missing)
	all = append(missing, again...)
	d.send(ctx, all)
	failed := make([]error, len(all))
	for i, f := range all {
		failed[i] = f.err
	}
	return errors.Join(failed...)
}

// restart begins a delivery's schedule anew.
func (d *Dispatcher) restart(ctx context.Context, it store.Item) (*hook.Ask, error) {
	old, err := hook.ReadDelivery(&it)
	if err != nil {
		return nil, err
	}
	old.Restart(d.now())
	if err := d.db.UpdateAll(ctx, old.Update())[0]; err != nil {
		return nil, fmt.Errorf("webhook: restart delivery %s: %w", old.ID, err)
	}
	old.Stored++
	ask := old.Ask(time.Time{})
	return &ask, nil
}
