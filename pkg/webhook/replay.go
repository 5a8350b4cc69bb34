package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
)

// Replay is a request to fill what a webhook has missed.
type Replay struct {
	WebhookID string    `json:"webhook_id" doc:"The webhook"`
	Since     time.Time `json:"since" doc:"Events from here on are looked at"`
	Until     time.Time `json:"until" doc:"Events up to here are: the time of the call"`
}

// SchemaName names the schema in the OpenAPI document.
func (Replay) SchemaName() string { return "WebhookReplay" }

type replayBody struct {
	Since time.Time `json:"since" doc:"From when on (RFC 3339), at most 30 days ago" example:"2026-05-01T00:00:00Z"`
}

// SchemaName names the schema in the OpenAPI document.
func (replayBody) SchemaName() string { return "WebhookReplayCreate" }

type replayInput struct {
	Path
	Body replayBody
}

// registerReplay puts the operation into the router.
func (s *Service) registerReplay(r *httpapi.Router, op func(id, method, path, summary, description string) httpapi.Op) {
	replay := op("replayEvents", http.MethodPost, "/v1/webhooks/{webhook_id}/replay", "Fill what a webhook has missed",
		"In the background, every event since the given time that the webhook asks for and that was never delivered to it is delivered: those whose delivery failed, with the whole schedule of retries, and those that happened before there was the webhook. What was delivered, or waits for its next attempt, is left alone.")
	replay.Status = http.StatusAccepted
	replay.Errors = []errs.Code{errs.InvalidState}
	replay.Example = map[string]any{"since": "2026-05-01T00:00:00Z"}
	httpapi.Write(r, replay, s.replay)
}

func (s *Service) replay(ctx context.Context, in *replayInput) (httpapi.Change[Replay], error) {
	none := httpapi.Change[Replay]{}
	w, _, err := s.find(ctx, in.ID)
	if err != nil {
		return none, err
	}
	now, since, o := s.now(), resource.Instant(in.Body.Since), callerOf(ctx)
	switch {
	case !since.Before(now):
		return none, errs.Invalid("/since", "must lie in the past")
	case since.Before(now.Add(-keepDeliveries)):
		return none, errs.Invalid("/since", "must be at most 30 days ago: older events are not kept")
	}
	if err := w.requireEnabled(); err != nil {
		return none, err
	}
	asked := replayMessage{
		Job: job.Job{
			ID: "job#replay#" + id.New(id.Webhook, now), Queue: job.Dispatch, Subject: w.ID, Attempt: 1, Owner: o.Owner,
		},
		From: id.First(id.Event, since), To: id.First(id.Event, now),
	}
	it, err := job.Item(now, asked.Job, asked)
	if err != nil {
		return none, err
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	return httpapi.Change[Replay]{Data: Replay{WebhookID: w.ID, Since: since, Until: resource.Instant(now)}, Tx: tx}, nil
}

// replayMessage asks for a page of a replay. Its subject is the webhook.
type replayMessage struct {
	job.Job
	// From and To bound the ids of the events.
	From string `json:"from"`
	To   string `json:"to"`
	// After is where the page before has ended.
	After *store.Cursor `json:"after,omitempty"`
}

// replayPage is how many events one message looks at.
const replayPage = 100

// Replayer takes the messages of the queue of dispatch: it carries out replays
// itself, and hands everything else to the dispatcher.
type Replayer struct {
	dispatcher *Dispatcher
	queue      queue.Sender
	holder     *queue.Holder
}

// NewReplayer makes a replayer whose queue is the one that it is called by.
func NewReplayer(d *Dispatcher, q queue.Queue, pulse queue.Pulse) *Replayer {
	return &Replayer{d, q, queue.NewHolder(q, pulse)}
}

// Handle takes a batch of messages.
func (r *Replayer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	held := r.holder.Hold(ctx, batch.Records)
	failed := make([]error, len(batch.Records))
	var others []events.SQSMessage
	var at []int
	for i, m := range batch.Records {
		asked, ok := parseReplay(m.Body)
		if !ok {
			others, at = append(others, m), append(at, i)
			continue
		}
		if failed[i] = r.page(ctx, asked); failed[i] != nil {
			slog.Error("page not replayed", "webhook_id", asked.Subject, "message_id", m.MessageId, "error", failed[i])
		}
	}
	for i, err := range r.dispatcher.dispatch(ctx, others) {
		failed[at[i]] = err
	}
	held.End(ctx, failed)
	return response(batch.Records, failed), nil
}

func parseReplay(body string) (replayMessage, bool) {
	var m replayMessage
	err := json.Unmarshal([]byte(body), &m)
	return m, err == nil && m.Queue == job.Dispatch && m.Subject != "" && m.From != "" && m.To != ""
}

// page replays some events and asks for the next page. A page that comes twice
// finds what the first one has done, and does what is left.
func (r *Replayer) page(ctx context.Context, m replayMessage) error {
	o, d := owner{m.Owner}, r.dispatcher
	it, err := d.db.Get(ctx, o.webhookKey(m.Subject))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	var w record
	if err == nil {
		err = it.Decode(&w)
	}
	if err != nil {
		return err
	}
	if w.State != stateEnabled {
		return nil
	}
	page, err := d.db.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(o.Owner, event.Kind),
		From: m.From, To: m.To, Limit: replayPage, After: m.After, OldestFirst: true,
	})
	if err != nil {
		return err
	}
	if err := r.deliver(ctx, &w, page.Items); err != nil {
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

// deliver makes the deliveries of those events that were never delivered.
func (r *Replayer) deliver(ctx context.Context, w *record, items []store.Item) error {
	d := r.dispatcher
	var all []*fanOut
	var keys []store.Key
	for _, it := range items {
		ref := event.RefOf(it)
		if at, ok := id.Time(ref.ID); ok && w.wants(ref) {
			all = append(all, &fanOut{ref: ref, webhook: w.ID})
			keys = append(keys, owner{ref.Owner}.deliveryKey(w.ID, deliveryID(at, ref.ID, w.ID)))
		}
	}
	there, err := readAll(ctx, d.db, keys)
	if err != nil {
		return err
	}
	var missing, again []*fanOut
	for i, f := range all {
		switch {
		case there[i].Kind == "":
			missing = append(missing, f)
		case there[i].Filters[stateFilter] == stateFailed:
			if f.turn, f.err = d.restart(ctx, there[i]); f.err != nil {
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

// restart begins a delivery's schedule anew, and gives the turn to ask for.
func (d *Dispatcher) restart(ctx context.Context, it store.Item) (*turn, error) {
	old, err := readDelivery(&it)
	if err != nil {
		return nil, err
	}
	old.restart(d.now())
	if err := d.db.UpdateAll(ctx, old.change(owner{it.Owner}, it.Version))[0]; err != nil {
		return nil, fmt.Errorf("webhook: restart delivery %s: %w", old.ID, err)
	}
	t := old.turn(it.Version + 1)
	return &t, nil
}
