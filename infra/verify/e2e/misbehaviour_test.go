//go:build !deployed

package e2e

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// TestReceiversThatMisbehave sends one event to a healthy receiver, and to others that never
// answer, drip bytes, send 100 MB or close midway.
func TestReceiversThatMisbehave(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	stop := make(chan struct{})
	receivers := map[string]struct {
		answer func(rw http.ResponseWriter)
		status int // 0 means that no response is recorded
		says   string
	}{
		"never answers": {func(http.ResponseWriter) { <-stop }, 0, "The server did not answer in time."},
		"drips bytes": {func(rw http.ResponseWriter) {
			rw.WriteHeader(http.StatusInternalServerError)
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
					_, _ = rw.Write([]byte("."))
					_ = http.NewResponseController(rw).Flush()
				}
			}
		}, 500, "The receiver answered 500 Internal Server Error."},
		"sends 100 MB": {func(rw http.ResponseWriter) {
			rw.WriteHeader(http.StatusServiceUnavailable)
			for range 100 {
				if _, err := rw.Write(bytes.Repeat([]byte("a"), 1<<20)); err != nil {
					return
				}
			}
		}, 503, "The receiver answered 503 Service Unavailable."},
		"closes midway": {func(rw http.ResponseWriter) {
			conn, _, err := rw.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"))
			_ = conn.Close()
		}, 0, "The server closed the connection before its response was complete."},
	}
	ids := map[string]string{}
	for name, r := range receivers {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { r.answer(rw) }))
		t.Cleanup(server.Close)
		ids[name] = into[struct{ ID string }](call(t, key, "POST", "/v1/webhooks",
			object{"url": server.URL, "event_types": []string{"content.generated"}}), http.StatusCreated).ID
	}
	t.Cleanup(func() { close(stop) }) // Before the servers wait for their requests.
	healthy := newReceiver(t)
	healthy.subscribe(t, key, "content.generated")
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe",
	}), http.StatusAccepted)
	for name, r := range receivers {
		var made []logged
		poll.Until(t, "the attempt at the receiver that "+name, func() bool {
			made = into[[]logged](call(t, key, "GET", "/v1/webhooks/"+ids[name]+"/deliveries", nil), http.StatusOK)
			return len(made) == 1 && len(made[0].Attempts) > 0
		})
		a := made[0].Attempts[0]
		if made[0].State != "pending" || a.Error == nil || *a.Error != r.says || len(a.Body) > 1024 ||
			(a.Status == nil) != (r.status == 0) || a.Status != nil && *a.Status != r.status {
			t.Errorf("%s: %s %+v", name, made[0].State, a)
		}
		if call(t, key, "DELETE", "/v1/webhooks/"+ids[name], nil).Status != http.StatusOK {
			t.Errorf("%s: not deleted", name)
		}
	}
	poll.Until(t, "the healthy receiver", func() bool { return len(healthy.about(item.ID)) == 1 })
}

// TestTwentyWebhooksAndNoMore makes one webhook more than permitted.
func TestTwentyWebhooksAndNoMore(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	body := object{"url": "http://127.0.0.1:9/", "event_types": []string{"*"}}
	for range 20 {
		into[object](call(t, key, "POST", "/v1/webhooks", body), http.StatusCreated)
	}
	a := call(t, key, "POST", "/v1/webhooks", body)
	if err := a.refused(http.StatusConflict, "invalid_state"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.Error.Message, "20 webhooks") {
		t.Errorf("message %q", a.Error.Message)
	}
	if n := len(into[[]object](call(t, key, "GET", "/v1/webhooks?limit=100", nil), http.StatusOK)); n != 20 {
		t.Errorf("there are %d webhooks", n)
	}
}
