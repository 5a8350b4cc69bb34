package record_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

// A request that waits is answered within a second of an event that its caller does not have.
func TestARequestWaitsForANewEvent(t *testing.T) {
	storetest.InMemory(t)
	synctest.Test(t, func(t *testing.T) {
		w := eventNewWorld(t)
		first := event.RefOf(w.happen("test", event.ContentGenerated, eventObject{"id": "cnt_1"})).ID
		took := func(query string) (raw string, _ time.Duration) {
			began := time.Now()
			a := w.Call(http.MethodGet, "/v1/events?"+query, nil)
			if a.Status != http.StatusOK {
				t.Errorf("%s: %d", query, a.Status)
			}
			return a.Raw, time.Since(began)
		}
		if raw, held := took("wait_seconds=10"); !strings.Contains(raw, first) || held > 0 {
			t.Errorf("after %v: %s", held, raw)
		}
		if raw, held := took("wait_seconds=1&after=" + first); !strings.Contains(raw, first) || held > time.Second {
			t.Errorf("without a new event, after %v: %s", held, raw)
		}
		var second string
		go func() {
			<-time.After(2500 * time.Millisecond)
			second = event.RefOf(w.happen("test", event.ContentFailed, eventObject{"id": "cnt_1"})).ID
		}()
		if raw, held := took("order=asc&wait_seconds=10&after=" + first); second == "" || !strings.Contains(raw, second) ||
			held != 3*time.Second {
			t.Errorf("after %v: %s", held, raw)
		}
		w.Call(http.MethodGet, "/v1/events?wait_seconds=11", nil).Refused(t, 422, errs.ValidationFailed, "wait_seconds")
		w.Call(http.MethodGet, "/v1/events?wait_seconds=1&after=cnt_1", nil).Refused(t, 422, errs.ValidationFailed, "after")
	})
}
