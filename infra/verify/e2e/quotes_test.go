//go:build !deployed

package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/generate/catalog"
)

type rehearsed struct {
	ID        string
	Rehearsal *struct {
		ID       string
		Credits  int64
		Refusals []struct{ Code, Param, Message string }
		Items    []struct {
			PublishAt time.Time `json:"publish_at"`
			Kind      string
			Credits   int64
			Models    []struct{ Task, Model string }
		}
	}
	QuoteID         *string `json:"quote_id"`
	ReservedCredits int64   `json:"reserved_credits"`
	CostCredits     int64   `json:"cost_credits"`
	State           string
}

type quote struct {
	ID          string
	Credits     int64
	UsedCredits int64     `json:"used_credits"`
	CreatedIDs  []string  `json:"created_ids"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// A plan is rehearsed with a live key, its price is quoted, prices rise, and the plan runs as rehearsed, at that price.
// No other test makes pictures with its model, and none runs beside it: so the price can change.
func TestAQuoteHoldsThroughAChangeOfPrices(t *testing.T) {
	const model = "recraft-3"
	c := newCustomer(t)
	c.topUp(10_000)
	key := c.live.Secret
	factory := c.factory(key)
	into[any](call(t, key, http.MethodPatch, "/v1/factories/"+factory, object{"models": object{"image": model},
		"schedule": object{"timezone": "Europe/Berlin", "times": []string{"09:00", "18:30"}}}), http.StatusOK)
	at := "/v1/factories/" + factory + "/content-plan"
	body := object{"days": 1, "posts_per_day": 2, "content_types": []string{"post"}}
	with := func(name string, value any) object {
		b := object{name: value}
		for member, v := range body {
			b[member] = v
		}
		return b
	}
	first := into[rehearsed](call(t, key, http.MethodPost, at, with("rehearse", true)), http.StatusAccepted)
	r := first.Rehearsal
	if r == nil || len(r.Refusals) > 0 || len(r.Items) != 2 || r.Credits == 0 || c.balance() != 10_000 {
		t.Fatalf("the rehearsal is %+v", r)
	}
	if !slices.ContainsFunc(r.Items[0].Models, func(m struct{ Task, Model string }) bool { return m.Model == model }) {
		t.Errorf("its models are %+v", r.Items[0].Models)
	}
	if err := call(t, key, http.MethodGet, at+"?content_plan_id="+first.ID, nil).refused(404, "not_found"); err != nil {
		t.Error(err)
	}
	q := into[quote](call(t, key, http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}), http.StatusCreated)
	m, _ := catalog.Find(model)
	was := *m.Price
	m.Price.Credits *= 10
	defer func() { *m.Price = was }()
	now := into[rehearsed](call(t, key, http.MethodPost, at, with("rehearse", true)), http.StatusAccepted)
	if q.Credits != r.Credits || now.Rehearsal.Credits <= q.Credits {
		t.Errorf("%d credits are quoted of %d, and it costs %d now", q.Credits, r.Credits, now.Rehearsal.Credits)
	}
	made := into[rehearsed](call(t, key, http.MethodPost, at, with("quote_id", q.ID)), http.StatusAccepted)
	if made.QuoteID == nil || *made.QuoteID != q.ID || made.ReservedCredits != q.Credits {
		t.Errorf("the plan is %+v", made)
	}
	if err := call(t, key, http.MethodPost, at, with("quote_id", q.ID)).refused(409, "quote_used"); err != nil {
		t.Error(err)
	}
	planned(t, key, at, "completed")
	done := into[rehearsed](call(t, key, http.MethodGet, at, nil), http.StatusOK)
	for i, it := range itemsOf(t, key, made.ID) {
		if !it.PublishAt.Equal(r.Items[i].PublishAt) || it.Kind != r.Items[i].Kind {
			t.Errorf("item %d is a %s at %v, rehearsed %+v", i, it.Kind, it.PublishAt, r.Items[i])
		}
	}
	if sum, states := c.entries(); done.CostCredits == 0 || done.CostCredits > q.Credits ||
		c.balance() != 10_000-done.CostCredits || sum != c.balance() || states["held"] != 0 {
		t.Errorf("it costs %d of %d, the balance is %d, and the entries are %v", done.CostCredits, q.Credits,
			c.balance(), states)
	}
	used := into[quote](call(t, key, http.MethodGet, "/v1/quotes/"+q.ID, nil), http.StatusOK)
	if used.UsedCredits != q.Credits || !slices.Equal(used.CreatedIDs, []string{made.ID}) {
		t.Errorf("the quote is %+v", used)
	}
}
