//go:build !deployed

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// planned waits until a plan is in a state.
func planned(t *testing.T, key, at, state string) (p contentPlan) {
	t.Helper()
	poll.Until(t, "the plan at "+at+" is "+state, func() bool {
		p = into[contentPlan](call(t, key, http.MethodGet, at, nil), http.StatusOK)
		return p.State == state
	})
	return p
}

func itemsOf(t *testing.T, key, planID string) []plannedItem {
	t.Helper()
	return into[[]plannedItem](call(t, key, http.MethodGet, "/v1/content-items?limit=100&order=asc&content_plan_id="+
		planID, nil), http.StatusOK)
}

// A plan makes its items: with a test key by the sandbox, and with a live key by a model of
// Bedrock, whose first answer repeats a topic.

func TestContentPlan(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	for mode, key := range map[string]string{"test": c.test.Secret, "live": c.live.Secret} {
		t.Run(mode, func(t *testing.T) {
			factory := "/v1/factories/" + c.factory(key)
			into[object](call(t, key, http.MethodPatch, factory,
				object{"schedule": object{"timezone": "America/New_York", "times": []string{"08:00", "20:15"}}}),
				http.StatusOK)
			a := call(t, key, http.MethodPost, factory+"/content-plan",
				object{"days": 2, "posts_per_day": 2, "content_types": []string{"post"}})
			made := into[contentPlan](a, http.StatusAccepted)
			if made.State != "queued" || made.Items.Total != 4 || made.Estimate == 0 ||
				(mode == "live") != (made.Reserved == made.Estimate) || a.Header.Get("Retry-After") == "" {
				t.Errorf("%+v, %v", made, a.Header)
			}
			done := planned(t, key, a.Header.Get("Location"), "completed")
			if done.Items.Generated != 4 || done.Reserved != 0 || (mode == "live") != (done.Cost == done.Estimate) {
				t.Errorf("%+v", done)
			}
			zone, err := time.LoadLocation("America/New_York")
			if err != nil {
				t.Fatal(err)
			}
			topics := map[string]bool{}
			for i, it := range itemsOf(t, key, made.ID) {
				topics[it.Prompt] = true
				if at := it.PublishAt.In(zone).Format("15:04"); it.State != "generated" ||
					at != []string{"08:00", "20:15"}[i%2] {
					t.Errorf("item %d: %+v at %s", i, it, at)
				}
			}
			if len(topics) != 4 {
				t.Errorf("topics %v", topics)
			}
			if events := into[[]object](call(t, key, http.MethodGet, "/v1/events?object_id="+made.ID, nil),
				http.StatusOK); len(events) != 1 || events[0]["type"] != "content_plan.completed" {
				t.Errorf("events %v", events)
			}
			again, total := object{"days": 1, "posts_per_day": 3, "content_types": []string{"post"}}, int64(3)
			if mode == "test" { // More than one transaction can make.
				again["days"], again["posts_per_day"], total = 3, 10, 30
			}
			if err := call(t, key, http.MethodPost, factory+"/content-plan", again).refused(http.StatusConflict,
				"invalid_state"); err != nil {
				t.Error(err)
			}
			again["replace"] = true
			second := into[contentPlan](call(t, key, http.MethodPost, factory+"/content-plan", again),
				http.StatusAccepted)
			if done := planned(t, key, factory+"/content-plan", "completed"); done.ID != second.ID ||
				done.Items.Generated != total {
				t.Errorf("the second plan: %+v", done)
			}
		})
	}
}

// With the printed live key, the topics and texts of the fake models are in the language of the factory, about its
// subject.
func TestALiveKeySpeaksTheLanguageOfTheFactory(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	key := c.live.Secret
	for language, pillar := range map[string]string{"he": "לחם מחמצת", "th": "ขนมปังยีสต์ธรรมชาติ", "vi": "Bánh mì men tự nhiên",
		"ko": "천연 발효 빵", "pl": "Chleb na zakwasie"} {
		f := into[struct{ ID string }](call(t, key, http.MethodPost, "/v1/factories", object{"type": "brand",
			"name": "Acme", "language": language, "topics": []string{pillar}, "settings": object{"brand_name": "Acme"}}),
			http.StatusCreated)
		a := call(t, key, http.MethodPost, "/v1/factories/"+f.ID+"/content-plan",
			object{"days": 2, "posts_per_day": 1, "content_types": []string{"post"}})
		made := into[contentPlan](a, http.StatusAccepted)
		done := planned(t, key, a.Header.Get("Location"), "completed")
		items := itemsOf(t, key, made.ID)
		if done.Items.Generated != 2 || len(items) != 2 {
			t.Errorf("%s: %+v", language, done)
		}
		for _, it := range items {
			if !strings.HasPrefix(it.Prompt, pillar+": ") {
				t.Errorf("%s: the topic is %q", language, it.Prompt)
			}
		}
	}
}

// A paused factory keeps its queued work until it is resumed; a deleted factory ends it.
func TestPauseResumeAndDeleteAFactory(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(10_000)
	key := c.live.Secret
	factory := "/v1/factories/" + c.factory(key)
	a := call(t, key, http.MethodPost, factory+"/content-plan",
		object{"days": 1, "posts_per_day": 2, "content_types": []string{"post"}})
	made := into[contentPlan](a, http.StatusAccepted)
	into[object](call(t, key, http.MethodPatch, factory, object{"state": "paused"}), http.StatusOK)
	if err := call(t, key, http.MethodPost, "/v1/content-items", object{"factory_id": factory[len("/v1/factories/"):],
		"kind": "post", "prompt": "A shoe"}).refused(http.StatusConflict, "invalid_state"); err != nil {
		t.Error(err)
	}
	into[object](call(t, key, http.MethodPatch, factory, object{"state": "active"}), http.StatusOK)
	planned(t, key, a.Header.Get("Location"), "completed")

	before := into[struct{ Balance struct{ Credits int64 } }](call(t, key, http.MethodGet, "/v1/me", nil),
		http.StatusOK).Balance.Credits
	second := into[contentPlan](call(t, key, http.MethodPost, factory+"/content-plan",
		object{"days": 5, "posts_per_day": 10, "starts_on": time.Now().AddDate(0, 0, 60).Format(time.DateOnly),
			"content_types": []string{"post"}}), http.StatusAccepted)
	into[object](call(t, key, http.MethodDelete, factory, nil), http.StatusOK)
	if err := call(t, key, http.MethodGet, factory, nil).refused(http.StatusNotFound, "not_found"); err != nil {
		t.Error(err)
	}
	poll.Until(t, "the work of "+factory+" has ended", func() bool {
		cost := int64(0)
		for _, it := range into[[]struct {
			State string
			Cost  int64 `json:"cost_credits"`
		}](call(t, key, http.MethodGet, "/v1/content-items?limit=100&content_plan_id="+second.ID, nil), http.StatusOK) {
			if it.State == "queued" || it.State == "generating" {
				return false
			}
			cost += it.Cost
		}
		me := into[struct{ Balance struct{ Credits int64 } }](call(t, key, http.MethodGet, "/v1/me", nil),
			http.StatusOK)
		return me.Balance.Credits == before-cost
	})
	if items := itemsOf(t, key, made.ID); len(items) != 2 || items[0].State != "generated" {
		t.Errorf("left are %+v", items)
	}
}
