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

// client is a profile with a key that is bound to it.
type client struct{ profile, key string }

// client makes a client of the customer, an agency, in a mode.
func (c *customer) client(mode tenant.Mode, body object) (made client) {
	c.t.Helper()
	own := c.test.Secret
	if mode == tenant.Live {
		own = c.live.Secret
	}
	made.profile = into[struct{ ID string }](call(c.t, own, "POST", "/v1/profiles", body), http.StatusCreated).ID
	made.key = c.key(mode, apikey.Settings{ProfileIDs: []tenant.Profile{tenant.Profile(made.profile)}}).Secret
	return made
}

// TestProfiles follows the content of two clients of an agency to their webhooks.
func TestProfiles(t *testing.T) {
	c := newCustomer(t)
	first := c.client(tenant.Test, object{"name": "Harbour Coffee"})
	second := c.client(tenant.Test, object{"name": "Alpine Bikes"})
	hooks, others, agency := newReceiver(t), newReceiver(t), newReceiver(t)
	hooks.subscribe(t, first.key, "content.*")
	others.subscribe(t, second.key, "content.*")
	agency.subscribe(t, c.test.Secret, "content.*")
	factory := c.factory(first.key)
	// The agency itself makes the item, which belongs to the profile of the factory all the same.
	item := into[contentItem](call(t, c.test.Secret, "POST", "/v1/content-items", object{
		"factory_id": factory, "kind": "post", "prompt": "A new roast",
	}), http.StatusAccepted)
	poll.Until(t, "the event of the first client", func() bool {
		return len(hooks.about(item.ID)) == 1 && len(agency.about(item.ID)) == 1
	})
	if n := len(others.about(item.ID)); n != 0 {
		t.Errorf("the webhook of the other client got %d events", n)
	}
	into[object](call(t, first.key, "POST", "/v1/content-items/"+item.ID+"/schedule", object{
		"publish_at": time.Now().Add(time.Hour), "social_account_ids": []string{c.channel(first.key)},
	}), http.StatusOK)
	for _, list := range []string{"/v1/content-items", "/v1/publications"} {
		for of, want := range map[string]bool{"?profile_id=" + first.profile: true, "?profile_id=" + second.profile: false} {
			if got := call(t, c.test.Secret, "GET", list+of, nil); got.Status != 200 ||
				strings.Contains(got.Raw, item.ID) != want {
				t.Errorf("%s%s: %d %s", list, of, got.Status, got.Raw)
			}
		}
	}
	for path, want := range map[string]int{"/v1/content-items/" + item.ID: 404, "/v1/factories/" + factory: 404,
		"/v1/profiles/" + first.profile: 404, "/v1/api-keys": 403, "/v1/profiles/" + second.profile: 200} {
		if got := call(t, second.key, "GET", path, nil); got.Status != want {
			t.Errorf("%s: %d %s", path, got.Status, got.Raw)
		}
	}
	for _, path := range []string{"/v1/events", "/v1/content-items", "/v1/factories"} {
		if got := call(t, second.key, "GET", path, nil); got.Status != 200 || string(got.Data) != "[]" {
			t.Errorf("%s: %d %s", path, got.Status, got.Raw)
		}
		if got := call(t, first.key, "GET", path, nil); got.Status != 200 || !strings.Contains(got.Raw, "_01") {
			t.Errorf("%s of the first client: %d %s", path, got.Status, got.Raw)
		}
	}
	if err := call(t, c.test.Secret, "DELETE", "/v1/profiles/"+first.profile, nil).refused(409,
		"invalid_state"); err != nil {
		t.Error(err)
	}
	unused := into[struct{ ID string }](call(t, c.test.Secret, "POST", "/v1/profiles", object{"name": "Unused"}),
		http.StatusCreated)
	into[object](call(t, c.test.Secret, "DELETE", "/v1/profiles/"+unused.ID, nil), http.StatusOK)
	if got := call(t, c.test.Secret, "GET", "/v1/profiles/"+unused.ID, nil); got.Status != http.StatusNotFound {
		t.Errorf("the deleted profile: %d %s", got.Status, got.Raw)
	}
}

// TestTheLimitOfAProfile spends up to the limit of a client's month, whoever spends.
func TestTheLimitOfAProfile(t *testing.T) {
	c := newCustomer(t)
	c.topUp(10_000)
	made := c.client(tenant.Live, object{"name": "Harbour Coffee", "spend_limit_credits": 1})
	body := object{"prompt": "A cup of coffee", "profile_id": made.profile}
	for _, key := range []string{made.key, c.live.Secret} {
		if err := call(t, key, "POST", "/v1/studio/images", body).refused(402, "spend_limit_reached"); err != nil {
			t.Error(err)
		}
	}
	call(t, c.live.Secret, "PATCH", "/v1/profiles/"+made.profile, object{"spend_limit_credits": 1000})
	generation := into[struct {
		ID      string
		Profile string `json:"profile_id"`
	}](call(t, made.key, "POST", "/v1/studio/images", body), http.StatusAccepted)
	if generation.Profile != made.profile {
		t.Errorf("the generation belongs to %q", generation.Profile)
	}
	type usage struct {
		Usage struct {
			Spent int64 `json:"used_credits"`
			Left  int64 `json:"remaining_credits"`
		}
	}
	u := into[usage](call(t, made.key, "GET", "/v1/profiles/"+made.profile, nil), http.StatusOK)
	me := into[struct{ Balance struct{ Credits int64 } }](call(t, made.key, "GET", "/v1/me", nil), http.StatusOK)
	if u.Usage.Spent <= 0 || u.Usage.Spent+u.Usage.Left != 1000 || me.Balance.Credits != u.Usage.Left {
		t.Errorf("usage %+v, the key may spend %d", u.Usage, me.Balance.Credits)
	}
	if got := call(t, made.key, "GET", "/v1/balance/entries", nil); strings.Count(got.Raw, `"kind":"reserve"`) != 1 ||
		strings.Contains(got.Raw, "top_up") {
		t.Errorf("the entries of the client: %s", got.Raw)
	}
}

// TestAnAutomationOfAClient makes an item at a time, which belongs to the client.
func TestAnAutomationOfAClient(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	made := c.client(tenant.Test, object{"name": "Harbour Coffee"})
	a := into[struct {
		ID, State string
		Profile   string `json:"profile_id"`
	}](call(t, made.key, "POST", "/v1/automations", object{"factory_id": c.factory(made.key),
		"trigger":  object{"kind": "time", "cron": "* * * * *"},
		"template": object{"kind": "post", "prompt": "A tip for {{date}}"}}), http.StatusCreated)
	if a.Profile != made.profile || a.State != "active" {
		t.Errorf("created %+v", a)
	}
	poll.Until(t, "the item of the next minute", func() bool {
		got := call(t, made.key, "GET", "/v1/content-items", nil)
		return strings.Contains(got.Raw, `"prompt":"A tip for 2`)
	})
	if got := call(t, made.key, "DELETE", "/v1/automations/"+a.ID, nil); got.Status != 200 {
		t.Errorf("deleted: %d %s", got.Status, got.Raw)
	}
}
