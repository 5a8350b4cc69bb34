package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/base/tenant"
)

// TestWhatAKeyHasSetUpEndsWithIt revokes a key that has set up an automation, a review link, a scheduled post and a
// connection: the automation fails at once with an event, and the others end where they are used.
func TestWhatAKeyHasSetUpEndsWithIt(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key, rest := c.key(tenant.Test, apikey.Settings{}), c.test.Secret
	factory := c.factory(rest)
	item := c.post(rest, factory, "Words")
	automation := into[struct {
		ID        string
		CreatedBy string `json:"created_by"`
	}](call(t, key.Secret, http.MethodPost, "/v1/automations", object{"factory_id": factory,
		"trigger":  object{"kind": "time", "cron": "0 0 1 1 *"},
		"template": object{"kind": "post", "prompt": "A year"}}), http.StatusCreated)
	link := into[struct{ URL string }](call(t, key.Secret, http.MethodPost, "/v1/review-links",
		object{"content_item_ids": []string{item}, "may": "decide"}), http.StatusCreated)
	call(t, key.Secret, http.MethodPost, contentPath+"/"+item+"/schedule", object{
		"publish_at": time.Now().Add(20 * time.Second), "social_account_ids": []string{c.channel(rest)}})
	asked := into[struct {
		ID  string
		URL string `json:"authorization_url"`
	}](call(t, key.Secret, http.MethodPost, "/v1/integrations", object{"kind": "amocrm"}), http.StatusCreated)
	if got := call(t, rest, http.MethodGet, "/v1/integrations/"+asked.ID, nil); asked.URL == "" ||
		!strings.Contains(got.Raw, `"authorization_url":null`) {
		t.Errorf("asked %+v, and it is read as %s", asked, got.Raw)
	}
	note(asked.URL)
	page := func(address string) int {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if status := page(link.URL); status != http.StatusOK || automation.CreatedBy != key.ID {
		t.Errorf("before: the page answers %d, and the automation is of %s", status, automation.CreatedBy)
	}

	call(t, rest, http.MethodDelete, "/v1/api-keys/"+key.ID, nil)
	poll.Until(t, "the automation fails", func() bool {
		got := call(t, rest, http.MethodGet, "/v1/automations/"+automation.ID, nil)
		return strings.Contains(got.Raw, `"state":"failed"`) && strings.Contains(got.Raw, `"code":"authority_ended"`)
	})
	if got := call(t, rest, http.MethodGet, "/v1/events?object_id="+automation.ID, nil); !strings.Contains(got.Raw,
		`"automation.failed"`) {
		t.Errorf("the events of the automation are %s", got.Raw)
	}
	if status := page(link.URL); status != http.StatusNotFound {
		t.Errorf("the review page answers %d", status)
	}
	if status := page(asked.URL); status != http.StatusForbidden {
		t.Errorf("the link of the connection answers %d", status)
	}
	poll.Until(t, "the scheduled post fails", func() bool {
		got := call(t, rest, http.MethodGet, contentPath+"/"+item, nil)
		return strings.Contains(got.Raw, `"state":"failed"`) && strings.Contains(got.Raw, `"code":"authority_ended"`)
	})
}
