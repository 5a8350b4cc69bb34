package product

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/record/resource"
)

func eur(cents int64) money.Price { return money.Price{Amount: cents, Currency: "EUR"} }

// began is the time at which the promotions of these tests begin.
var began = time.Date(2026, time.June, 15, 12, 0, 0, 0, time.UTC)

func hour(n int) resource.Time { return resource.Instant(began.Add(time.Duration(n) * time.Hour)) }

// priced returns a product that got each price at its hour from the beginning of the promotion.
func priced(prices ...[2]int64) *StoredProduct {
	r := &StoredProduct{Product: Product{Resource: resource.Resource{ID: "prd_1"}, Name: "Shoe"}}
	for _, p := range prices {
		r.UpdatedAt, r.Price = hour(int(p[0])), eur(p[1])
		r.notePrice()
	}
	return r
}

// The prior price is compared with the price of each half hour of the 30 days before, over histories of ten changes
// around the beginning and of other promotions.
func TestThePriorPriceOverTenChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var prices [][2]int64
		at := rapid.IntRange(-50*24, -20*24).Draw(t, "first")
		for range 10 {
			prices = append(prices, [2]int64{int64(at), rapid.Int64Range(5, 12).Draw(t, "price") * 1000})
			at += rapid.IntRange(1, 8*24).Draw(t, "later")
		}
		r := priced(prices...)
		var others []ProductPromotion
		for range rapid.IntRange(0, 3).Draw(t, "promotions") {
			from := rapid.IntRange(-40*24, 24).Draw(t, "from")
			others = append(others, ProductPromotion{ID: "other", Discount: Discount{Percent, rapid.Int64Range(1, 40).Draw(t,
				"percent")}, StartsAt: hour(from), EndsAt: hour(from + rapid.IntRange(1, 10*24).Draw(t, "hours"))})
		}
		for i, p := range others {
			if i%2 == 0 {
				r.Promotions = append(r.Promotions, p)
			} else {
				p.Over = true
				r.EndedPromotions = append(r.EndedPromotions, p)
			}
		}
		priceAt := func(at time.Time) (price money.Price) {
			for _, p := range prices {
				if !hour(int(p[0])).After(at) {
					price = eur(p[1])
				}
			}
			lowest := price
			for _, p := range others {
				if !at.Before(p.StartsAt.Time) && at.Before(p.EndsAt.Time) {
					lowest.Amount = min(lowest.Amount, p.Discount.Of(price).Amount)
				}
			}
			return lowest
		}
		var want int64
		for at := began.Add(-law.Window); at.Before(began); at = at.Add(30 * time.Minute) {
			if p := priceAt(at); p.Currency != "" && (want == 0 || p.Amount < want) {
				want = p.Amount
			}
		}
		if want == 0 {
			want = r.Price.Amount // none is known before
		}
		mine := ProductPromotion{ID: "mine", Discount: Discount{Percent, 20}, StartsAt: hour(0), EndsAt: hour(240)}
		r.Promotions = append(r.Promotions, mine)
		if got := r.Prior(mine); got != eur(want) {
			t.Fatalf("the prior price is %s, want %s, of %v and %+v", got, eur(want), prices, others)
		}
		n := r.Reduction(mine)
		violated := len(law.Check(law.Facts{Region: "DE", At: began, Reduction: n})) > 0
		if above := n.Now.Amount > law.Reduced(n.Prior, 20) || n.Now.Amount >= n.Prior.Amount; violated != above {
			t.Fatalf("violated %t by %+v", violated, n)
		}
	})
}

func TestExceptionsFromThirtyDays(t *testing.T) {
	r := priced([2]int64{-60 * 24, 10000}, [2]int64{-20 * 24, 8000}, [2]int64{-10 * 24, 9000})
	// The reduction was raised from 10 % to 20 % and now to 30 %, without an interruption.
	for i, from := range []int{-8 * 24, -4 * 24} {
		r.end(ProductPromotion{ID: "earlier", Discount: Discount{Percent, int64(10 * (i + 1))}, StartsAt: hour(from),
			EndsAt: hour(from + 4*24)}, began)
	}
	mine := ProductPromotion{ID: "mine", Discount: Discount{Percent, 30}, StartsAt: hour(0), EndsAt: hour(48)}
	for reason, want := range map[string]int64{"": 7200, Perishable: 7200, Progressive: 8000} {
		if mine.Exception = reason; r.Prior(mine) != eur(want) {
			t.Errorf("%q: %s, want %d", reason, r.Prior(mine), want)
		}
	}
	p := &Promotion{StartsAt: hour(0), Exception: &PriorException{NewProduct}}
	if err := r.checkPrior(p); err == nil {
		t.Error("a product of sixty days is new")
	}
	if err := priced([2]int64{-29 * 24, 10000}).checkPrior(p); err != nil {
		t.Error(err)
	}
}

// A product of which a price is imported each minute keeps what a prior price needs.
func TestThePricesThatAreKept(t *testing.T) {
	r := &StoredProduct{}
	lowest := int64(1 << 40)
	for minute := -400 * 24 * 60; minute < 0; minute += 97 {
		r.UpdatedAt = resource.Instant(began.Add(time.Duration(minute) * time.Minute))
		r.Price = eur(5000 + int64(minute*minute%7919))
		if r.notePrice(); minute >= -30*24*60-97 {
			lowest = min(lowest, r.Price.Amount)
		}
	}
	if n := len(r.PriceHistory); n > 2*367+manyPrices {
		t.Errorf("it keeps %d prices", n)
	}
	if first := r.PriceHistory[0].At; first.Before(began.AddDate(0, 0, -367)) ||
		first.After(began.AddDate(0, 0, -364)) {
		t.Errorf("the first price is of %s", first)
	}
	// Of the day on which the 30 days begin, an earlier price may count, too.
	if got := r.Prior(ProductPromotion{StartsAt: hour(0)}); got.Amount > lowest {
		t.Errorf("the prior price is %s, want %d", got, lowest)
	}
	before := len(r.PriceHistory)
	if r.notePrice(); len(r.PriceHistory) != before {
		t.Error("a price that did not change is noted")
	}
}
