package product

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestADiscountNeverMakesAPriceNegative(t *testing.T) {
	for _, c := range []struct {
		d           Discount
		price, want int64
	}{
		{Discount{Percent, 20}, 12900, 10320}, {Discount{Percent, 100}, 12900, 0}, {Discount{Percent, 33}, 999, 669},
		{Discount{Percent, 50}, 1, 1},
		{Discount{Amount, 900}, 12900, 12000}, {Discount{Amount, 12901}, 12900, 0},
		{Discount{Percent, 1}, 1_000_000_000_000, 990_000_000_000},
	} {
		if got := c.d.Of(money.Price{Amount: c.price, Currency: "EUR"}); got.Amount != c.want || got.Currency != "EUR" {
			t.Errorf("%+v of %d is %v", c.d, c.price, got)
		}
	}
}

// Ended promotions leave a product with the next change, and the cheapest of the running
// ones comes first.
func TestTheRunningPromotionsOfAProduct(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(hours int) resource.Time { return resource.Instant(now.Add(time.Duration(hours) * time.Hour)) }
	r := &StoredProduct{Product: Product{Price: money.Price{Amount: 10000, Currency: "EUR"}}}
	for _, p := range []Promotion{
		{Resource: resource.Resource{ID: "ended"}, StartsAt: at(-2), EndsAt: at(0), Discount: Discount{Percent, 90}},
		{Resource: resource.Resource{ID: "small"}, StartsAt: at(-1), EndsAt: at(1), Discount: Discount{Percent, 10}},
		{Resource: resource.Resource{ID: "large"}, StartsAt: at(0), EndsAt: at(1), Discount: Discount{Amount, 2000}},
		{Resource: resource.Resource{ID: "later"}, StartsAt: at(1), EndsAt: at(2), Discount: Discount{Percent, 99}},
	} {
		r.Include(&p, now.Add(-time.Minute))
	}
	running := r.Running(now)
	if len(running) != 2 || running[0].ID != "large" || running[1].ID != "small" {
		t.Errorf("running are %+v", running)
	}
	r.Exclude("small", now)
	if len(r.Promotions) != 2 || r.Promotions[0].ID != "large" || r.Promotions[1].ID != "later" {
		t.Errorf("left are %+v", r.Promotions)
	}
}
