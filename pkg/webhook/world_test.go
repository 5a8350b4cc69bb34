package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

// visibility is how long a queue hides a message that somebody has received.
const visibility = 6 * time.Minute

// world is the path from an event to its receivers, with everything around it
// that a test must have a hand in: time, queues, the network, and deaths.
type world struct {
	t          *testing.T
	clock      *apitest.Clock
	db         *store.DB
	faults     storetest.Faults
	fuse       *fuse
	api        *apitest.Caller
	dispatcher *Dispatcher
	deliverer  *Deliverer
	events     *fakeQueue // from the bus to dispatch
	attempts   *fakeQueue // from dispatch to deliver
	relayed    map[string]bool
	chance     float64
	maxBatch   int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, clock: apitest.NewClock(), fuse: &fuse{}, relayed: map[string]bool{}, chance: 0.5, maxBatch: 10}
	w.db = storetest.Open(t, w.clock.Now, func(c *aws.Config) {
		w.faults.Attach(c)
		c.HTTPClient = &fusedHTTP{c.HTTPClient, w.fuse}
		// A repeat by the SDK would be a step after death.
		c.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	})
	w.api = newCaller(t, w.db, w.clock, local())
	w.events, w.attempts = &fakeQueue{world: w}, &fakeQueue{world: w}
	signer, err := media.NewSigner(aws.Config{
		Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	}, "media", w.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	names := 0
	w.dispatcher = NewDispatcher(w.db, w.attempts, w.clock.Now)
	w.deliverer = NewDeliverer(w.db, signer, &fusedHTTP{local(), w.fuse}, w.attempts, w.clock.Now, Randomness{
		Chance: func() float64 { return w.chance },
		Name: func() string {
			mu.Lock()
			defer mu.Unlock()
			names++
			return fmt.Sprint("claim", names)
		},
	})
	return w
}

// happen writes an event and puts it on the bus.
func (w *world) happen(t event.Type, files ...media.File) event.Ref {
	w.t.Helper()
	p := w.api.Principal
	it, err := event.New(w.clock.Now(), p.Account, string(p.Mode), t, map[string]any{"id": "cnt_1", "text": "a < b & ü", "media": nil}, files)
	if err != nil {
		w.t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := w.db.Commit(w.t.Context(), tx); err != nil {
		w.t.Fatal(err)
	}
	w.publish(event.RefOf(it))
	return event.RefOf(it)
}

// publish puts the reference of an event on the bus, as EventBridge sends it on.
func (w *world) publish(ref event.Ref) {
	b, err := json.Marshal(map[string]any{
		"version": "0", "id": "b", "source": "content-automation", "detail-type": ref.Type, "account": "1",
		"time": w.clock.Now(), "region": "eu-central-1", "resources": []string{}, "detail": ref,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.events.put(queue.Message{Body: string(b)})
}

// run lets everything happen until the queues are empty, or until the given time.
func (w *world) run(until ...time.Time) {
	w.t.Helper()
	for range 10_000 {
		worked := w.events.serve(w.dispatcher.Handle)
		worked = w.attempts.serve(w.deliverer.Handle) || worked
		if worked {
			continue
		}
		next, any := w.events.next()
		if at, some := w.attempts.next(); some && (!any || at.Before(next)) {
			next, any = at, true
		}
		if !any || len(until) > 0 && next.After(until[0]) {
			return
		}
		w.clock.Add(next.Sub(w.clock.Now()))
	}
	w.t.Fatal("the queues never become empty")
}

// delivery reads the one delivery of an event to a webhook.
func (w *world) delivery(ref event.Ref, webhookID string) delivery {
	w.t.Helper()
	for _, d := range w.deliveries(webhookID) {
		if d.EventID == ref.ID {
			return d
		}
	}
	w.t.Fatalf("no delivery of %s to %s", ref.ID, webhookID)
	return delivery{}
}

func (w *world) deliveries(webhookID string) (all []delivery) {
	w.t.Helper()
	page, err := w.db.List(w.t.Context(), store.Query{Index: store.Table, Partition: w.owner().deliveries(webhookID), Limit: 1000, OldestFirst: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, it := range page.Items {
		var d delivery
		if err := it.Decode(&d); err != nil {
			w.t.Fatal(err)
		}
		if it.Filters["state"] != d.State || it.PK != w.owner().deliveries(webhookID) || it.SK != d.ID || it.ExpireAt.IsZero() {
			w.t.Errorf("item of %s: %+v", d.ID, it)
		}
		all = append(all, d)
	}
	return all
}

// owner is whom the test's webhooks belong to.
func (w *world) owner() owner {
	return owner{w.api.Principal.Account, string(w.api.Principal.Mode)}
}

// webhook reads a webhook as the API answers it.
func (w *world) webhook(webhookID string) (out Webhook) {
	w.t.Helper()
	w.api.Call(http.MethodGet, "/v1/webhooks/"+webhookID, nil).Into(w.t, http.StatusOK, &out)
	return out
}

// told lists the events of a type that were written.
func (w *world) told(t event.Type) []store.Item {
	w.t.Helper()
	p := w.api.Principal
	page, err := w.db.List(w.t.Context(), store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(p.Account, string(auth.Test), event.Kind),
		Filters: map[string]string{"type": string(t)}, Limit: 100,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

// fuse ends the process after a number of steps: from then on, nothing that it
// does has an effect, until the test starts a new one.
type fuse struct {
	mu sync.Mutex
	// left are the steps to go; negative: it is not lit.
	left int
	lit  bool
	// after says that the last step has its effect and only its answer is lost.
	after bool
	dead  bool
	// deaths counts how often it went off.
	deaths int
	kill   context.CancelFunc
}

var errDead = errors.New("the process is dead")

// step does one step of the process.
func (f *fuse) step(do func() error) error {
	f.mu.Lock()
	if f.dead {
		f.mu.Unlock()
		return errDead
	}
	if f.lit {
		if f.left == 0 {
			f.dead = true
			f.deaths++
			f.kill()
			after := f.after
			f.mu.Unlock()
			if after {
				_ = do() // whatever came of it, nobody hears of it
			}
			return errDead
		}
		f.left--
	}
	f.mu.Unlock()
	return do()
}

// light makes the process die at the given step from now.
func (f *fuse) light(steps int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lit, f.left, f.after = true, steps, after
}

// douse ends the danger, and tells whether the process has died since it was lit.
func (f *fuse) douse() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	died := f.deaths > 0
	f.lit, f.deaths = false, 0
	return died
}

// pause keeps the fuse from burning while the test itself does something.
func (f *fuse) pause(do func()) {
	f.mu.Lock()
	lit := f.lit
	f.lit = false
	f.mu.Unlock()
	do()
	f.mu.Lock()
	// A death has ended it.
	f.lit = lit && f.deaths == 0
	f.mu.Unlock()
}

// process gives the context of a new process; blown tells whether it died.
func (f *fuse) process(ctx context.Context) (process context.Context, blown func() bool) {
	process, cancel := context.WithCancel(ctx)
	f.mu.Lock()
	f.kill = cancel
	f.mu.Unlock()
	return process, func() bool {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		died := f.dead
		if died {
			f.dead, f.lit = false, false
		}
		return died
	}
}

// fusedHTTP is a client whose calls are steps of the process.
type fusedHTTP struct {
	client interface {
		Do(*http.Request) (*http.Response, error)
	}
	fuse *fuse
}

func (c *fusedHTTP) Do(req *http.Request) (resp *http.Response, err error) {
	// The dead can send, and the effect of the last step must not be canceled.
	req = req.WithContext(context.WithoutCancel(req.Context()))
	failed := c.fuse.step(func() error {
		resp, err = c.client.Do(req)
		return err
	})
	if failed != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, failed
	}
	return resp, nil
}

// fakeQueue is an SQS queue on the test's clock.
type fakeQueue struct {
	world    *world
	mu       sync.Mutex
	messages []*fakeMessage
	sent     []queue.Message
	number   int
	// twice makes every message come twice.
	twice bool
	// refuse is asked for each message that is sent.
	refuse func(queue.Message) error
}

type fakeMessage struct {
	id   string
	body string
	at   time.Time
}

// Send is what the functions see of it.
func (q *fakeQueue) Send(_ context.Context, messages ...queue.Message) []error {
	failed := make([]error, len(messages))
	if len(messages) == 0 {
		return failed
	}
	err := q.world.fuse.step(func() error {
		for i, m := range messages {
			if q.refuse != nil {
				failed[i] = q.refuse(m)
			}
			if failed[i] == nil {
				q.put(m)
			}
		}
		return nil
	})
	if err != nil {
		return repeat(err, len(messages))
	}
	return failed
}

func (q *fakeQueue) put(m queue.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, m)
	copies := 1
	if q.twice {
		copies = 2
	}
	for range copies {
		q.number++
		q.messages = append(q.messages, &fakeMessage{
			id: fmt.Sprint("m", q.number), body: m.Body, at: q.world.clock.Now().Add(min(m.Delay, queue.LongestDelay)),
		})
	}
}

// next tells when the next message is to be seen.
func (q *fakeQueue) next() (at time.Time, any bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.messages {
		if !any || m.at.Before(at) {
			at, any = m.at, true
		}
	}
	return at, any
}

// serve hands a batch of messages to a function, and tells whether there was one.
// It deletes those that the function does not name as failed; those of a function
// that died stay, hidden for a while.
func (q *fakeQueue) serve(handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)) bool {
	t := q.world.t
	t.Helper()
	q.mu.Lock()
	var batch events.SQSEvent
	for _, m := range q.messages {
		if len(batch.Records) < q.world.maxBatch && !m.at.After(q.world.clock.Now()) {
			batch.Records = append(batch.Records, events.SQSMessage{MessageId: m.id, Body: m.body})
			m.at = q.world.clock.Now().Add(visibility)
		}
	}
	q.mu.Unlock()
	if len(batch.Records) == 0 {
		return false
	}
	ctx, blown := q.world.fuse.process(t.Context())
	out, err := handle(ctx, batch)
	if blown() {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	if out.BatchItemFailures == nil {
		t.Error("batchItemFailures is null")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	failed := map[string]bool{}
	for _, f := range out.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	for _, r := range batch.Records {
		if !failed[r.MessageId] {
			q.delete(r.MessageId)
		}
	}
	return true
}

func (q *fakeQueue) delete(id string) {
	for i, m := range q.messages {
		if m.id == id {
			q.messages = append(q.messages[:i], q.messages[i+1:]...)
			return
		}
	}
}

// receiver is a server that webhooks are sent to. It checks the signature of all
// that it gets by the official library.
type receiver struct {
	t      *testing.T
	server *httptest.Server
	hook   NewWebhook

	mu   sync.Mutex
	got  []receipt
	plan func(n int, w http.ResponseWriter)
}

// receipt is one request that the receiver got.
type receipt struct {
	at     time.Time
	id     string
	header http.Header
	body   []byte
}

// receive starts a receiver with a webhook for the given types; plan answers its
// n-th request, counted from 1, or nil: it takes everything.
func (w *world) receive(plan func(n int, rw http.ResponseWriter), types ...string) *receiver {
	w.t.Helper()
	r := &receiver{t: w.t, plan: plan}
	r.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			w.t.Error(err)
		}
		r.mu.Lock()
		key, err := standardwebhooks.NewWebhook(r.hook.Secret)
		if err != nil {
			w.t.Error(err)
		} else if err := key.VerifyIgnoringTimestamp(body, req.Header); err != nil {
			w.t.Errorf("signature: %v", err)
		}
		r.got = append(r.got, receipt{w.clock.Now(), req.Header.Get("webhook-id"), req.Header, body})
		n := len(r.got)
		r.mu.Unlock()
		if r.plan != nil {
			r.plan(n, rw)
		}
	}))
	w.t.Cleanup(r.server.Close)
	r.hook = create(w.t, w.api, r.server.URL+"/hook", types...)
	return r
}

func (r *receiver) receipts() []receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]receipt(nil), r.got...)
}

// answers plans the given statuses in turn, the last one for all that follow.
func answers(statuses ...int) func(int, http.ResponseWriter) {
	return func(n int, w http.ResponseWriter) { w.WriteHeader(statuses[min(n, len(statuses))-1]) }
}
