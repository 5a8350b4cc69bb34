package webhooktest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
)

// Receiver is a server that webhooks are sent to. It checks the signature of all
// requests by the official library.
type Receiver struct {
	Server *httptest.Server
	Hook   webhook.NewWebhook
	// Plan answers the n-th request, counted from 1. Without it, the receiver takes every
	// request.
	Plan func(n int, w http.ResponseWriter)

	mu  sync.Mutex
	got []Receipt
}

// Receipt is one request that the receiver got.
type Receipt struct {
	At     time.Time
	ID     string
	Header http.Header
	Body   []byte
}

// Receive starts a receiver with a webhook for the given types.
func (w *World) Receive(plan func(n int, rw http.ResponseWriter), types ...string) *Receiver {
	w.T.Helper()
	return w.ReceiveFor(w.API, plan, types...)
}

// ReceiveFor is Receive with a webhook that the caller makes.
func (w *World) ReceiveFor(c *apitest.Caller, plan func(n int, rw http.ResponseWriter), types ...string) *Receiver {
	w.T.Helper()
	r := &Receiver{Plan: plan}
	r.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			w.T.Error(err)
		}
		r.mu.Lock()
		key, err := standardwebhooks.NewWebhook(r.Hook.Secret)
		if err != nil {
			w.T.Error(err)
		} else if err := key.VerifyIgnoringTimestamp(body, req.Header); err != nil {
			w.T.Errorf("signature: %v", err)
		}
		r.got = append(r.got, Receipt{w.Clock.Now(), req.Header.Get("webhook-id"), req.Header, body})
		n := len(r.got)
		r.mu.Unlock()
		if r.Plan != nil {
			r.Plan(n, rw)
		}
	}))
	w.T.Cleanup(r.Server.Close)
	r.Hook = Create(w.T, c, r.Server.URL+"/hook", types...)
	return r
}

// Receipts returns the requests so far.
func (r *Receiver) Receipts() []Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Receipt(nil), r.got...)
}

func (r *Receiver) host() string { return strings.TrimPrefix(r.Server.URL, "http://") }

// Answers plans the given statuses in turn, the last one for all that follow.
func Answers(statuses ...int) func(int, http.ResponseWriter) {
	return func(n int, w http.ResponseWriter) { w.WriteHeader(statuses[min(n, len(statuses))-1]) }
}

// AllDelivered checks that the receiver has got each event once, and that each delivery
// has ended so.
func (w *World) AllDelivered(r *Receiver, events int) {
	w.T.Helper()
	all := w.Deliveries(r.Hook.ID)
	for _, d := range all {
		if d.State != webhook.DeliveryDelivered {
			w.T.Errorf("delivery %+v", d)
		}
	}
	seen := map[string]int{}
	for _, got := range r.Receipts() {
		seen[got.ID]++
	}
	if len(all) != events || len(seen) != events || len(r.Receipts()) != events {
		w.T.Errorf("%d deliveries; %d requests for %d events, want %d", len(all), len(r.Receipts()), len(seen), events)
	}
}

// Delivered returns the reference of the one event that was delivered to a receiver.
func (w *World) Delivered(r *Receiver) event.Ref {
	w.T.Helper()
	all := w.Deliveries(r.Hook.ID)
	if len(all) != 1 || all[0].State != webhook.DeliveryDelivered || len(all[0].Attempts) != 1 {
		w.T.Fatalf("deliveries %+v", all)
	}
	return event.Ref{ID: all[0].EventID, Type: all[0].EventType, Owner: w.Owner()}
}

// Network is a client some of whose hosts cannot be reached.
type Network struct {
	client webhook.Caller

	mu    sync.Mutex
	down  map[string]bool
	tried map[string]int // attempts at hosts while they were down
	hangs string         // the event that nothing answers
}

// Cut puts a network between the deliverers and the receivers.
func (w *World) Cut() *Network {
	n := &Network{client: w.Deliverer.Client, down: map[string]bool{}, tried: map[string]int{}}
	w.Deliverer.Client, w.Patient.Client = n, n
	return n
}

// Do implements webhook.Caller.
func (n *Network) Do(req *http.Request) (*http.Response, error) {
	n.mu.Lock()
	host := req.URL.Host
	down := n.down[host]
	if down = down || n.hangs != "" && req.Header.Get("webhook-id") == n.hangs; down {
		n.tried[host]++
	}
	n.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	return n.client.Do(req)
}

// Set lets a receiver be reached or not.
func (n *Network) Set(r *Receiver, down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down[r.host()] = down
}

// Hang has no receiver answer an event.
func (n *Network) Hang(eventID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hangs = eventID
}

// While returns how often a receiver was tried while it was down.
func (n *Network) While(r *Receiver) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tried[r.host()]
}
