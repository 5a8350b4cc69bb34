package webhook

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/safehttp"
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

// TestReceiversThatTakeTheirTime has receivers that would hold an attempt for ever.
func TestReceiversThatTakeTheirTime(t *testing.T) {
	// drip sends a byte now and then.
	drip := func(stop <-chan struct{}, send func()) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				send()
			}
		}
	}
	for name, c := range map[string]struct {
		plan         func(stop <-chan struct{}, rw http.ResponseWriter)
		state, error string
	}{
		"never answers": {func(stop <-chan struct{}, _ http.ResponseWriter) { <-stop }, "pending", "The server did not answer in time."},
		"drips its headers": {func(stop <-chan struct{}, rw http.ResponseWriter) {
			conn, _, err := rw.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer func() { _ = conn.Close() }()
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nX-Drip: "))
			drip(stop, func() { _, _ = conn.Write([]byte(".")) })
		}, "pending", "The server did not answer in time."},
		"drips its answer": {func(stop <-chan struct{}, rw http.ResponseWriter) {
			drip(stop, func() { _, _ = rw.Write([]byte(".")); _ = http.NewResponseController(rw).Flush() })
		}, "delivered", ""}, // its status has said that it took the event
		"drips a failure": {func(stop <-chan struct{}, rw http.ResponseWriter) {
			rw.WriteHeader(http.StatusBadGateway)
			drip(stop, func() { _, _ = rw.Write([]byte(".")); _ = http.NewResponseController(rw).Flush() })
		}, "pending", "The receiver answered 502 Bad Gateway."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deliverer.client = safehttp.New(safehttp.Options{AllowLoopback: true, Timeout: 200 * time.Millisecond})
			stop := make(chan struct{})
			r := w.receive(func(_ int, rw http.ResponseWriter) { c.plan(stop, rw) }, "*")
			t.Cleanup(func() { close(stop) }) // before the server waits for its requests
			ref := w.happen(event.ContentGenerated)
			began := time.Now()
			w.run(w.clock.Now().Add(time.Second))
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			d := w.delivery(ref, r.hook.ID)
			if d.State != c.state || len(d.Attempts) != 1 {
				t.Fatalf("delivery %+v", d)
			}
			if got := d.Attempts[0].Error; (got == nil) != (c.error == "") || got != nil && *got != c.error {
				t.Errorf("error %v, want %q", got, c.error)
			}
		})
	}
}

// TestAReceiverThatSends100MB counts what it gets rid of: some of it lies in the
// buffers of the connection when that is closed.
func TestAReceiverThatSends100MB(t *testing.T) {
	const all, most = 100 << 20, 20 << 20
	for status, state := range map[int]string{200: "delivered", 500: "pending"} {
		w := newWorld(t)
		sent := make(chan int, 1)
		r := w.receive(func(_ int, rw http.ResponseWriter) {
			rw.WriteHeader(status)
			n := 0
			for chunk := bytes.Repeat([]byte("a"), 1<<16); n < all; n += len(chunk) {
				if _, err := rw.Write(chunk); err != nil {
					break
				}
			}
			sent <- n
		}, "*")
		ref := w.happen(event.ContentGenerated)
		w.run(w.clock.Now().Add(time.Second))
		if n := <-sent; n > most {
			t.Errorf("%d: %d bytes were sent", status, n)
		}
		if d := w.delivery(ref, r.hook.ID); d.State != state || len(d.Attempts) != 1 || *d.Attempts[0].Status != status || d.Attempts[0].ResponseBody != strings.Repeat("a", keptBody) {
			t.Errorf("%d: delivery %+v", status, d)
		}
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
