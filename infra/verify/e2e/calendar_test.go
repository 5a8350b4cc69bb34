//go:build !deployed

package e2e

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// One call creates an item that is published at its time. Automatic publishing that is turned on later schedules what a
// plan holds. Both are found by their times.
func TestCalendar(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	secret := c.test.Secret
	factory := c.factory(secret)
	account := c.channel(secret)
	into[object](call(t, secret, http.MethodPut, "/v1/factories/"+factory+"/social-accounts/"+account, nil),
		http.StatusOK)
	started := time.Now()

	one := into[published](call(t, secret, http.MethodPost, contentPath, object{"factory_id": factory, "kind": "post",
		"prompt": "A shoe", "publish_at": started.Add(5 * time.Second), "options": object{"telegram": object{"silent": true}},
		"metadata": object{"order": "4711"}}), http.StatusAccepted)
	if one.PublishAt == nil {
		t.Errorf("%+v", one)
	}
	if got := until(t, secret, one.ID, "published"); len(got.Publications) != 1 ||
		got.Publications[0].State != "published" || time.Since(started) < 4*time.Second {
		t.Errorf("after %v: %+v", time.Since(started), got)
	}

	path := "/v1/factories/" + factory
	into[object](call(t, secret, http.MethodPost, path+"/content-plan", object{"days": 2, "posts_per_day": 1,
		"content_types": []string{"post"}}), http.StatusAccepted)
	type items []published
	of := func(query string) items {
		return into[items](call(t, secret, http.MethodGet, contentPath+"?"+query, nil), http.StatusOK)
	}
	poll.Until(t, "the plan holds its items", func() bool {
		held := of("state=generated&factory_id=" + factory)
		return len(held) == 2
	})
	into[object](call(t, secret, http.MethodPatch, path, object{"auto_publish": true}), http.StatusOK)
	tomorrow := url.QueryEscape(started.Add(time.Hour).UTC().Format(time.RFC3339))
	poll.Until(t, "the plan is scheduled", func() bool {
		return len(of("state=scheduled&publish_from="+tomorrow)) == 2
	})
	if got := of("metadata[order]=4711&publish_to=" + tomorrow); len(got) != 1 || got[0].ID != one.ID {
		t.Errorf("found %+v", got)
	}
}
