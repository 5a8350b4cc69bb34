package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
)

// A receiver that refuses signatures can be mended with the request that it got.
func TestADeliveryShowsTheRequestAsItWasSent(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(answers(500, 200), "*")
	ref := w.Happen(event.ContentGenerated, media.File{ID: "f", Type: media.Image, MIMEType: "image/png",
		Key: "media/a.png", Bytes: 1})
	w.Run()
	got := r.Receipts()
	d := w.Delivery(ref, r.Hook.ID)
	path := "/v1/webhooks/" + r.Hook.ID + "/deliveries/" + d.ID
	var read webhook.DeliveryDetails
	w.API.Call(http.MethodGet, path, nil).Into(t, http.StatusOK, &read)
	last := got[len(got)-1]
	if read.ID != d.ID || len(read.Attempts) != 2 || read.Request == nil || read.Request.Address != r.Server.URL+"/hook" ||
		read.Request.Body == nil || *read.Request.Body != string(last.Body) {
		t.Fatalf("delivery %+v, request %+v", read, read.Request)
	}
	headers := http.Header{}
	for name, value := range read.Request.Headers {
		if name != strings.ToLower(name) || last.Header.Get(name) != value {
			t.Errorf("the header %s is %q, and %q was sent", name, value, last.Header.Get(name))
		}
		headers.Set(name, value)
	}
	key, err := standardwebhooks.NewWebhook(r.Hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.VerifyIgnoringTimestamp([]byte(*read.Request.Body), headers); err != nil {
		t.Error(err)
	}
	// The content of an event needs its scope, and lists leave requests out.
	w.API.Only(auth.WebhooksManage).Call(http.MethodGet, path, nil).Into(t, http.StatusOK, &read)
	if read.Request == nil || read.Request.Body != nil || read.Request.Headers["webhook-signature"] == "" {
		t.Errorf("without the scope: %+v", read.Request)
	}
	if raw := w.API.Call(http.MethodGet, "/v1/webhooks/"+r.Hook.ID+"/deliveries", nil).Raw; strings.Contains(raw,
		"webhook-signature") {
		t.Errorf("the list shows requests: %s", raw)
	}
	w.API.Stranger().Call(http.MethodGet, path, nil).Refused(t, 404, "not_found", "")
	w.API.Live().Call(http.MethodGet, path, nil).Refused(t, 404, "not_found", "")
	w.API.Call(http.MethodGet, "/v1/webhooks/"+r.Hook.ID+"/deliveries/"+id.New(id.Delivery, w.Clock.Now()), nil).
		Refused(t, 404, "not_found", "")
	// The log outlives its webhook.
	w.API.Call(http.MethodDelete, "/v1/webhooks/"+r.Hook.ID, nil)
	w.API.Call(http.MethodGet, path, nil).Into(t, http.StatusOK, &read)
	w.API.Call(http.MethodPost, path+"/redeliver", nil).Refused(t, 404, "not_found", "")
}

// An event that got lost has a delivery to read, as the list of undelivered events says.
func TestADeliveryThatIsNotMadeYetCanBeRead(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(answers(200), "*")
	w.Clock.Add(time.Minute)
	w.Happen(event.ContentGenerated) // not dispatched
	var all []webhook.Delivery
	path := "/v1/webhooks/" + r.Hook.ID + "/deliveries"
	w.API.Call(http.MethodGet, path+"?state=undelivered", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 {
		t.Fatalf("%d deliveries", len(all))
	}
	var read webhook.DeliveryDetails
	w.API.Call(http.MethodGet, path+"/"+all[0].ID, nil).Into(t, http.StatusOK, &read)
	if read.ID != all[0].ID || read.WaitingFor == nil || *read.WaitingFor != webhook.WaitsDispatch ||
		read.NextAttemptAt != nil || read.Request != nil {
		t.Errorf("%+v", read)
	}
}
