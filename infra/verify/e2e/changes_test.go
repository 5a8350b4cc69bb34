package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// told waits for the events of a type, and returns the ids of what they are about.
func told(t *testing.T, key, family string, want int) (about []string) {
	t.Helper()
	poll.Until(t, family, func() bool {
		events := into[[]struct {
			Type string
			Data struct{ Object struct{ ID string } }
		}](call(t, key, "GET", "/v1/events?limit=100&type="+family, nil), http.StatusOK)
		about = nil
		for _, e := range events {
			about = append(about, e.Data.Object.ID)
		}
		return len(about) >= want
	})
	if len(about) != want {
		t.Errorf("%d events %s, want %d", len(about), family, want)
	}
	return about
}

// TestChangesAreTold makes the changes that had no event once, and reads their events.
func TestChangesAreTold(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	hooks.subscribe(t, key, "factory.*", "media.*", "import.*", "content_plan.*")
	factory := c.factory(key)
	if about := told(t, key, "factory.created", 1); about[0] != factory {
		t.Errorf("factory.created is about %v, not %s", about, factory)
	}
	ready := bring(t, key, "image/png", picture(t, 90, 160))
	if about := told(t, key, "media.ready", 1); about[0] != ready {
		t.Errorf("media.ready is about %v, not %s", about, ready)
	}
	text := []byte(strings.Repeat("this is no picture ", 20))
	made := into[ownMedia](call(t, key, http.MethodPost, "/v1/media", declared("image/png", text)), http.StatusCreated)
	send(t, made, text)
	if m := settled(t, key, made.ID); m.State != "rejected" {
		t.Errorf("it is %s", m.State)
	}
	if about := told(t, key, "media.rejected", 1); about[0] != made.ID {
		t.Errorf("media.rejected is about %v, not %s", about, made.ID)
	}
	plan := into[struct{ ID string }](call(t, key, "POST", "/v1/factories/"+factory+"/content-plan", object{"days": 2,
		"posts_per_day": 1, "content_types": []string{"post"}, "sandbox": object{"outcome": "failed"}}),
		http.StatusAccepted).ID
	if about := told(t, key, "content_plan.failed", 1); about[0] != plan {
		t.Errorf("content_plan.failed is about %v, not %s", about, plan)
	}
	told(t, key, "content_plan.completed", 0)
	begun := into[transferred](call(t, key, "POST", "/v1/exports", object{}), http.StatusAccepted)
	x := transferEnds(t, key, "/v1/exports", begun)
	other := newCustomer(t).test.Secret
	i := into[transferred](call(t, other, "POST", "/v1/imports", object{"parts": x.Parts}), http.StatusAccepted)
	transferEnds(t, other, "/v1/imports", i)
	if about := told(t, other, "import.completed", 1); about[0] != i.ID {
		t.Errorf("import.completed is about %v, not %s", about, i.ID)
	}
	told(t, other, "factory.created", 0) // what is imported is not announced
	for _, id := range []string{factory, ready, made.ID, plan} {
		poll.Until(t, "the delivery about "+id, func() bool { return len(hooks.about(id)) > 0 })
	}
	for path, id := range map[string]string{"/v1/exports": x.ID, "/v1/imports": i.ID} {
		owner := key
		if path == "/v1/imports" {
			owner = other
		}
		for query, want := range map[string]int{"": 1, "?state=completed": 1, "?state=running": 0, "?state=failed": 0,
			"?order=asc&limit=1": 1} {
			rows := into[[]struct{ ID string }](call(t, owner, "GET", path+query, nil), http.StatusOK)
			if len(rows) != want || want == 1 && rows[0].ID != id {
				t.Errorf("%s%s lists %v", path, query, rows)
			}
		}
		if rows := into[[]any](call(t, newCustomer(t).test.Secret, "GET", path, nil), http.StatusOK); len(rows) != 0 {
			t.Errorf("%s shows another account's: %v", path, rows)
		}
	}
}
