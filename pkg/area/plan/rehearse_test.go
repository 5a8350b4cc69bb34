package plan_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/store"
)

// rehearse rehearses a plan, which does not exist afterwards.
func (w *world) rehearse(members ...any) *rehearsal.Rehearsal {
	w.T.Helper()
	var p plan.Plan
	a := w.Call(http.MethodPost, w.path(), with(body(members...), "rehearse", true))
	a.Into(w.T, http.StatusAccepted, &p)
	if p.Rehearsal == nil || a.Header.Get("Location") != "" || a.Header.Get("Retry-After") != "" {
		w.T.Fatalf("it is %+v, with %v", p, a.Header)
	}
	w.Call(http.MethodGet, w.path()+"?content_plan_id="+p.ID, nil).Refused(w.T, http.StatusNotFound, errs.NotFound, "")
	return p.Rehearsal
}

// quote holds the price of a rehearsal by the API.
func (w *world) quote(rehearsalID string) (q quote.Quote) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": rehearsalID}).Into(w.T, http.StatusCreated, &q)
	return q
}

func (w *world) quoted(quoteID string) (q quote.Quote) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/quotes/"+quoteID, nil).Into(w.T, http.StatusOK, &q)
	return q
}

// reprice multiplies the prices of the models of a rehearsal, until the test ends or restores them.
func (w *world) reprice(r *rehearsal.Rehearsal, by int64) (restore func()) {
	w.T.Helper()
	before := map[*catalog.Price]catalog.Price{}
	for _, i := range r.Items {
		for _, used := range i.Models {
			m, ok := catalog.Find(used.Model)
			if !ok {
				w.T.Fatalf("there is no model %s", used.Model)
			}
			if _, done := before[m.Price]; done {
				continue
			}
			before[m.Price] = *m.Price
			m.Price.Credits, m.Price.InputCredits = m.Price.Credits*by, m.Price.InputCredits*by
		}
	}
	restore = func() {
		for at, was := range before {
			*at = was
		}
	}
	w.T.Cleanup(restore)
	return restore
}

// spend takes credits from the balance of the caller.
func (w *world) spend(credits int64) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), ledger.BalanceKey(w.Principal.Account))
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	_, err = ledger.Adjust(tx, w.Now(), w.Principal.Account, -credits, "test", ledger.BalanceOf(it))
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// rows counts what is stored by its kind, but for answers and the count of rehearsals.
func (w *world) rows() map[string]int {
	w.T.Helper()
	n := map[string]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != "answer" && !strings.HasPrefix(row["pk"], "quota#rehearsal#") {
			n[row["kind"]]++
		}
	}
	return n
}

// A rehearsal stores nothing else, and is what the same call then makes: the same calendar, and its price at most.
func TestARehearsalIsWhatThenRuns(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	w.connect("instagram")
	rows, balance := w.rows(), w.balance()
	r := w.rehearse("pillars", []object{{"name": "shoes", "weight": 1}, {"name": "training", "weight": 1}})
	if rows["rehearsal"]++; fmt.Sprint(rows) != fmt.Sprint(w.rows()) || w.balance() != balance {
		t.Errorf("there were %v, and are %v", rows, w.rows())
	}
	if len(r.Refusals) > 0 || len(r.Items) != 4 || r.Credits == 0 || len(r.Accounts) != 1 ||
		r.Accounts[0].Publications != 4 || !r.Accounts[0].FirstAt.Equal(r.Items[0].PublishAt.Time) ||
		!r.Accounts[0].LastAt.Equal(r.Items[3].PublishAt.Time) {
		t.Errorf("the rehearsal is %+v", r)
	}
	p := w.create("pillars", []object{{"name": "shoes", "weight": 1}, {"name": "training", "weight": 1}})
	if p.Rehearsal != nil || p.ReservedCredits != r.Credits {
		t.Errorf("it reserves %d of %d: %+v", p.ReservedCredits, r.Credits, p.Rehearsal)
	}
	done := w.until(plan.Completed)
	for i, it := range w.items(p.ID) {
		of := r.Items[i]
		if string(it.Kind) != of.Kind || !it.PublishAt.Equal(of.PublishAt.Time) || it.CostCredits > of.Credits ||
			done.Calendar[i].Pillar != of.Pillar || of.Pillar == "" {
			t.Errorf("item %d: %s at %v for %d, rehearsed %+v", i, it.Kind, it.PublishAt, it.CostCredits, of)
		}
	}
	if done.CostCredits > r.Credits {
		t.Errorf("it costs %d, rehearsed %d", done.CostCredits, r.Credits)
	}
	w.settled()
}

// A test key rehearses with the prices of a live key.
func TestATestKeyRehearsesTheLivePrice(t *testing.T) {
	w := newWorld(t)
	r := w.rehearse()
	if r.Credits == 0 || len(r.Items) != 4 || r.Items[0].Credits == 0 || len(r.Items[0].Models) == 0 {
		t.Errorf("the rehearsal is %+v", r)
	}
	q := w.quote(r.ID)
	if p := w.create("quote_id", q.ID); p.ReservedCredits != 0 || string(p.QuoteID) != q.ID ||
		p.CostEstimate != q.Credits {
		t.Errorf("the plan is %+v", p)
	}
	if q = w.quoted(q.ID); q.UsedAt == nil || q.UsedCredits != 0 {
		t.Errorf("the quote is %+v", q)
	}
}

// A quote holds its price when prices rise, and does not keep lower ones away.
func TestAQuoteHoldsThroughAChangeOfPrices(t *testing.T) {
	w := newWorld(t)
	w.live(1_000_000)
	r := w.rehearse()
	dear, cheap := w.quote(r.ID), w.quote(r.ID)
	if dear.Credits != r.Credits || len(dear.Items) != 4 || dear.UsedAt != nil ||
		!dear.ExpiresAt.Equal(dear.CreatedAt.Add(24*time.Hour)) {
		t.Errorf("the quote is %+v", dear)
	}
	w.reprice(r, 3)
	if now := w.rehearse(); now.Credits <= r.Credits {
		t.Fatalf("it now costs %d, and cost %d", now.Credits, r.Credits)
	}
	p := w.create("quote_id", dear.ID)
	if p.ReservedCredits != r.Credits || string(p.QuoteID) != dear.ID {
		t.Errorf("with a quote of %d it reserves %d", r.Credits, p.ReservedCredits)
	}
	w.Call(http.MethodPost, w.path(), body("quote_id", dear.ID, "replace", true)).
		Refused(t, http.StatusConflict, errs.QuoteUsed, "/quote_id")
	done := w.until(plan.Completed)
	if done.CostCredits > dear.Credits || done.CostCredits == 0 {
		t.Errorf("it costs %d of %d", done.CostCredits, dear.Credits)
	}
	w.settled()
	for _, e := range apitest.All[ledger.Entry](w.Caller, "/v1/balance/entries", 100) {
		if e.Kind == "reserve" && (e.QuoteID == nil || *e.QuoteID != dear.ID) {
			t.Errorf("an entry names the quote %v", e.QuoteID)
		}
	}
	if used := w.quoted(dear.ID); used.UsedCredits != r.Credits || used.UsedAt == nil ||
		fmt.Sprint(used.CreatedIDs) != fmt.Sprint([]string{p.ID}) {
		t.Errorf("the used quote is %+v", used)
	}
	if cheap = w.quoted(cheap.ID); cheap.UsedAt != nil || cheap.UsedCredits != 0 {
		t.Errorf("the unused quote is %+v", cheap)
	}
}

// A lower price than the quoted one counts.
func TestAQuoteKeepsNoLowerPriceAway(t *testing.T) {
	w := newWorld(t)
	w.live(1_000_000)
	r := w.rehearse()
	restore := w.reprice(r, 3)
	q := w.quote(w.rehearse().ID)
	restore()
	if p := w.create("quote_id", q.ID); p.ReservedCredits >= q.Credits {
		t.Errorf("it reserves %d of %d", p.ReservedCredits, q.Credits)
	}
}

// A quote is for what was rehearsed, and for a day.
func TestAQuoteIsForWhatWasRehearsed(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	starts := w.Now().AddDate(0, 0, 5).Format(time.DateOnly)
	r := w.rehearse("starts_on", starts)
	q := w.quote(r.ID)
	refused := func(what string, members ...any) {
		t.Helper()
		before := w.balance()
		w.Call(http.MethodPost, w.path(), body(members...)).
			Unusable(t, "/quote_id")
		if w.balance() != before {
			t.Errorf("%s is paid for", what)
		}
	}
	refused("another body", "starts_on", starts, "days", 3, "quote_id", q.ID)
	refused("no quote", "starts_on", starts, "quote_id", "qte_01h455vb4pex5vsknk084sn02q")
	refused("a rehearsal with a quote", "starts_on", starts, "quote_id", q.ID, "rehearse", true)
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"tone": "dry"}).Into(t, http.StatusOK, new(any))
	refused("another state of the factory", "starts_on", starts, "quote_id", q.ID)
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": "rhl_01h455vb4pex5vsknk084sn02q"}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/rehearsal_id")
	q = w.quote(w.rehearse("starts_on", starts).ID)
	w.Clock.Add(24 * time.Hour)
	refused("an ended quote", "starts_on", starts, "quote_id", q.ID)
	again := w.quote(q.RehearsalID)
	if p := w.create("starts_on", starts, "quote_id", again.ID); string(p.QuoteID) != again.ID {
		t.Errorf("the plan is %+v", p)
	}
	w.Clock.Add(7 * 24 * time.Hour)
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": q.RehearsalID}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/rehearsal_id")
}

// A rehearsal lists each refusal of the call, with its mend, and has a calendar nevertheless. It is not quoted.
func TestARehearsalListsEachRefusal(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	w.create()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"state": "paused"}).Into(t, http.StatusOK, new(any))
	w.spend(w.balance() - 1)
	r := w.rehearse()
	var codes []string
	for _, refusal := range r.Refusals {
		codes = append(codes, string(refusal.Code))
		if refusal.Message == "" || refusal.Item != nil {
			t.Errorf("%+v", refusal)
		}
	}
	if fmt.Sprint(codes) != "[invalid_state invalid_state insufficient_balance]" || len(r.Items) != 4 {
		t.Errorf("it is refused for %v, with %d items", codes, len(r.Items))
	}
	a := w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID})
	a.Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.Call(http.MethodPost, w.path(), with(body(), "rehearse", true, "starts_on", "2020-01-01")).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/starts_on")
}

// Approved topics cost what the quote of their plan says, and those beyond it are refused.
func TestAQuoteBoundsTheApprovalOfTopics(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	r := w.rehearse("approve", "topics")
	q := w.quote(r.ID)
	w.reprice(r, 3)
	w.create("approve", "topics", "quote_id", q.ID)
	if q := w.quoted(q.ID); q.UsedAt == nil || q.UsedCredits != 0 {
		t.Errorf("nothing is approved: %+v", q)
	}
	w.until(plan.Proposed)
	approve := func(numbers ...int) {
		t.Helper()
		w.Call(http.MethodPost, w.path()+"/topics/approve", object{"numbers": numbers}).
			Into(t, http.StatusAccepted, new(any))
	}
	approve(1, 2)
	if now := w.quoted(q.ID); now.UsedCredits != q.Items[0].Credits+q.Items[1].Credits {
		t.Errorf("two approvals use %d of %+v", now.UsedCredits, q)
	}
	w.Call(http.MethodPost, w.path()+"/topics", object{"topic": "Noch etwas", "content_type": "post",
		"publish_at": r.Items[3].PublishAt.Add(time.Minute)}).Into(t, http.StatusCreated, new(any))
	approve(3, 4)
	w.Call(http.MethodPost, w.path()+"/topics/approve", object{"numbers": []int{5}}).
		Refused(t, http.StatusConflict, errs.InvalidState, "")
	if now := w.quoted(q.ID); now.UsedCredits != q.Credits {
		t.Errorf("all approvals use %d of %d", now.UsedCredits, q.Credits)
	}
}
