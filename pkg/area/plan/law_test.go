package plan_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
)

// A plan of advertising that no account of its factory may publish is refused, and reserves nothing.
func TestAPlanOfForbiddenAdvertisingIsRefused(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	w.factory = w.makeFactory("region", "RU", "ad_marking", object{"advertiser": "ООО А", "tax_id": "7707083893",
		"erid": "abc"})
	w.connect("instagram")
	before := w.balance()
	w.Call(http.MethodPost, w.path(), body()).
		Refused(t, http.StatusUnprocessableEntity, errs.RuleViolated, "/social_account_ids")
	if w.balance() != before {
		t.Errorf("it reserved %d", before-w.balance())
	}
	w.connect("telegram") // where it may be published
	w.create()
}

// The items of a plan announce no promotion that a rule of law forbids.
func TestAPlanLeavesForbiddenPromotionsOut(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"region": "CH"}).Into(t, http.StatusOK, new(any))
	shoe := w.sell(s, "Trailshoe")
	w.Clock.Add(time.Hour)
	s.Call(http.MethodPatch, "/v1/products/"+shoe, object{"price": object{"amount": 14900, "currency": "EUR"}}).
		Into(t, http.StatusOK, new(any))
	w.Clock.Add(time.Hour)
	s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.factory, "product_ids": []string{shoe},
		"name": "Sale", "discount": object{"kind": "percent", "value": 20}, "ends_at": w.Now().AddDate(0, 0, 60)}).
		Into(t, http.StatusCreated, new(any))
	announced := func(starts string) (n int) {
		p := w.create("starts_on", starts, "product_share", 100)
		w.until(plan.Completed)
		for _, it := range w.items(p.ID) {
			if it.PromotionID != nil {
				n++
			}
			if it.ProductID == nil {
				t.Errorf("%+v presents nothing", it)
			}
		}
		return n
	}
	day := func(n int) string { return w.Now().AddDate(0, 0, n).Format(time.DateOnly) }
	if n := announced(day(2)); n != 4 {
		t.Errorf("in Switzerland %d items announce it", n)
	}
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"region": "DE"}).Into(t, http.StatusOK, new(any))
	if n := announced(day(8)); n != 0 {
		t.Errorf("%d items announce what %s forbids", n, law.PriorPrice)
	}
}
