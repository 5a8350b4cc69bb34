package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
	"github.com/content-automation/api/pkg/tenant"
)

// visibility is how long a queue hides a message that somebody has received.
const visibility = 20 * time.Second

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
	replayer   *Replayer
	deliverer  *Deliverer
	patient    *Deliverer // for slow receivers
	events     *fakeQueue // from the bus to dispatch
	attempts   *fakeQueue // from dispatch to deliver
	slow       *fakeQueue // from there to what delivers to slow receivers
	relayed    map[string]bool
	beats      chan time.Time // of the functions' pulse
	chance     float64
	maxBatch   int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, clock: apitest.NewClock(), fuse: &fuse{}, relayed: map[string]bool{}, beats: make(chan time.Time), chance: 0.5, maxBatch: 10}
	w.db = storetest.Open(t, w.clock.Now, func(c *aws.Config) {
		w.faults.Attach(c)
		c.HTTPClient = &fusedHTTP{c.HTTPClient, w.fuse}
		// A repeat by the SDK would be a step after death.
		c.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	})
	w.api = newCaller(t, w.db, w.clock, local())
	w.events, w.attempts, w.slow = &fakeQueue{world: w}, &fakeQueue{world: w}, &fakeQueue{world: w}
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
	w.replayer = NewReplayer(w.dispatcher, w.events, w.pulse)
	newDeliverer := func(q *fakeQueue, slow queue.Sender) *Deliverer {
		return NewDeliverer(w.db, signer, &fusedHTTP{local(), w.fuse}, nil, q, slow, w.pulse, w.clock.Now, Randomness{
			Chance: func() float64 { return w.chance },
			Name: func() string {
				mu.Lock()
				defer mu.Unlock()
				names++
				return fmt.Sprint("claim", names)
			},
		})
	}
	w.deliverer, w.patient = newDeliverer(w.attempts, w.slow), newDeliverer(w.slow, nil)
	return w
}

// pulse beats when the test says so.
func (w *world) pulse() (<-chan time.Time, func()) { return w.beats, func() {} }

// happen writes an event and puts it on the bus.
func (w *world) happen(t event.Type, files ...media.File) event.Ref {
	w.t.Helper()
	p := w.api.Principal
	it, err := event.New(w.clock.Now(), p.Owner, t, map[string]any{"id": "cnt_1", "text": "a < b & ü", "media": nil}, files)
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
		worked := w.events.serve(w.replayer.Handle)
		worked = w.attempts.serve(w.deliverer.Handle) || worked
		worked = w.slow.serve(w.patient.Handle) || worked
		if worked {
			continue
		}
		next, any := w.next()
		if !any || len(until) > 0 && next.After(until[0]) {
			return
		}
		w.clock.Add(next.Sub(w.clock.Now()))
	}
	w.t.Fatal("the queues never become empty")
}

// next tells when the next message of any queue is to be seen.
func (w *world) next() (at time.Time, any bool) {
	for _, q := range []*fakeQueue{w.events, w.attempts, w.slow} {
		if next, some := q.next(); some && (!any || next.Before(at)) {
			at, any = next, true
		}
	}
	return at, any
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
		d, err := readDelivery(&it)
		if err != nil {
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
	return owner{w.api.Principal.Owner}
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
		Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(p.Account, tenant.Test), event.Kind),
		Filters: map[string]string{"type": string(t)}, Limit: 100,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}
