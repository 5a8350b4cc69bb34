package event_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

// A request that waits is answered as soon as there is an event that its caller does not have.
func TestARequestWaitsForANewEvent(t *testing.T) {
	w := newWorld(t)
	first := event.RefOf(w.happen("test", event.ContentGenerated, object{"id": "cnt_1"})).ID
	began := time.Now()
	if a := w.Call(http.MethodGet, "/v1/events?wait=10", nil); !strings.Contains(a.Raw, first) ||
		time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %s", time.Since(began), a.Raw)
	}
	if a := w.Call(http.MethodGet, "/v1/events?wait=1&after="+first, nil); a.Status != http.StatusOK ||
		!strings.Contains(a.Raw, first) || time.Since(began) > 5*time.Second {
		t.Errorf("without a new event, after %v: %s", time.Since(began), a.Raw)
	}
	answered := make(chan string)
	go func() {
		answered <- w.Call(http.MethodGet, "/v1/events?order=asc&wait=10&after="+first, nil).Raw
	}()
	select {
	case raw := <-answered:
		t.Errorf("it was not held: %s", raw)
	case <-time.After(300 * time.Millisecond):
	}
	second := event.RefOf(w.happen("test", event.ContentFailed, object{"id": "cnt_1"})).ID
	if raw := <-answered; !strings.Contains(raw, second) || time.Since(began) > 9*time.Second {
		t.Errorf("after %v: %s", time.Since(began), raw)
	}
	w.Call(http.MethodGet, "/v1/events?wait=11", nil).Refused(t, 422, errs.ValidationFailed, "wait")
	w.Call(http.MethodGet, "/v1/events?wait=1&after=cnt_1", nil).Refused(t, 422, errs.ValidationFailed, "after")
}
