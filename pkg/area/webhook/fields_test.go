package webhook_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
)

type object = map[string]any

// membersOf returns the members of the object of a request.
func membersOf(t *testing.T, body []byte) string {
	t.Helper()
	var e event.Event
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(e.Data.Object, &members); err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Sorted(maps.Keys(members)), " ")
}

// The receiver of the world verifies each request over its bytes.
func TestAWebhookReceivesTheFieldsThatItChooses(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(answers(500, 200), "*")
	hook := "/v1/webhooks/" + r.Hook.ID
	set := func(fields any) (out webhook.Webhook) {
		w.API.Call(http.MethodPatch, hook, object{"fields": fields}).Into(t, http.StatusOK, &out)
		return out
	}
	if got := set([]string{"state", "media"}); strings.Join(got.Fields, " ") != "state media" {
		t.Errorf("fields %v", got.Fields)
	}
	ref := w.Happen(event.ContentGenerated, media.File{ID: "f", Type: media.Image, MIMEType: "image/png",
		Key: "media/a.png", Bytes: 1})
	w.Run()
	// An event without a chosen member has its id.
	w.Happen(event.BalanceLow)
	w.Run()
	// The sample has both.
	w.API.Call(http.MethodPost, hook+"/test", object{"event_type": "content.failed"})
	w.Relay()
	w.Run()
	var got []string
	for _, one := range r.Receipts() {
		got = append(got, membersOf(t, one.Body))
	}
	if want := []string{"id media", "id media", "id media", "id media state"}; !slices.Equal(got, want) {
		t.Errorf("received %q, want %q", got, want)
	}
	var read webhook.DeliveryDetails
	w.API.Call(http.MethodGet, hook+"/deliveries/"+w.Delivery(ref, r.Hook.ID).ID, nil).Into(t, http.StatusOK, &read)
	if read.Request == nil || *read.Request.Body != string(r.Receipts()[1].Body) {
		t.Errorf("the delivery shows %+v", read.Request)
	}
	// A delivery that is repeated has the fields of now.
	if got := set(nil); got.Fields == nil || len(got.Fields) != 0 {
		t.Errorf("fields %v", got.Fields)
	}
	w.API.Call(http.MethodPost, hook+"/deliveries/"+read.ID+"/redeliver", nil)
	w.Relay()
	w.Run()
	if all := r.Receipts(); membersOf(t, all[len(all)-1].Body) != "id media text" {
		t.Errorf("received %s", all[len(all)-1].Body)
	}
}

func TestFieldsAreMembersOfTheEvents(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(answers(200), "content.*")
	hook := "/v1/webhooks/" + r.Hook.ID
	body := object{"url": r.Server.URL + "/hook", "event_types": []string{"content.*"},
		"fields": []string{"state", "stat"}}
	a := w.API.Call(http.MethodPost, "/v1/webhooks", body)
	a.Refused(t, 422, "validation_failed", "/fields/1")
	if !strings.Contains(a.Error.Message, "did you mean state?") {
		t.Error(a.Error.Message)
	}
	body["fields"] = []string{"state", "publications"}
	var made webhook.NewWebhook
	w.API.Call(http.MethodPost, "/v1/webhooks", body).Into(t, http.StatusCreated, &made)
	if strings.Join(made.Fields, " ") != "state publications" {
		t.Errorf("fields %v", made.Fields)
	}
	w.API.Call(http.MethodPatch, hook, object{"fields": []string{"credits"}}).Refused(t, 422, "validation_failed",
		"/fields/0")
	// Other events need other fields.
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+made.ID, object{"event_types": []string{"balance.low"}}).Refused(t, 422,
		"validation_failed", "/fields/0")
	w.API.Call(http.MethodPatch, hook, object{"fields": []string{"state", "state"}}).Refused(t, 422,
		"validation_failed", "/fields")
}
