package product_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
)

// region sets the region of the seller.
func (w *world) region(country any) {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+w.seller, object{"region": country}).Into(w.T, http.StatusOK, new(object))
}

// price changes the price of a product.
func (w *world) price(productID string, cents int) (p product.Product) {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/products/"+productID, object{"price": object{"amount": cents, "currency": "EUR"}}).
		Into(w.T, http.StatusOK, &p)
	return p
}

// sale is the body of a promotion of a product.
func (w *world) sale(productID string, members ...any) object {
	b := object{"factory_id": w.seller, "product_ids": []string{productID}, "name": "Sale",
		"discount": object{"kind": "percent", "value": 20}, "ends_at": w.Now().AddDate(0, 0, 10)}
	return servicetest.Body(b, members...)
}

func TestAReductionIsFromTheLowestPriceOfThirtyDays(t *testing.T) {
	w := newWorld(t)
	w.region("DE")
	p := w.product("TRAIL", object{"price": object{"amount": 9000, "currency": "EUR"}})
	w.Clock.Add(20 * 24 * time.Hour)
	if got := w.price(p.ID, 10000); len(got.PriceHistory) != 2 || got.PriceHistory[0].Price.Amount != 9000 ||
		!got.PriceHistory[1].At.Equal(w.Now().Truncate(time.Millisecond)) {
		t.Errorf("%+v", got.PriceHistory)
	}
	w.Clock.Add(24 * time.Hour)
	got := w.Call(http.MethodPost, "/v1/promotions", w.sale(p.ID))
	got.Refused(t, http.StatusUnprocessableEntity, errs.RuleViolated, "/discount/value")
	const message = "/discount/value: is 20 percent, and the real reduction of Trail running shoe is 11 percent: " +
		"the lowest price in the 30 days before the promotion is 90.00 EUR (Directive 98/6/EC, Article 6a; CJEU " +
		"C-330/23). Send a discount of the kind amount, from which the texts compute the real percentage, or a lower " +
		"price, or prior_price_exception with its reason."
	var context errs.RuleContext
	if err := json.Unmarshal(got.Error.Context, &context); err != nil || got.Error.Message != message ||
		context.Rule != law.PriorPrice || context.Since != "2022-05-28" || context.Jurisdiction != law.EU {
		t.Errorf("%v\n%s\n%s\n%+v", err, got.Error.Message, message, context)
	}
	// Nothing was created, and the same is no violation elsewhere.
	var listed []product.Promotion
	if w.Call(http.MethodGet, "/v1/promotions", nil).Into(t, http.StatusOK, &listed); len(listed) != 0 {
		t.Errorf("%+v", listed)
	}
	for _, c := range []struct {
		members []any
		code    errs.Code
		param   string
	}{
		{[]any{"discount", object{"kind": "amount", "value": 1000}}, errs.RuleViolated, "/discount/value"},
		{[]any{"discount", object{"kind": "amount", "value": 2000}, "prior_price",
			object{"amount": 10000, "currency": "EUR"}},
			errs.RuleViolated, "/prior_price"},
		{[]any{"prior_price", object{"amount": 9000, "currency": "USD"}},
			errs.ValidationFailed, "/prior_price/currency"},
		{[]any{"prior_price_exception", object{"reason": "mood"}},
			errs.ValidationFailed, "/prior_price_exception/reason"},
	} {
		w.Call(http.MethodPost, "/v1/promotions", w.sale(p.ID, c.members...)).
			Refused(t, http.StatusUnprocessableEntity, c.code, c.param)
	}
	for _, members := range [][]any{
		{"discount", object{"kind": "amount", "value": 2000}},
		{"discount", object{"kind": "amount", "value": 2000}, "prior_price", object{"amount": 9000, "currency": "EUR"}},
		{"prior_price_exception", object{"reason": "new_product"}},
		{"prior_price_exception", object{"reason": "perishable"}},
		{"starts_at", w.Now().AddDate(0, 0, 29).Add(time.Hour), "ends_at", w.Now().AddDate(0, 0, 40)},
	} {
		var out product.Promotion
		w.Call(http.MethodPost, "/v1/promotions", w.sale(p.ID, members...)).Into(t, http.StatusCreated, &out)
		want := money.Price{Amount: 9000, Currency: "EUR"}
		if out.Exception != nil || len(members) == 4 && members[0] == "starts_at" {
			want.Amount = 10000
		}
		if len(out.PriorPrices) != 1 || out.PriorPrices[0] != (product.PriorPrice{ProductID: p.ID, Price: want}) {
			t.Errorf("%v: %+v", members, out.PriorPrices)
		}
		w.Call(http.MethodPatch, "/v1/promotions/"+out.ID, object{"state": "ended"}).Into(t, http.StatusOK, new(object))
	}
	w.region("CH")
	w.Call(http.MethodPost, "/v1/promotions", w.sale(p.ID)).Into(t, http.StatusCreated, new(object))
}

func TestAChangeOfAPromotionIsCheckedToo(t *testing.T) {
	w := newWorld(t)
	w.region("FR")
	p := w.product("TRAIL", object{"price": object{"amount": 9000, "currency": "EUR"}})
	w.Clock.Add(time.Hour)
	w.price(p.ID, 10000)
	w.Clock.Add(time.Hour)
	var out product.Promotion
	w.Call(http.MethodPost, "/v1/promotions", w.sale(p.ID, "discount", object{"kind": "amount", "value": 2000})).
		Into(t, http.StatusCreated, &out)
	w.Call(http.MethodPatch, "/v1/promotions/"+out.ID, object{"discount": object{"kind": "percent", "value": 15}}).
		Refused(t, http.StatusUnprocessableEntity, errs.RuleViolated, "/discount/value")
	w.Call(http.MethodPatch, "/v1/promotions/"+out.ID, object{"prior_price": object{"amount": 9500,
		"currency": "EUR"}}).
		Refused(t, http.StatusUnprocessableEntity, errs.RuleViolated, "/prior_price")
	w.Call(http.MethodPatch, "/v1/promotions/"+out.ID, object{"prior_price_exception": object{}}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/prior_price_exception/reason")
	w.Call(http.MethodPatch, "/v1/promotions/"+out.ID, object{"prior_price": object{"amount": 8900,
		"currency": "EUR"}}).
		Into(t, http.StatusOK, &out)
	w.Call(http.MethodPatch, "/v1/promotions/"+out.ID, object{"prior_price": nil}).Into(t, http.StatusOK, &out)
	if out.PriorPrice != nil {
		t.Errorf("%+v", out)
	}
	// The price of an earlier promotion counts for the next one.
	w.Clock.Add(time.Hour)
	w.Call(http.MethodPatch, "/v1/promotions/"+out.ID, object{"state": "ended"}).Into(t, http.StatusOK, new(object))
	w.Clock.Add(time.Hour)
	w.Call(http.MethodPost, "/v1/promotions", w.sale(p.ID, "discount", object{"kind": "amount", "value": 2000})).
		Refused(t, http.StatusUnprocessableEntity, errs.RuleViolated, "/discount/value")
	w.Call(http.MethodPost, "/v1/promotions", w.sale(p.ID, "discount", object{"kind": "amount", "value": 3000})).
		Into(t, http.StatusCreated, &out)
	if out.PriorPrices[0].Price.Amount != 8000 {
		t.Errorf("%+v", out.PriorPrices)
	}
}
