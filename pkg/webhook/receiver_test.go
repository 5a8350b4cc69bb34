package webhook

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/pkg/event"
)

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

func TestReceiversThatMisbehave(t *testing.T) {
	hijack := func(write string) func(int, http.ResponseWriter) {
		return func(_ int, rw http.ResponseWriter) {
			conn, _, err := rw.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = conn.Write([]byte(write))
			_ = conn.Close()
		}
	}
	for name, c := range map[string]struct {
		plan         func(int, http.ResponseWriter)
		state, error string
		body         string
	}{
		"closes at once":   {hijack(""), "pending", "closed the connection", ""},
		"answers garbage":  {hijack("hello\r\n\r\n"), "pending", "not valid HTTP", ""},
		"closes midway":    {hijack("HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf"), "pending", "500", "half"},
		"takes it, closes": {hijack("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), "delivered", "", "half"},
		"answers a lot":    {func(_ int, rw http.ResponseWriter) { _, _ = rw.Write(make([]byte, 1<<20)) }, "delivered", "", strings.Repeat("\x00", 1024)},
		"answers no UTF-8": {func(_ int, rw http.ResponseWriter) { _, _ = rw.Write([]byte("a\xff\xfeb")) }, "delivered", "", "a\uFFFDb"},
		"redirects": {func(_ int, rw http.ResponseWriter) {
			rw.Header().Set("Location", "http://127.0.0.1:1/")
			rw.WriteHeader(301)
		}, "pending", "redirect", ""},
		"has an unknown status":  {answers(599), "pending", "The receiver answered 599.", ""},
		"answers 1xx, then 2xx":  {func(_ int, rw http.ResponseWriter) { rw.WriteHeader(103); rw.WriteHeader(202) }, "delivered", "", ""},
		"asks for a payment":     {answers(402), "pending", "402 Payment Required", ""},
		"asks for authorization": {answers(401), "pending", "401 Unauthorized", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.receive(c.plan, "*")
			ref := w.happen(event.ContentGenerated)
			w.run(w.clock.Now().Add(time.Second))
			d := w.delivery(ref, r.hook.ID)
			if d.State != c.state || len(d.Attempts) != 1 {
				t.Fatalf("delivery %+v", d)
			}
			a := d.Attempts[0]
			if a.ResponseBody != c.body {
				t.Errorf("body %q", a.ResponseBody)
			}
			if c.error == "" && a.Error != nil || c.error != "" && (a.Error == nil || !strings.Contains(*a.Error, c.error)) {
				t.Errorf("error %v, want %q", a.Error, c.error)
			}
		})
	}
}

func TestThereIsNoWayIntoOurOwnNetwork(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	w.deliverer.client = NewClient(false)
	ref := w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(time.Second))
	d := w.delivery(ref, r.hook.ID)
	if len(r.receipts()) != 0 || len(d.Attempts) != 1 || d.Attempts[0].Status != nil || d.Attempts[0].Error == nil || strings.Contains(*d.Attempts[0].Error, "127.0.0.1") {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}

// stalled is a receiver that never answers.
type stalled struct{}

func (stalled) Do(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }

func TestAReceiverThatNeverAnswers(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	w.deliverer.client = stalled{}
	ref := w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(time.Second))
	d := w.delivery(ref, r.hook.ID)
	if d.State != "pending" || len(d.Attempts) != 1 || *d.Attempts[0].Error != "The server did not answer in time." {
		t.Errorf("delivery %+v", d)
	}
}

func TestAKeptConnectionThatIsDead(t *testing.T) {
	w := newWorld(t)
	r := w.receive(func(n int, rw http.ResponseWriter) {
		if n == 2 { // as a server does that closes a connection while a request is on its way
			conn, _, err := rw.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_ = conn.Close()
		}
	}, "*")
	w.happen(event.ContentGenerated)
	w.run()
	ref := w.happen(event.ContentFailed)
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != "delivered" || len(d.Attempts) != 1 || len(r.receipts()) != 3 {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}
