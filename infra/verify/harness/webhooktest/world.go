// Package webhooktest runs the path from an event to its receivers in one process, for tests: with a clock, queues and
// a network of its own, and deaths at any step.
package webhooktest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// HookURL is an address that nothing listens on.
const HookURL = "http://127.0.0.1:9/hook"

// DeliverRole is the role of the deliver function.
var DeliverRole = arn.ARN{Partition: "aws", Service: "iam", AccountID: "444455556666",
	Resource: "role/acme-prod-eu-central-1-deliver"}

// Envelope returns the envelope that seals signing keys.
func Envelope() *seal.Envelope { return sealtest.Envelope("the stack's key") }

// NewCaller returns a caller of the operations of the area, whose key exists.
func NewCaller(t *testing.T, db *store.DB, c *apitest.Clock, urls safehttp.Checker) *apitest.Caller {
	t.Helper()
	caller := apitest.New(t, db, &apitest.Log{}, c.Now, webhook.NewService(db, urls, DeliverRole, Envelope(), c.Now,
		rand.Reader))
	PutKey(caller)
	return caller
}

// Create makes a webhook.
func Create(t *testing.T, c *apitest.Caller, url string, types ...string) (w webhook.NewWebhook) {
	t.Helper()
	c.Call(http.MethodPost, "/v1/webhooks", map[string]any{"url": url, "event_types": types}).Into(t,
		http.StatusCreated, &w)
	return w
}

// World is the path from an event to its receivers, with everything around it that a test must control: time, queues,
// the network, and deaths.
type World struct {
	T          *testing.T
	Clock      *apitest.Clock
	DB         *store.DB
	Faults     storetest.Faults
	Fuse       *Fuse
	API        *apitest.Caller
	Dispatcher *webhook.Dispatcher
	Replayer   *task.Consumer
	Deliverer  *Deliverer
	Patient    *Deliverer     // for slow receivers
	Events     *Queue         // from the bus to dispatch
	Replays    *Queue         // of the tasks of replays
	Attempts   *Queue         // from dispatch to deliver
	Slow       *Queue         // from there to the deliverer for slow receivers
	Beats      chan time.Time // of the functions' heartbeat
	Chance     float64
	MaxBatch   int

	holder *queue.Holder // of dispatch
	stream stream
}

// Deliverer is a deliverer with its function.
type Deliverer struct {
	*webhook.Deliverer
	Handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)
}

// New returns a world.
func New(t *testing.T) *World {
	w := &World{T: t, Clock: apitest.NewClock(), Fuse: &Fuse{}, Beats: make(chan time.Time), Chance: 0.5, MaxBatch: 10}
	w.DB = storetest.Open(t, w.Clock.Now, func(c *aws.Config) {
		w.Faults.Attach(c)
		w.stream.table, w.stream.parked = c.HTTPClient, map[string]task.Task{}
		c.HTTPClient = &fusedHTTP{&w.stream, w.Fuse}
		// A repeat by the SDK would be a step after death.
		c.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	})
	w.API = NewCaller(t, w.DB, w.Clock, webhook.NewClient(true))
	w.Events, w.Replays, w.Attempts, w.Slow = &Queue{world: w}, &Queue{world: w}, &Queue{world: w}, &Queue{world: w}
	signer, err := media.NewSigner(aws.Config{
		Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	}, "media", w.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	heartbeat := func() (<-chan time.Time, func()) { return w.Beats, func() {} }
	w.Dispatcher = webhook.NewDispatcher(w.DB, w.Clock.Now)
	w.holder = queue.NewHolder(w.Events, heartbeat)
	consumer := func(handlers map[task.Kind]task.Handler) *task.Consumer {
		return task.NewConsumer(task.NewKernel(task.Config{DB: w.DB, Handlers: handlers, Now: w.Clock.Now,
			Name: rand.Text, Chance: func() float64 { return w.Chance }}), w.queues(), heartbeat)
	}
	w.Replayer = consumer(map[task.Kind]task.Handler{
		webhook.ReplayKind: task.Func(webhook.Replayer{Dispatcher: w.Dispatcher}.Replay)})
	deliverer := func(slow bool) *Deliverer {
		d := webhook.NewDeliverer(webhook.Config{
			DB: w.DB, Signer: signer, Client: &fusedHTTP{webhook.NewClient(true), w.Fuse}, Envelope: Envelope(),
			Slow: slow, Now: w.Clock.Now, Chance: func() float64 { return w.Chance }, Name: rand.Text,
		})
		return &Deliverer{d, d.Counting(consumer(map[task.Kind]task.Handler{webhook.DeliverKind: d,
			webhook.TimerKind: webhook.Timer{Deliverer: d}}).Handle)}
	}
	w.Deliverer, w.Patient = deliverer(false), deliverer(true)
	return w
}

// queues are the queues of tasks.
func (w *World) queues() map[topology.Queue]*Queue {
	return map[topology.Queue]*Queue{topology.Deliver: w.Attempts, topology.DeliverSlow: w.Slow,
		topology.Replay: w.Replays}
}

// Owner owns the test's webhooks.
func (w *World) Owner() tenant.Owner { return w.API.Principal.Owner }

// Ref names a webhook of the owner.
func (w *World) Ref(webhookID string) webhook.Ref {
	return webhook.Ref{Owner: w.Owner(), ID: webhookID}
}

// Happen writes an event and puts it on the bus.
func (w *World) Happen(t event.Type, files ...media.File) event.Ref {
	w.T.Helper()
	return w.happen(t, map[string]any{"id": "cnt_1", "text": "a < b & ü", "media": nil}, files...)
}

// HappenIn writes an event about a resource of a factory and puts it on the bus.
func (w *World) HappenIn(factoryID string, t event.Type) event.Ref {
	w.T.Helper()
	object := map[string]any{"id": "cnt_1"}
	if factoryID != "" {
		object["factory_id"] = factoryID
	}
	ref := w.happen(t, object)
	if ref.Factory != factoryID {
		w.T.Errorf("the reference names the factory %q, not %q", ref.Factory, factoryID)
	}
	return ref
}

func (w *World) happen(t event.Type, object any, files ...media.File) event.Ref {
	w.T.Helper()
	it, err := event.New(w.Clock.Now(), w.Owner(), t, object, files)
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{Origin: "req-1"}
	tx.Create(it, nil)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
	w.Publish(event.RefOf(it))
	return event.RefOf(it)
}

// Commit writes events of an owner that the bus loses.
func (w *World) Commit(o tenant.Owner, n int) {
	w.T.Helper()
	for range n {
		it, err := event.New(w.Clock.Now(), o, event.ContentGenerated, map[string]any{"id": "cnt_1"}, nil)
		if err != nil {
			w.T.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Create(it, nil)
		if err := w.DB.Commit(w.T.Context(), tx); err != nil {
			w.T.Fatal(err)
		}
	}
}

// Publish puts the reference of an event on the bus, as EventBridge sends it on.
func (w *World) Publish(ref event.Ref) {
	w.T.Helper()
	b, err := json.Marshal(map[string]any{
		"version": "0", "id": "b", "source": "content-automation", "detail-type": ref.Type, "account": "1",
		"time": w.Clock.Now(), "region": "eu-central-1", "resources": []string{}, "detail": ref,
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.Events.Put(queue.Message{Body: string(b)})
}

// Relay sends the messages that were committed to their queues, as the relay does.
func (w *World) Relay() {
	w.T.Helper()
	for _, doc := range w.stream.take() {
		var m struct {
			task.Message
			Parked bool
		}
		if err := json.Unmarshal([]byte(doc), &m); err != nil {
			w.T.Fatal(err)
		}
		if !m.Parked {
			w.send(m.Message, 0)
		}
	}
}

func (w *World) send(m task.Message, delay time.Duration) {
	w.T.Helper()
	body, err := json.Marshal(m)
	if err != nil {
		w.T.Fatal(err)
	}
	w.queues()[m.Queue].Put(queue.Message{Body: string(body), Group: m.FairGroup(), Delay: delay})
}

// Dispatch runs the dispatch function on everything that is on the bus.
func (w *World) Dispatch() {
	w.T.Helper()
	for w.Events.Serve(w.holder.Handler(w.Dispatcher.Dispatch)) {
	}
	w.Relay()
}

// ahead is how long before a parked step is due its message is sent.
const ahead = 2 * time.Minute

// Run lets everything happen until the queues are empty, or until the given time.
func (w *World) Run(until ...time.Time) {
	w.T.Helper()
	for range 10_000 {
		w.Relay()
		worked := w.Events.Serve(w.holder.Handler(w.Dispatcher.Dispatch))
		worked = w.Replays.Serve(w.Replayer.Handle) || worked
		worked = w.Attempts.Serve(w.Deliverer.Handle) || worked
		worked = w.Slow.Serve(w.Patient.Handle) || worked
		if worked {
			continue
		}
		next, any := w.Next()
		parked := w.stream.first()
		send := parked.Step > 0 && (!any || parked.DueAt.Add(-ahead).Before(next))
		if send {
			next, any = parked.DueAt.Add(-ahead), true
		}
		if !any || len(until) > 0 && next.After(until[0]) {
			return
		}
		w.Clock.Add(max(0, next.Sub(w.Clock.Now())))
		if send { // as the function due does
			w.send(parked.Message, parked.DueAt.Sub(w.Clock.Now()))
			w.stream.sent(parked)
		}
	}
	w.T.Fatal("the queues never become empty")
}

// Lost counts the results of a search for lost events and messages.
type Lost struct{ Events, Made, Overdue, Resent int }

// Search finds lost events and messages, as the function due does.
func (w *World) Search(ctx context.Context, atOnce bool) (Lost, error) {
	swept, err := webhook.NewSweeper(w.DB, w.Clock.Now).Sweep(ctx, atOnce)
	found, failed := task.NewReconciler(w.DB, w.Clock.Now,
		task.OverdueTasks(task.NewSender(w.queues()), w.Clock.Now)...).Run(ctx, atOnce)
	return Lost{swept.Events, swept.Deliveries, found.Overdue, found.Resent}, errors.Join(err, failed)
}

// Next returns when the next message of any queue is visible.
func (w *World) Next() (at time.Time, any bool) {
	for _, q := range []*Queue{w.Events, w.Replays, w.Attempts, w.Slow} {
		if next, some := q.Next(); some && (!any || next.Before(at)) {
			at, any = next, true
		}
	}
	return at, any
}

// Delivery reads the one delivery of an event to a webhook.
func (w *World) Delivery(ref event.Ref, webhookID string) webhook.DeliveryRecord {
	w.T.Helper()
	for _, d := range w.Deliveries(webhookID) {
		if d.EventID == ref.ID {
			return d
		}
	}
	w.T.Fatalf("no delivery of %s to %s", ref.ID, webhookID)
	return webhook.DeliveryRecord{}
}

// Deliveries reads the deliveries to a webhook, oldest first.
func (w *World) Deliveries(webhookID string) (all []webhook.DeliveryRecord) {
	w.T.Helper()
	partition := w.Ref(webhookID).Deliveries()
	page, err := w.DB.List(w.T.Context(), store.Query{Index: store.Table, Partition: partition, Limit: 1000,
		OldestFirst: true})
	if err != nil {
		w.T.Fatal(err)
	}
	for _, it := range page.Items {
		d, err := webhook.ReadDelivery(&it)
		if err != nil {
			w.T.Fatal(err)
		}
		if it.Filters["state"] != d.State || it.PK != partition || it.SK != d.ID || it.ExpireAt.IsZero() {
			w.T.Errorf("item of %s: %+v", d.ID, it)
		}
		all = append(all, d)
	}
	leased := make([]*webhook.DeliveryRecord, len(all))
	for i := range all {
		leased[i] = &all[i]
	}
	if err := webhook.ReadLeases(w.T.Context(), w.DB, w.Clock.Now(), leased...); err != nil {
		w.T.Fatal(err)
	}
	return all
}

// Webhook reads a webhook as the API answers it.
func (w *World) Webhook(webhookID string) (out webhook.Webhook) {
	w.T.Helper()
	w.API.Call(http.MethodGet, "/v1/webhooks/"+webhookID, nil).Into(w.T, http.StatusOK, &out)
	return out
}

// Told lists the events of a type that were written.
func (w *World) Told(t event.Type) []store.Item {
	w.T.Helper()
	page, err := w.DB.List(w.T.Context(), store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(w.Owner().Account, tenant.Test), event.Kind),
		Filters: map[string]string{"type": string(t)}, Limit: 100,
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return page.Items
}

// PutKey writes the key of a caller, as the area of API keys keeps it. It may exist.
func PutKey(c *apitest.Caller) {
	c.ChangeKey(func(k *keyrecord.Record) { k.Scopes, k.State = c.Principal.Scopes, keyrecord.Active })
}

// Key returns a caller with a new key of the account that has the scopes.
func (w *World) Key(scopes ...auth.Scope) *apitest.Caller {
	w.T.Helper()
	c := w.API.As(func(p *auth.Principal) { p.Actor, p.Scopes = auth.Key(id.New(id.APIKey, w.Clock.Now())), scopes })
	PutKey(c)
	return c
}

// Rescope gives the caller's key these scopes.
func (w *World) Rescope(c *apitest.Caller, scopes ...auth.Scope) {
	w.T.Helper()
	c.Principal.Scopes = scopes
	PutKey(c)
}

// Destinations in an account of a customer, and the role by which they are reached.
const (
	QueueARN = "arn:aws:sqs:eu-central-1:111122223333:content-events"
	BusARN   = "arn:aws:events:us-east-1:111122223333:event-bus/shop/content"
	RoleARN  = "arn:aws:iam::111122223333:role/content-automation-events"
)

// On opens a table and returns a caller of its operations.
func On(t *testing.T) (*store.DB, *apitest.Clock, *apitest.Caller) {
	c := apitest.NewClock()
	db := storetest.Open(t, c.Now)
	return db, c, NewCaller(t, db, c, webhook.NewClient(true))
}

// Aimed returns the body that makes a webhook for a destination in AWS.
func Aimed(of, arn, role string) map[string]any {
	return map[string]any{"destination": map[string]any{"kind": of, "arn": arn, "role_arn": role},
		"event_types": []string{"*"}}
}

// Aim makes a webhook for a queue.
func Aim(t *testing.T, c *apitest.Caller) (w webhook.NewWebhook) {
	t.Helper()
	c.Call(http.MethodPost, "/v1/webhooks", Aimed(webhook.KindSQS, QueueARN, RoleARN)).Into(t, http.StatusCreated, &w)
	return w
}
