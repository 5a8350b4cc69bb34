package e2e

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// TestTheSandboxIsReset fills and empties a sandbox, while live data stay.
func TestTheSandboxIsReset(t *testing.T) {
	c := newCustomer(t)
	test, live := c.test.Secret, c.live.Secret
	c.factory(live)
	factory := c.factory(test)
	body := object{"factory_id": factory, "kind": "post", "prompt": "A shoe made of recycled nets"}
	item := into[contentItem](call(t, test, "POST", "/v1/content-items", body), http.StatusAccepted)
	poll.Until(t, "the item", func() bool {
		item = into[contentItem](call(t, test, "GET", "/v1/content-items/"+item.ID, nil), http.StatusOK)
		return item.State == "generated"
	})
	body["sandbox"] = object{"delay_seconds": 60}
	running := into[contentItem](call(t, test, "POST", "/v1/content-items", body), http.StatusAccepted)

	if err := call(t, live, "POST", "/v1/sandbox/reset", nil).refused(http.StatusUnprocessableEntity,
		"validation_failed"); err != nil {
		t.Error(err)
	}
	a := call(t, test, "POST", "/v1/sandbox/reset", nil)
	if a.Status != http.StatusAccepted || a.Header.Get("Location") != "/v1/factories" {
		t.Fatalf("answered %d %v: %s", a.Status, a.Header, a.Raw)
	}
	count := func(key, path string) int { return len(into[[]any](call(t, key, "GET", path, nil), http.StatusOK)) }
	poll.Until(t, "the end of the reset", func() bool { return count(test, "/v1/factories") == 0 })
	for _, path := range []string{"/v1/content-items", "/v1/events", "/v1/studio/generations"} {
		if n := count(test, path); n != 0 {
			t.Errorf("%s lists %d", path, n)
		}
	}
	for _, id := range []string{item.ID, running.ID} {
		if err := call(t, test, "GET", "/v1/content-items/"+id, nil).refused(http.StatusNotFound,
			"not_found"); err != nil {
			t.Error(err)
		}
	}
	poll.Until(t, "the removal of the files", func() bool {
		resp, err := http.Get(item.Media[0].URL)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusNotFound
	})
	if n := count(live, "/v1/factories"); n != 1 {
		t.Errorf("%d live factories are left", n)
	}
}

// TestRefusalsAreRehearsed requests the refusals that live keys can get.
func TestRefusalsAreRehearsed(t *testing.T) {
	key := newCustomer(t).test.Secret
	for outcome, status := range map[string]int{"insufficient_balance": 402, "spend_limit_reached": 402,
		"rate_limited": 429} {
		a := call(t, key, "POST", "/v1/studio/images",
			object{"prompt": "A shoe", "sandbox": object{"outcome": outcome}})
		if err := a.refused(status, outcome); err != nil {
			t.Error(err)
		}
		if after := a.Header.Get("Retry-After"); (after != "") != (status == 429) {
			t.Errorf("%s: Retry-After is %q", outcome, after)
		}
	}
}
