package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// feedRun has the members of a run of a feed that the tests read.
type feedRun struct {
	ID, State                                  string
	Read, Created, Changed, Unchanged, Refused int
	Archived                                   int
	HeldReason                                 string `json:"held_reason"`
	Refusals                                   []struct{ Row int }
	RefusalsURL                                *string `json:"refusals_url"`
}

// counts are those of a run, as a text.
func (run feedRun) counts() string {
	return fmt.Sprintf("%s: read %d, created %d, changed %d, unchanged %d, archived %d, refused %d", run.State,
		run.Read, run.Created, run.Changed, run.Unchanged, run.Archived, run.Refused)
}

// priceList writes a CSV of the products of a shop, by their prices. One without a price is refused.
func priceList(prices ...string) []byte {
	var b strings.Builder
	b.WriteString("id,title,price,availability\n")
	for i, price := range prices {
		fmt.Fprintf(&b, "F-%d,Lamp %d,%s,in_stock\n", i, i, price)
	}
	return []byte(b.String())
}

// TestAFeedOfAFile follows files that a caller uploads, until the factory is deleted: a run makes products, the next
// one changes and archives some, and a post waits for the product whose price has changed.
func TestAFeedOfAFile(t *testing.T) {
	c := newCustomer(t)
	secret := c.test.Secret
	factory := into[struct{ ID string }](call(t, secret, http.MethodPost, "/v1/factories", object{"type": "seller",
		"name": "Lamps", "settings": object{"shop_name": "Lamps", "currency": "EUR"},
		"schedule": object{"timezone": "Europe/London", "times": []string{"08:00"}}}), http.StatusCreated).ID
	c.telegram(secret, factory, "@lamps")
	path := "/v1/factories/" + factory + "/feed"
	sync := func(file []byte, body any) (run feedRun) {
		into[object](call(t, secret, http.MethodPut, path, object{"format": "csv",
			"source": object{"media_id": bring(t, secret, "text/csv", file)}}), http.StatusOK)
		run = into[feedRun](call(t, secret, http.MethodPost, path+"/sync", body), http.StatusAccepted)
		poll.Until(t, "the end of the run", func() bool {
			run = into[feedRun](call(t, secret, http.MethodGet, path+"/runs/"+run.ID, nil), http.StatusOK)
			return run.State != "queued" && run.State != "running"
		})
		return run
	}
	made := sync(priceList("10 EUR", "20 EUR", "30 EUR", "40 EUR", "50 EUR", "free"), nil)
	if got := made.counts(); got != "completed: read 6, created 5, changed 0, unchanged 0, archived 0, refused 1" {
		t.Fatal(got)
	}
	if list := string(download(t, *made.RefusalsURL)); !strings.Contains(list, "\n7,price,") {
		t.Errorf("the file of refusals is %s", list)
	}
	lamps := into[[]soldProduct](call(t, secret, http.MethodGet, "/v1/products?sku=F-0&factory_id="+factory, nil),
		http.StatusOK)
	if len(lamps) != 1 {
		t.Fatalf("the products are %+v", lamps)
	}
	item := "/v1/content-items/" + into[contentItem](call(t, secret, http.MethodPost, "/v1/content-items", object{
		"factory_id": factory, "kind": "post", "product_id": lamps[0].ID, "prompt": "Show it with its price",
		"publish_at": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)}), http.StatusAccepted).ID
	state := func(what string, is func(state, waitsFor string) bool) {
		poll.Until(t, what, func() bool {
			now := into[struct {
				State    string
				WaitsFor string `json:"waits_for"`
			}](call(t, secret, http.MethodGet, item, nil), http.StatusOK)
			return is(now.State, now.WaitsFor)
		})
	}
	state("the schedule", func(state, _ string) bool { return state == "scheduled" })

	held := sync(priceList("12 EUR", "20 EUR"), nil)
	if held.State != "held" || held.HeldReason != "mass_removal" || held.Archived+held.Changed != 0 {
		t.Error(held.State, held.HeldReason, held.counts())
	}
	run := into[feedRun](call(t, secret, http.MethodPost, path+"/sync", object{"confirm_run_id": held.ID}),
		http.StatusAccepted)
	poll.Until(t, "the confirmed run", func() bool {
		run = into[feedRun](call(t, secret, http.MethodGet, path+"/runs/"+run.ID, nil), http.StatusOK)
		return run.State == "completed" && run.Archived == 3 && run.Changed == 1
	})
	state("the hold", func(state, waitsFor string) bool { return state == "generated" && waitsFor == "product" })

	into[object](call(t, secret, http.MethodDelete, "/v1/factories/"+factory, nil), http.StatusOK)
	if err := call(t, secret, http.MethodGet, path, nil).refused(http.StatusNotFound, "not_found"); err != nil {
		t.Error(err)
	}
}
