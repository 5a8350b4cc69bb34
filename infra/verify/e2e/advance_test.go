//go:build !deployed

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// simulation is a customer with a sandbox whose clock moves, with a factory that has a schedule of one time a day.
type simulation struct {
	*customer
	t       *testing.T
	key     string
	factory string
	account string
}

func newSimulation(t *testing.T) *simulation {
	c := newCustomer(t)
	r := &simulation{customer: c, t: t, key: c.test.Secret}
	r.factory = into[struct{ ID string }](r.call("POST", "/v1/factories", object{"type": "seller", "name": "Shop",
		"settings": object{"shop_name": "Shop", "currency": "EUR"},
		"schedule": object{"timezone": "Europe/London", "times": []string{"08:00"}}}), http.StatusCreated).ID
	r.account = c.telegram(r.key, r.factory, "@rehearsed")
	return r
}

func (r *simulation) call(method, path string, body any) answer {
	return call(r.t, r.key, method, path, body)
}

// advance moves the clock, and returns its time.
func (r *simulation) advance(d time.Duration) time.Time {
	r.t.Helper()
	return into[struct {
		ClockAt time.Time `json:"clock_at"`
	}](r.call("POST", "/v1/sandbox/advance", object{"seconds": int(d.Seconds())}), http.StatusAccepted).ClockAt
}

// post makes an item that is published at a time, or at next_slot, and returns it once it is scheduled.
func (r *simulation) post(at string) (item struct {
	ID        string
	State     string
	PublishAt time.Time `json:"publish_at"`
}) {
	r.t.Helper()
	made := into[struct{ ID string }](r.call("POST", "/v1/content-items", object{"factory_id": r.factory,
		"kind": "post", "caption": "A shoe", "prompt": "A shoe", "publish_at": at}), http.StatusAccepted)
	r.state(made.ID, "scheduled")
	got := r.call("GET", "/v1/content-items/"+made.ID, nil)
	return into[struct {
		ID        string
		State     string
		PublishAt time.Time `json:"publish_at"`
	}](got, http.StatusOK)
}

// state waits for a state of an item.
func (r *simulation) state(itemID, want string) {
	r.t.Helper()
	poll.Until(r.t, itemID+" is "+want, func() bool {
		got := r.call("GET", "/v1/content-items/"+itemID, nil)
		return into[struct{ State string }](got, http.StatusOK).State == want
	})
}

// count returns the number of resources of a list.
func (r *simulation) count(path string) int {
	r.t.Helper()
	return len(into[[]any](r.call("GET", path, nil), http.StatusOK))
}

const aDay = 24 * time.Hour

// All that asks for the time in a sandbox asks its clock, whenever it was made, and a reset sets it back.
func TestASandboxHasOneClock(t *testing.T) {
	t.Parallel()
	r := newSimulation(t)
	clock := r.advance(40 * aDay)
	if ahead := time.Until(clock); ahead < 39*aDay || ahead > 41*aDay {
		t.Fatalf("the clock is %v ahead", ahead)
	}
	t.Run("times before it are past", func(t *testing.T) {
		past := clock.Add(-aDay).UTC().Format(time.RFC3339)
		err := r.call("POST", "/v1/content-items", object{"factory_id": r.factory, "kind": "post", "caption": "A shoe",
			"prompt": "A shoe", "publish_at": past}).refused(http.StatusUnprocessableEntity, "validation_failed")
		if err != nil {
			t.Error(err)
		}
	})
	item := r.post("next_slot")
	t.Run("next_slot is after it", func(t *testing.T) {
		if item.PublishAt.Before(clock) || item.PublishAt.Sub(clock) > 2*aDay {
			t.Errorf("%v, and the clock is at %v", item.PublishAt, clock)
		}
		listed := r.call("GET", "/v1/publishing/slots?factory_id="+r.factory, nil)
		slots := into[[]struct{ At time.Time }](listed, http.StatusOK)
		if len(slots) == 0 || slots[0].At.Before(clock) {
			t.Errorf("the slots are %v", slots)
		}
	})
	t.Run("what is made after a move falls due by the next, once", func(t *testing.T) {
		r.advance(3 * aDay)
		r.state(item.ID, "published")
		if n := r.count("/v1/publications?state=published&content_item_id=" + item.ID); n != 1 {
			t.Errorf("%d publications", n)
		}
		if n := r.count("/v1/events?type=content.published"); n != 1 {
			t.Errorf("%d events", n)
		}
	})
	t.Run("plans start by it", func(t *testing.T) {
		p := into[struct {
			StartsOn string `json:"starts_on"`
		}](r.call("POST", "/v1/factories/"+r.factory+"/content-plan", object{"days": 2, "posts_per_day": 1,
			"content_types": []string{"post"}}), http.StatusAccepted)
		if p.StartsOn < clock.Format(time.DateOnly) {
			t.Errorf("it starts on %s, and the clock is at %v", p.StartsOn, clock)
		}
	})
	t.Run("a reset sets it back", func(t *testing.T) {
		if a := r.call("POST", "/v1/sandbox/reset", nil); a.Status != http.StatusAccepted {
			t.Fatal(a.Raw)
		}
		if ahead := time.Until(r.advance(time.Second)); ahead > time.Minute {
			t.Errorf("after the reset the clock is %v ahead", ahead)
		}
	})
}

// Promotions are active by the clock of the sandbox, and automations make the items of the times that it passes.
func TestPromotionsAndAutomationsFollowTheClock(t *testing.T) {
	t.Parallel()
	r := newSimulation(t)
	product := into[struct{ ID string }](r.call("POST", "/v1/products", object{"factory_id": r.factory, "sku": "A-1",
		"name": "Shoe", "price": object{"amount": 100, "currency": "EUR"}}), http.StatusCreated).ID
	now := time.Now().UTC()
	promotion := into[struct{ ID, State string }](r.call("POST", "/v1/promotions", object{"factory_id": r.factory,
		"product_ids": []string{product}, "name": "Sale", "discount": object{"kind": "percent", "value": 5},
		"starts_at": now.Add(5 * aDay).Format(time.RFC3339), "ends_at": now.Add(10 * aDay).Format(time.RFC3339)}),
		http.StatusCreated)
	if promotion.State != "scheduled" {
		t.Errorf("it is %s", promotion.State)
	}
	into[struct{}](r.call("POST", "/v1/automations", object{"factory_id": r.factory,
		"trigger":  object{"kind": "time", "cron": "0 9 * * *"},
		"template": object{"kind": "post", "prompt": "The {{date}}", "caption": "The {{date}}"}}), http.StatusCreated)
	for _, step := range []struct {
		days  int
		state string
		items int
	}{{6, "active", 6}, {6, "ended", 12}} {
		r.advance(time.Duration(step.days) * aDay)
		for _, state := range []string{"scheduled", "active", "ended"} {
			want := 0
			if state == step.state {
				want = 1
			}
			if n := r.count("/v1/promotions?state=" + state); n != want {
				t.Errorf("%d promotions are %s", n, state)
			}
		}
		path := fmt.Sprintf("/v1/content-items?factory_id=%s&limit=100", r.factory)
		poll.Until(t, fmt.Sprint(step.items, " items"), func() bool { return r.count(path) >= step.items })
		if n := r.count(path); n != step.items {
			t.Errorf("%d items, want %d", n, step.items)
		}
	}
}
