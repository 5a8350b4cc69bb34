package product_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
)

// offer is the body of a promotion from now on for a day, in which changes replace members.
func (w *world) offer(changes object, products ...string) object {
	b := object{
		"factory_id": w.seller, "product_ids": products, "name": "Sale",
		"discount": object{"kind": "percent", "value": 20},
		"ends_at":  w.Now().Add(24 * time.Hour).Format(time.RFC3339),
	}
	for name, value := range changes {
		b[name] = value
	}
	return b
}

func (w *world) promote(changes object, products ...string) (p product.Promotion) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/promotions", w.offer(changes, products...)).Into(w.T, http.StatusCreated, &p)
	return p
}

func (w *world) at(d time.Duration) string { return w.Now().Add(d).Format(time.RFC3339) }

// A promotion has no path to read it by: its list selects it.
func TestThePromotionsAreSelectedByID(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	first := w.promote(object{"starts_at": w.at(time.Hour), "ends_at": w.at(2 * time.Hour)}, p.ID)
	w.promote(object{"starts_at": w.at(3 * time.Hour), "ends_at": w.at(4 * time.Hour)}, p.ID)
	for query, want := range map[string]int{"id=" + first.ID: 1, "id=" + first.ID + "&state=scheduled": 1,
		"id=" + first.ID + "&state=ended": 0, "id=" + first.ID + "&order=asc&factory_id=" + w.seller: 1,
		"id=prm_01h455vb4pex5vsknk084sn02q": 0} {
		found := apitest.All[product.Promotion](w.Caller, "/v1/promotions?"+query, 1)
		if len(found) != want || want > 0 && found[0].ID != first.ID {
			t.Errorf("%s: %+v", query, found)
		}
	}
	w.Call(http.MethodGet, "/v1/promotions?id="+p.ID, nil).Refused(t, 422, errs.ValidationFailed, "id")
	if found := apitest.All[product.Promotion](w.Stranger(), "/v1/promotions?id="+first.ID, 1); len(found) != 0 {
		t.Errorf("a stranger reads %+v", found)
	}
}

// The states follow the clock, and the lists with them.
func TestAPromotionFollowsTheClock(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	w.promote(object{"starts_at": w.at(time.Hour), "ends_at": w.at(2 * time.Hour)}, p.ID)
	states := func(want string, n map[string]int) {
		t.Helper()
		for query, most := range n {
			found := apitest.All[product.Promotion](w.Caller, "/v1/promotions?"+query, 1)
			if len(found) != most || most > 0 && string(found[0].State) != want {
				t.Errorf("%s: %+v", query, found)
			}
		}
	}
	states("scheduled", map[string]int{"": 1, "state=scheduled": 1, "state=active": 0, "state=ended": 0,
		"state=scheduled,ended": 1, "state=active,ended": 0, "state=active,scheduled,ended": 1})
	w.Clock.Add(time.Hour)
	states("active", map[string]int{"": 1, "state=scheduled": 0, "state=active": 1, "state=ended": 0,
		"state=scheduled,ended": 0, "state=active,ended": 1, "factory_id=" + w.seller: 1, "factory_id=" + w.seller +
			"&state=ended": 0})
	w.Clock.Add(time.Hour)
	states("ended", map[string]int{"": 1, "state=scheduled": 0, "state=active": 0, "state=ended": 1,
		"state=scheduled,ended": 1, "state=active,scheduled": 0, "factory_id=" + w.seller + "&state=ended": 1,
		"factory_id=fac_01h455vb4pex5vsknk084sn02q": 0})
}

func TestAPromotionIsChanged(t *testing.T) {
	w := newWorld(t)
	a, b := w.product("A", nil), w.product("B", object{"price": object{"amount": 1000, "currency": "EUR"}})
	made := w.promote(object{"message": "Only today", "metadata": object{"erp": "1"}}, a.ID)
	if made.State != product.Running || made.Version != 1 || made.Message != "Only today" ||
		!made.StartsAt.Equal(w.Now()) {
		t.Errorf("made was %+v", made)
	}
	path := "/v1/promotions/" + made.ID
	var got product.Promotion
	w.Call(http.MethodPatch, path, object{"discount": object{"kind": "amount", "value": 1001}, "message": nil},
		"If-Match", `"1"`).Into(t, http.StatusOK, &got)
	if got.Discount != (product.Discount{Kind: "amount", Value: 1001}) || got.Message != "" || got.Version != 2 {
		t.Errorf("it is %+v", got)
	}
	w.Call(http.MethodPatch, path, object{"name": "Sale!"}, "If-Match", `"1"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	w.Call(http.MethodPatch, path, object{"product_ids": []string{a.ID, b.ID}}).Refused(t, 422, errs.ValidationFailed,
		"/discount/value")
	w.Call(http.MethodPatch, path, object{"product_ids": []string{b.ID}, "discount": object{"value": 1000}}).Into(t,
		http.StatusOK, &got)
	// It has left one product, and protects the other.
	w.Call(http.MethodDelete, "/v1/products/"+a.ID, nil).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodDelete, "/v1/products/"+b.ID, nil).Refused(t, 409, errs.InvalidState, "")
	w.Call(http.MethodPatch, "/v1/products/"+b.ID, object{"price": object{"amount": 999}}).Refused(t, 422,
		errs.ValidationFailed, "/price/amount")
	w.Call(http.MethodPatch, "/v1/products/"+b.ID, object{"price": object{"currency": "USD"}}).Refused(t, 422,
		errs.ValidationFailed, "/price/currency")
	w.Call(http.MethodPatch, "/v1/products/"+b.ID, object{"price": object{"amount": 1000}}).Into(t,
		http.StatusOK, new(any))
	w.Call(http.MethodPatch, path, object{"state": "ended"}).Into(t, http.StatusOK, &got)
	if got.State != product.Ended || !got.EndsAt.Equal(w.Now()) {
		t.Errorf("ended it is %+v", got)
	}
	w.Call(http.MethodPatch, path, object{"ends_at": w.at(time.Hour)}).Refused(t, 409, errs.InvalidState, "")
	w.Call(http.MethodPatch, "/v1/products/"+b.ID, object{"price": object{"amount": 1}}).Into(t,
		http.StatusOK, new(any))
	w.Call(http.MethodDelete, "/v1/products/"+b.ID, nil).Into(t, http.StatusOK, new(any))
}

// One that is ended before its start has ended.
func TestAScheduledPromotionIsEnded(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	made := w.promote(object{"starts_at": w.at(time.Hour)}, p.ID)
	w.Call(http.MethodDelete, "/v1/products/"+p.ID, nil).Refused(t, 409, errs.InvalidState, "")
	var got product.Promotion
	w.Call(http.MethodPatch, "/v1/promotions/"+made.ID, object{"state": "ended"}).Into(t, http.StatusOK, &got)
	for query, want := range map[string]int{"scheduled": 0, "active": 0, "ended": 1} {
		if found := apitest.All[product.Promotion](w.Caller, "/v1/promotions?state="+query, 1); len(found) != want {
			t.Errorf("%s: %+v", query, found)
		}
	}
	w.Call(http.MethodDelete, "/v1/products/"+p.ID, nil).Into(t, http.StatusOK, new(any))
}

func TestPromotionsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	dollars := w.product("B", object{"price": object{"amount": 12900, "currency": "USD"}})
	other := w.product("A", object{"factory_id": w.factory("seller")})
	archived := w.product("C", nil)
	w.Call(http.MethodPatch, "/v1/products/"+archived.ID, object{"state": "archived"}).Into(t, http.StatusOK, new(any))
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprintf("prd_01h455vb4pex5vsknk084sn%03d", i)
	}
	for _, c := range []struct {
		changes object
		param   string
	}{
		{object{"product_ids": []string{p.ID, other.ID}}, "/product_ids/1"},
		{object{"product_ids": []string{"prd_01h455vb4pex5vsknk084sn02q"}}, "/product_ids/0"},
		{object{"product_ids": []string{archived.ID}}, "/product_ids/0"},
		{object{"product_ids": []string{}}, "/product_ids"},
		{object{"product_ids": many}, "/product_ids"},
		{object{"product_ids": []string{p.ID, p.ID}}, "/product_ids"},
		{object{"discount": object{"kind": "percent", "value": 101}}, "/discount/value"},
		{object{"discount": object{"kind": "percent", "value": 0}}, "/discount/value"},
		{object{"discount": object{"kind": "amount", "value": -5}}, "/discount/value"},
		{object{"discount": object{"kind": "amount", "value": 12901}}, "/discount/value"},
		{object{"discount": object{"kind": "amount", "value": 100}, "product_ids": []string{p.ID, dollars.ID}},
			"/discount/kind"},
		{object{"starts_at": w.at(2 * time.Hour), "ends_at": w.at(time.Hour)}, "/ends_at"},
		{object{"starts_at": w.at(-2 * time.Hour), "ends_at": w.at(-time.Hour)}, "/ends_at"},
		{object{"state": "ended"}, "/state"},
	} {
		w.Call(http.MethodPost, "/v1/promotions", w.offer(c.changes, p.ID)).Unusable(t, c.param)
	}
	w.Call(http.MethodPost, "/v1/promotions", w.offer(object{"factory_id": w.factory("brand")}, p.ID)).Refused(t, 422,
		errs.WrongFactoryType, "/factory_id")
	for _, c := range []*apitest.Caller{w.Live(), w.Stranger()} {
		c.Call(http.MethodPost, "/v1/promotions", w.offer(nil, p.ID)).Refused(t, 404, errs.NotFound, "/factory_id")
	}
	if found := apitest.All[product.Promotion](w.Caller, "/v1/promotions", 10); len(found) != 0 {
		t.Errorf("there are %+v", found)
	}
	made := w.promote(nil, p.ID)
	for _, c := range []*apitest.Caller{w.Live(), w.Stranger()} {
		c.Call(http.MethodPatch, "/v1/promotions/"+made.ID, object{"name": "Mine"}).Refused(t, 404, errs.NotFound, "")
	}
	for range product.MaxPromotions - 1 {
		w.promote(nil, p.ID)
	}
	w.Call(http.MethodPost, "/v1/promotions", w.offer(nil, p.ID)).Refused(t, 422, errs.ValidationFailed,
		"/product_ids/0")
	w.Clock.Add(25 * time.Hour)
	w.promote(nil, p.ID)
}

// The most products that there may be, and the most that one call changes.
func TestAPromotionOfManyProducts(t *testing.T) {
	w := newWorld(t)
	var all []string
	for i := range 100 {
		all = append(all, w.product(fmt.Sprint("SKU-", i), nil).ID)
	}
	p := w.promote(nil, all[:50]...)
	w.Call(http.MethodPatch, "/v1/promotions/"+p.ID, object{"product_ids": all[50:]}, "Idempotency-Key", "1").Refused(t,
		422, errs.ValidationFailed, "/product_ids")
	w.Call(http.MethodPatch, "/v1/promotions/"+p.ID, object{"product_ids": all[40:90]}, "Idempotency-Key", "2").Into(t,
		http.StatusOK, &p)
	w.Call(http.MethodDelete, "/v1/products/"+all[0], nil).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodDelete, "/v1/products/"+all[89], nil).Refused(t, 409, errs.InvalidState, "")
}
