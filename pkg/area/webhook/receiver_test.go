package webhook_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/record/event"
)

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
		"answers a lot": {func(_ int, rw http.ResponseWriter) { _, _ = rw.Write(bytes.Repeat([]byte("a"), 1<<20)) }, "delivered",
			"", strings.Repeat("a", 1024)},
		"answers NULs": {func(_ int, rw http.ResponseWriter) { _, _ = rw.Write([]byte("a\x00\x1bb\n")) }, "delivered", "", "ab\n"},
		"answers no UTF-8": {func(_ int, rw http.ResponseWriter) { _, _ = rw.Write([]byte("a\xff\xfeb")) }, "delivered",
			"", "a\uFFFDb"},
		"redirects": {func(_ int, rw http.ResponseWriter) {
			rw.Header().Set("Location", "http://127.0.0.1:1/")
			rw.WriteHeader(301)
		}, "pending", "redirect", ""},
		"has an unknown status": {deliverAnswers(599), "pending", "The receiver answered 599.", ""},
		"answers 1xx, then 2xx": {func(_ int, rw http.ResponseWriter) { rw.WriteHeader(103); rw.WriteHeader(202) },
			"delivered", "", ""},
		"asks for a payment":     {deliverAnswers(402), "pending", "402 Payment Required", ""},
		"asks for authorization": {deliverAnswers(401), "pending", "401 Unauthorized", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := deliverNewWorld(t)
			r := w.Receive(c.plan, "*")
			ref := w.Happen(event.ContentGenerated)
			w.Run(w.Clock.Now().Add(time.Second))
			d := w.Delivery(ref, r.Hook.ID)
			if d.State != c.state || len(d.Attempts) != 1 {
				t.Fatalf("delivery %+v", d)
			}
			a := d.Attempts[0]
			if string(a.ResponseBody) != c.body {
				t.Errorf("body %q", a.ResponseBody)
			}
			if c.error == "" && a.Error != nil || c.error != "" &&
				(a.Error == nil || !strings.Contains(*a.Error, c.error)) {
				t.Errorf("error %v, want %q", a.Error, c.error)
			}
		})
	}
}

func TestThereIsNoWayIntoOurOwnNetwork(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	w.Deliverer.Client = webhook.NewClient(false)
	ref := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(time.Second))
	d := w.Delivery(ref, r.Hook.ID)
	if len(r.Receipts()) != 0 || len(d.Attempts) != 1 || d.Attempts[0].Status != nil || d.Attempts[0].Error == nil ||
		strings.Contains(*d.Attempts[0].Error, "127.0.0.1") {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
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
		"never answers": {func(stop <-chan struct{}, _ http.ResponseWriter) { <-stop }, "pending",
			"The server did not answer in time."},
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
			w := deliverNewWorld(t)
			w.Deliverer.Client = safehttp.New(safehttp.Options{AllowLoopback: true, Timeout: 200 * time.Millisecond})
			stop := make(chan struct{})
			r := w.Receive(func(_ int, rw http.ResponseWriter) { c.plan(stop, rw) }, "*")
			t.Cleanup(func() { close(stop) }) // before the server waits for its requests
			ref := w.Happen(event.ContentGenerated)
			w.Run(w.Clock.Now().Add(time.Second)) // ends, although the receiver does not
			d := w.Delivery(ref, r.Hook.ID)
			if d.State != c.state || len(d.Attempts) != 1 {
				t.Fatalf("delivery %+v", d)
			}
			if got := d.Attempts[0].Error; (got == nil) != (c.error == "") || got != nil && *got != c.error {
				t.Errorf("error %v, want %q", got, c.error)
			}
		})
	}
}

// TestAReceiverThatSends100MB counts the bytes that the receiver can send: some of them are in the buffers of the
// connection when it is closed.
func TestAReceiverThatSends100MB(t *testing.T) {
	const all, most = 100 << 20, 20 << 20
	for status, state := range map[int]string{200: "delivered", 500: "pending"} {
		w := deliverNewWorld(t)
		sent := make(chan int, 1)
		r := w.Receive(func(_ int, rw http.ResponseWriter) {
			rw.WriteHeader(status)
			n := 0
			for chunk := bytes.Repeat([]byte("a"), 1<<16); n < all; n += len(chunk) {
				if _, err := rw.Write(chunk); err != nil {
					break
				}
			}
			sent <- n
		}, "*")
		ref := w.Happen(event.ContentGenerated)
		w.Run(w.Clock.Now().Add(time.Second))
		if n := <-sent; n > most {
			t.Errorf("%d: %d bytes were sent", status, n)
		}
		if d := w.Delivery(ref, r.Hook.ID); d.State != state || len(d.Attempts) != 1 ||
			*d.Attempts[0].Status != status ||
			string(d.Attempts[0].ResponseBody) != strings.Repeat("a", webhook.KeptBody) {
			t.Errorf("%d: delivery %+v", status, d)
		}
	}
}

func TestAKeptConnectionThatIsDead(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(func(n int, rw http.ResponseWriter) {
		if n == 2 { // as a server does that closes a connection while a request is on its way
			conn, _, err := rw.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_ = conn.Close()
		}
	}, "*")
	w.Happen(event.ContentGenerated)
	w.Run()
	ref := w.Happen(event.ContentFailed)
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != "delivered" || len(d.Attempts) != 1 || len(r.Receipts()) != 3 {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}
