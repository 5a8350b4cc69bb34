package webhook

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/id"
)

func TestWhatNeverArrived(t *testing.T) {
	w := newWorld(t)
	before := w.happen(event.ContentGenerated)
	w.run()
	w.clock.Add(time.Minute)
	statuses := answers(200)
	r := w.receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "content.*")
	w.clock.Add(time.Minute)
	delivered := w.happen(event.ContentGenerated)
	w.run()
	statuses = answers(500)
	w.clock.Add(time.Minute)
	failed := w.happen(event.ContentFailed)
	w.run()
	since := w.clock.Now().Add(time.Second)
	w.clock.Add(time.Minute)
	waiting := w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(10 * time.Second))
	w.clock.Add(time.Minute)
	lost := w.happen(event.ContentPublished) // its way to dispatch is wiped
	w.events.wipe()
	w.clock.Add(time.Minute)
	unwanted := w.happen(event.BalanceLow)
	w.events.wipe()

	path := "/v1/webhooks/" + r.hook.ID + "/deliveries?state=undelivered"
	list := func(query string) (all []Delivery) {
		t.Helper()
		w.api.Call(http.MethodGet, path+query, nil).Into(t, http.StatusOK, &all)
		return all
	}
	all := list("")
	want := []struct {
		ref      string
		state    string
		attempts int
	}{{lost.ID, statePending, 0}, {waiting.ID, statePending, 2}, {failed.ID, stateFailed, 8}}
	if len(all) != len(want) {
		t.Fatalf("listed %+v; not %s, %s, %s", all, before.ID, delivered.ID, unwanted.ID)
	}
	for i, d := range all {
		if d.EventID != want[i].ref || d.State != want[i].state || len(d.Attempts) != want[i].attempts || d.WebhookID != r.hook.ID {
			t.Errorf("%d: %+v, want %+v", i, d, want[i])
		}
	}
	if all[0].NextAttemptAt != nil || all[1].NextAttemptAt == nil {
		t.Errorf("next attempts: %v, %v", all[0].NextAttemptAt, all[1].NextAttemptAt)
	}
	if some := list("&from=" + since.Format(time.RFC3339)); len(some) != 2 || some[1].EventID != waiting.ID {
		t.Errorf("since %v: %+v", since, some)
	}
	// What the sweeper makes of the lost one has the id that was shown.
	w.publish(lost)
	statuses = answers(200)
	w.run()
	if d := w.delivery(lost, r.hook.ID); d.ID != all[0].ID || d.State != stateDelivered {
		t.Errorf("shown as %s, it became %+v", all[0].ID, d)
	}
	for _, other := range []*apitest.Caller{w.api.Stranger(), w.api.Live()} {
		other.Call(http.MethodGet, path, nil).Refused(t, 404, "not_found", "")
	}
	w.api.Call(http.MethodGet, "/v1/webhooks/"+id.New(id.Webhook, since)+"/deliveries?state=undelivered", nil).Refused(t, 404, "not_found", "")
	w.api.Call(http.MethodGet, path+"&cursor=x", nil).Refused(t, 400, "invalid_cursor", "cursor")
}
