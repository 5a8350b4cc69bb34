package content_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/rehearsal"
)

// rehearse rehearses a batch, of which nothing may be stored but the rehearsal, which is counted.
func (w *world) rehearse(items ...object) (*rehearsal.Rehearsal, []item.Item) {
	w.T.Helper()
	stored := func() (n int) {
		for _, row := range storetest.Rows(w.T, w.DB) {
			if row["kind"] != "answer" && !strings.HasPrefix(row["pk"], "quota#rehearsal#") {
				n++
			}
		}
		return n
	}
	before := stored()
	var all []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": items, "rehearse": true}).Into(w.T, http.StatusAccepted, &all)
	if len(all) != len(items) || all[0].Rehearsal == nil || stored() != before+1 {
		w.T.Fatalf("%d more are stored: %+v", stored()-before, all)
	}
	return all[0].Rehearsal, all
}

// Rehearsals and quotes, which cost nothing and are kept for days, count for the bounds of a day.
func TestB15RehearsalsAndQuotesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	for i := range 3 {
		r, _ := w.rehearse(w.body())
		w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}).Into(t, http.StatusCreated, &quote.Quote{})
		o, n := w.Principal.Owner, int64(i+1)
		if got := apitest.CountQuota(t, w.DB, quota.Rehearsals, "rehearsal", o, w.Now()); got != n {
			t.Errorf("after %d rehearsals %d count", n, got)
		}
		if got := apitest.CountQuota(t, w.DB, quota.Quotes, "quote", o, w.Now()); got != n {
			t.Errorf("after %d quotes %d count", n, got)
		}
	}
}

// A rehearsed batch lists what each item is, costs and publishes, and each refusal with the item that it is for.
func TestARehearsedBatch(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	account := w.connect("telegram")
	lost := w.connect("vk", func(r *social.Record) { r.State = social.NeedsReconnect })
	at := w.Now().Add(48 * time.Hour).UTC()
	good := w.body("publish_at", at, "social_account_ids", []string{account}, "caption", "Neu: der Schuh")
	r, all := w.rehearse(good, w.body("kind", "carousel"))
	if len(r.Refusals) > 0 || r.Credits != all[0].ReservedCredits+all[1].ReservedCredits || r.Credits == 0 {
		t.Errorf("the rehearsal is %+v", r)
	}
	w.Call(http.MethodGet, "/v1/content-items/"+all[0].ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	one := r.Items[0]
	if !one.PublishAt.Equal(at.Truncate(time.Millisecond)) || len(one.Models) != 2 || len(one.Publications) != 1 ||
		len(one.Publications[0].Problems) > 0 || one.Publications[0].Preview.Caption != "Neu: der Schuh" {
		t.Errorf("the item is %+v", one)
	}
	if len(r.Accounts) != 1 || r.Accounts[0].SocialAccountID != account || r.Accounts[0].Publications != 1 {
		t.Errorf("the accounts are %+v", r.Accounts)
	}
	bad := w.body("publish_at", at, "social_account_ids", []string{lost})
	r, all = w.rehearse(w.body("factory_id", "fac_01h455vb4pex5vsknk084sn02q"), bad, good)
	var refused []string
	for _, x := range r.Refusals {
		refused = append(refused, fmt.Sprint(*x.Item, " ", x.Code, " ", x.Param))
	}
	if fmt.Sprint(refused) != "[0 not_found /factory_id 1 validation_failed /social_account_ids/0]" {
		t.Errorf("refused are %q", refused)
	}
	if r.Items[0].Credits != 0 || r.Items[1].Credits == 0 || r.Items[2].Credits == 0 ||
		len(r.Items[1].Publications[0].Problems) == 0 || all[0].Kind != item.Post {
		t.Errorf("the items are %+v", r.Items)
	}
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}).
		Refused(t, http.StatusConflict, errs.InvalidState, "")
	// What is no factory's id cannot be shown.
	w.Call(http.MethodPost, "/v1/content-items/batch", object{"rehearse": true,
		"items": []object{good, w.body("factory_id", "bakery")}}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/items/1/factory_id")
}

// The items of a quoted batch cost what the quote says, whatever prices do, and however they end.
func TestAQuotedBatch(t *testing.T) {
	w := newWorld(t)
	w.live(10_000)
	items := []object{w.body(), w.body("kind", "carousel")}
	r, _ := w.rehearse(items...)
	var q quote.Quote
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}).Into(t, http.StatusCreated, &q)
	for _, i := range r.Items {
		for _, used := range i.Models {
			m, _ := catalog.Find(used.Model)
			was := *m.Price
			m.Price.Credits *= 5
			t.Cleanup(func() { *m.Price = was })
		}
	}
	before := w.credits()
	var made []item.Item
	send := func(key string) {
		w.Call(http.MethodPost, batchPath, object{"items": items, "quote_id": q.ID}, "Idempotency-Key", key).
			Into(t, http.StatusAccepted, &made)
	}
	send("once")
	send("once") // is a replay
	if w.credits() != before-q.Credits || made[0].ReservedCredits != q.Items[0].Credits {
		t.Errorf("it reserves %d of %d", before-w.credits(), q.Credits)
	}
	w.Call(http.MethodPost, batchPath, object{"items": items, "quote_id": q.ID}, "Idempotency-Key", "twice").
		Refused(t, http.StatusConflict, errs.QuoteUsed, "/quote_id")
	w.begin(made[0].ID)
	var cost int64
	for _, it := range made {
		w.do(it.ID)
		cost += w.get(it.ID).CostCredits
	}
	if cost != q.Credits || w.credits() != before-cost || w.entries()["held"] != 0 {
		t.Errorf("it costs %d of %d, and the entries are %v", cost, q.Credits, w.entries())
	}
	// Another attempt is no part of the quote.
	var again item.Item
	w.Call(http.MethodPost, path(made[0].ID, "regenerate"), object{}).Into(t, http.StatusAccepted, &again)
	if again.ReservedCredits <= q.Items[0].Credits {
		t.Errorf("another attempt reserves %d", again.ReservedCredits)
	}
	// A quote is for what was rehearsed.
	items[0]["prompt"] = "Etwas anderes"
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}).Into(t, http.StatusCreated, &q)
	w.Call(http.MethodPost, batchPath, object{"items": items, "quote_id": q.ID}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/quote_id")
}

// A quote belongs to its account and mode.
func TestAQuoteOfOthersIsNone(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rehearse(w.body())
	var q quote.Quote
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}).Into(t, http.StatusCreated, &q)
	w.Live().Call(http.MethodGet, "/v1/quotes/"+q.ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	other := w.Stranger()
	other.Call(http.MethodGet, "/v1/quotes/"+q.ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	other.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/rehearsal_id")
	other.Call(http.MethodPost, batchPath, object{"items": []object{w.body()}, "quote_id": q.ID}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/quote_id")
}
