//go:build !deployed

package e2e

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// TestWebhooksOfFactories has two factories and a webhook for each of them.
func TestWebhooksOfFactories(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	type place struct {
		factory, webhook, item string
		hooks                  *receiver
	}
	type webhook struct {
		ID         string   `json:"id"`
		FactoryIDs []string `json:"factory_ids"`
	}
	var places []place
	for range 2 {
		p := place{factory: c.factory(key), hooks: newReceiver(t)}
		made := into[webhook](call(t, key, "POST", "/v1/webhooks", object{
			"url": p.hooks.URL, "event_types": []string{"content.*"}, "factory_ids": []string{p.factory},
		}), http.StatusCreated)
		if len(made.FactoryIDs) != 1 || made.FactoryIDs[0] != p.factory {
			t.Errorf("webhook %+v", made)
		}
		p.webhook = made.ID
		places = append(places, p)
	}
	everything := newReceiver(t)
	everything.subscribe(t, key, "content.*")

	generate := func(factory string) string {
		return into[contentItem](call(t, key, "POST", "/v1/content-items", object{
			"factory_id": factory, "kind": "post", "prompt": "A shoe",
		}), http.StatusAccepted).ID
	}
	for i := range places {
		places[i].item = generate(places[i].factory)
	}
	for i, p := range places {
		poll.Until(t, "the webhook of the factory", func() bool { return len(p.hooks.about(p.item)) > 0 })
		poll.Until(t, "the webhook of all factories", func() bool { return len(everything.about(p.item)) > 0 })
		// One dispatch makes all deliveries of an event, so the other delivery would be known by now.
		other := places[1-i]
		if made := into[[]object](call(t, key, "GET", "/v1/webhooks/"+other.webhook+"/deliveries", nil),
			http.StatusOK); len(made) > 1 {
			t.Errorf("the webhook of %s has the deliveries %v", other.factory, made)
		}
		if n := len(other.hooks.about(p.item)); n != 0 {
			t.Errorf("the webhook of %s got %d events of %s", other.factory, n, p.factory)
		}
	}

	// Without its filter, the first webhook also gets the events of the second factory.
	freed := into[webhook](call(t, key, "PATCH", "/v1/webhooks/"+places[0].webhook, object{"factory_ids": nil}),
		http.StatusOK)
	if freed.FactoryIDs == nil || len(freed.FactoryIDs) != 0 {
		t.Errorf("freed: %+v", freed)
	}
	again := generate(places[1].factory)
	poll.Until(t, "the webhook without its filter", func() bool { return len(places[0].hooks.about(again)) > 0 })

	// A factory of the other mode does not exist for the caller.
	a := call(t, c.live.Secret, "POST", "/v1/webhooks", object{
		"url": places[0].hooks.URL, "event_types": []string{"*"}, "factory_ids": []string{places[0].factory},
	})
	if err := a.refused(404, "not_found"); err != nil {
		t.Error(err)
	}
	if a.Error != nil && a.Error.Param != "/factory_ids/0" {
		t.Errorf("param %q", a.Error.Param)
	}
}
