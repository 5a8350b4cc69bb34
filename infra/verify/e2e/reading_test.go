//go:build !deployed

package e2e

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

// TestEventsReachOnlyWhoMayReadThem reads events with keys and webhooks that lack the scope of
// the events' resources.
func TestEventsReachOnlyWhoMayReadThem(t *testing.T) {
	c := newCustomer(t)
	all := c.test.Secret
	scoped := func(scopes ...auth.Scope) apikey.NewKey {
		return c.key(tenant.Test, apikey.Settings{Scopes: scopes})
	}
	reader, hooker, maker := scoped(auth.AccountRead), scoped(auth.WebhooksManage),
		scoped(auth.WebhooksManage, auth.ContentRead)
	factory := c.factory(all)
	generate := func() string {
		t.Helper()
		item := into[contentItem](call(t, all, "POST", "/v1/content-items",
			object{"factory_id": factory, "kind": "story", "prompt": "A shoe"}), http.StatusAccepted)
		return item.ID
	}
	type webhook struct {
		ID        string
		CreatedBy string `json:"created_by"`
	}
	witness, denied, narrowed := newReceiver(t), newReceiver(t), newReceiver(t)
	witness.subscribe(t, all, "*")
	denied.subscribe(t, hooker.Secret, "*", "content.*")
	made := into[webhook](call(t, maker.Secret, "POST", "/v1/webhooks",
		object{"url": narrowed.URL + "/hook", "event_types": []string{"*"}}), http.StatusCreated)
	if made.CreatedBy != maker.ID {
		t.Errorf("created_by is %s, not %s", made.CreatedBy, maker.ID)
	}
	path := "/v1/webhooks/" + made.ID

	first := generate()
	poll.Until(t, "the event at both that may read it", func() bool {
		return len(witness.about(first)) == 1 &&
			len(narrowed.about(first)) == 1
	})
	events := into[[]webhookEvent](call(t, all, "GET", "/v1/events?type=content.*", nil), http.StatusOK)
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	if sent := into[[]webhook](call(t, all, "GET", path+"/deliveries?state=pending,delivered&event_id="+events[0].ID,
		nil), http.StatusOK); len(sent) != 1 {
		t.Errorf("its deliveries are %+v", sent)
	}
	if seen := into[[]webhookEvent](call(t, reader.Secret, "GET", "/v1/events", nil), http.StatusOK); len(seen) != 0 {
		t.Errorf("account:read lists %+v", seen)
	}
	for _, err := range []error{
		call(t, reader.Secret, "GET", "/v1/events/"+events[0].ID, nil).refused(404, "not_found"),
		call(t, reader.Secret, "GET", "/v1/events?type=content.generated", nil).refused(403, "insufficient_scope"),
		call(t, hooker.Secret, "POST", "/v1/webhooks",
			object{"url": denied.URL, "event_types": []string{"content.generated"}}).refused(403, "scope_escalation"),
		call(t, hooker.Secret, "PATCH", path, object{"url": denied.URL}).refused(403, "scope_escalation"),
		call(t, hooker.Secret, "PATCH", path, object{"event_types": []string{"content.*"}}).refused(403,
			"scope_escalation"),
	} {
		if err != nil {
			t.Error(err)
		}
	}

	moved := newReceiver(t)
	into[webhook](call(t, maker.Secret, "PATCH", path, object{"url": moved.URL + "/hook"}), http.StatusOK)
	second := generate()
	poll.Until(t, "the event at the new address", func() bool {
		return len(moved.about(second)) == 1 &&
			len(witness.about(second)) == 1
	})

	into[struct{ ID string }](call(t, all, "PATCH", "/v1/api-keys/"+maker.ID,
		object{"scopes": []string{"webhooks:manage"}}), http.StatusOK)
	third := generate()
	poll.Until(t, "the event at the witness", func() bool { return len(witness.about(third)) == 1 })
	into[struct{ ID string }](call(t, all, "PATCH", "/v1/api-keys/"+maker.ID,
		object{"scopes": []string{"webhooks:manage", "content:read"}}), http.StatusOK)
	fourth := generate()
	poll.Until(t, "the event after the scope is back", func() bool { return len(moved.about(fourth)) == 1 })
	denied.mu.Lock()
	defer denied.mu.Unlock()
	if n := len(moved.about(third)) + len(narrowed.about(second)) + len(denied.got); n != 0 {
		t.Errorf("%d events reached who may not read them, or the old address", n)
	}
}

// TestSamplesAreLimited sends more samples than a webhook permits.
func TestSamplesAreLimited(t *testing.T) {
	c := newCustomer(t)
	hooks := newReceiver(t)
	var paths []string
	for range 2 {
		made := into[struct{ ID string }](call(t, c.test.Secret, "POST", "/v1/webhooks",
			object{"url": hooks.URL, "event_types": []string{"balance.low"}}), http.StatusCreated)
		paths = append(paths, "/v1/webhooks/"+made.ID+"/test")
	}
	sample := object{"event_type": "balance.low"}
	// The minute may end in between.
	var last answer
	n := 0
	for ; n <= 2*10; n++ {
		if last = call(t, c.test.Secret, "POST", paths[0], sample); last.Status != http.StatusAccepted {
			break
		}
	}
	if err := last.refused(429, "rate_limited"); err != nil || n < 10 {
		t.Fatalf("after %d samples: %v", n, err)
	}
	if wait, err := strconv.Atoi(last.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
		t.Errorf("Retry-After is %q", last.Header.Get("Retry-After"))
	}
	if a := call(t, c.test.Secret, "POST", paths[1], sample); a.Status != http.StatusAccepted {
		t.Errorf("the other webhook: %s", a.Raw)
	}
}

// TestDestinationsOfTheServiceAreRefused aims webhooks at the service's own account.
func TestDestinationsOfTheServiceAreRefused(t *testing.T) {
	c := newCustomer(t)
	const own = "000000000000"
	for of, arn := range map[string]string{"sqs": "arn:aws:sqs:" + running.Region + ":" + own + ":deliver",
		"eventbridge": "arn:aws:events:" + running.Region + ":" + own + ":event-bus/local"} {
		a := call(t, c.test.Secret, "POST", "/v1/webhooks", object{
			"destination": object{"kind": of, "arn": arn, "role_arn": "arn:aws:iam::" + own +
				":role/content-automation-events"}, "event_types": []string{"*"},
		})
		if err := a.refused(422, "validation_failed"); err != nil || a.Error.Param != "/destination/arn" {
			t.Errorf("%s: %v %+v", of, err, a.Error)
		}
	}
}
