package product

import (
	"cmp"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/record/resource"
)

// The bounds of the history of a product. A prior price needs the 30 days before a promotion began.
const (
	keepPrices = 365 * 24 * time.Hour
	keepEnded  = 120 * 24 * time.Hour
	// manyPrices is the number of prices above which only the lowest and the last of each day are kept.
	manyPrices = 100
	// mostEnded bounds the ended promotions that are remembered.
	mostEnded = 60
)

// PriceChange is a price of a product since a time.
type PriceChange struct {
	// Time since which the product has, or had, the price.
	At resource.Time `json:"at"`
	// The price that it has, or had.
	Price money.Price `json:"price"`
}

// notePrice notes the price of the product since its last change, unless it had it before.
func (r *StoredProduct) notePrice() {
	all := r.PriceHistory
	if n := len(all); n == 0 || all[n-1].Price != r.Price {
		all = append(all, PriceChange{r.UpdatedAt, r.Price})
	}
	from, first := r.UpdatedAt.Add(-keepPrices), 0
	for first+1 < len(all) && !all[first+1].At.After(from) {
		first++ // its price was no more in force by then
	}
	if all = all[first:]; len(all) > manyPrices {
		all = thinned(all)
	}
	r.PriceHistory = all
}

// thinned returns the lowest and the last price of each day (UTC).
func thinned(all []PriceChange) (kept []PriceChange) {
	for len(all) > 0 {
		day, n, low := all[0].At.UTC().Format(time.DateOnly), 0, 0
		for n < len(all) && all[n].At.UTC().Format(time.DateOnly) == day {
			if all[n].Price.Currency != all[low].Price.Currency || all[n].Price.Amount < all[low].Price.Amount {
				low = n
			}
			n++
		}
		if kept = append(kept, all[low]); low < n-1 {
			kept = append(kept, all[n-1])
		}
		all = all[n:]
	}
	return kept
}

// The reasons for another prior price than the lowest of 30 days (Directive 98/6/EC, Article 6a(3) to (5)).
const (
	Progressive = "progressive_reduction"
	Perishable  = "perishable"
	NewProduct  = "new_product"
)

// PriorException is the reason for another prior price.
type PriorException struct {
	// progressive_reduction: the reduction was raised without an interruption, and the prior price is that before the
	// first one. perishable: goods that deteriorate or expire soon; new_product: on the market for less than 30 days.
	// Of these, the prior price is that just before the promotion.
	Reason string `json:"reason" enum:"progressive_reduction,perishable,new_product"`
}

// PriorPrice is the prior price of a product in a promotion.
type PriorPrice struct {
	// Product.
	ProductID string `json:"product_id"`
	// Its prior price in the promotion.
	Price money.Price `json:"price"`
}

// promoted returns the promotions of the history and those that have not ended.
func (r *StoredProduct) promoted() []Included { return slices.Concat(r.Ended, r.Promotions) }

// steps returns the prices at which the product was sold and will be, without one of its promotions.
func (r *StoredProduct) steps(without string) []law.Step {
	others := slices.DeleteFunc(r.promoted(), func(i Included) bool { return i.ID == without && !i.Over })
	var times []time.Time
	for _, c := range r.PriceHistory {
		times = append(times, c.At.Time)
	}
	for _, p := range others {
		times = append(times, p.StartsAt.Time, p.EndsAt.Time)
	}
	slices.SortFunc(times, time.Time.Compare)
	var steps []law.Step
	for _, at := range slices.CompactFunc(times, time.Time.Equal) {
		var price money.Price
		for _, c := range r.PriceHistory {
			if !c.At.After(at) {
				price = c.Price
			}
		}
		if price.Currency == "" {
			continue // no price of it is known at that time
		}
		lowest := price
		for _, p := range others {
			if p.State(at) == Running {
				lowest.Amount = min(lowest.Amount, p.Discount.Of(price).Amount)
			}
		}
		steps = append(steps, law.Step{At: at, Price: lowest})
	}
	return steps
}

// Prior returns the prior price of a promotion of the product: the lowest of the 30 days before it began, unless it
// states an exception. If no earlier price is known, it is the present one.
func (r *StoredProduct) Prior(p Included) money.Price {
	began, steps := p.StartsAt.Time, r.steps(p.ID)
	var price money.Price
	ok := false
	switch p.Exception {
	case Perishable, NewProduct:
		price, ok = law.InForce(steps, began)
	case Progressive:
		for again := true; again; {
			again = false
			for _, other := range r.promoted() {
				if other.ID != p.ID && other.StartsAt.Before(began) && !other.EndsAt.Before(began) {
					began, again = other.StartsAt.Time, true
				}
			}
		}
		price, ok = law.Prior(steps, began)
	default:
		price, ok = law.Prior(steps, began)
	}
	if !ok || price.Currency != r.Price.Currency {
		return r.Price
	}
	return price
}

// Reduction returns what a promotion of the product announces, for the rules of law.
func (r *StoredProduct) Reduction(p Included) *law.Reduction {
	n := &law.Reduction{Now: p.Discount.Of(r.Price), Prior: r.Prior(p), Param: "/discount/value",
		StruckParam: "/prior_price", Of: r.Name}
	if p.Discount.Kind == Percent {
		n.Percent = p.Discount.Value
	}
	if p.PriorPrice != nil {
		n.Struck = *p.PriorPrice
	}
	return n
}

// Was returns the prior price that content shows of a promotion in a region: that of its caller, or else the lawful one
// in the European Union, or else the present one.
func (r *StoredProduct) Was(p Included, region string) money.Price {
	switch {
	case p.PriorPrice != nil:
		return *p.PriorPrice
	case law.InEU(region):
		return r.Prior(p)
	}
	return r.Price
}

// checkPrior refuses a stated prior price and an exception that the promotion of a product cannot have.
func (r *StoredProduct) checkPrior(p *Promotion) error {
	var found []error
	if p.PriorPrice != nil && p.PriorPrice.Currency != r.Price.Currency {
		found = append(found, errs.Invalid("/prior_price/currency", "must be %s, as the price of the product %s",
			r.Price.Currency, r.ID))
	}
	if e := p.Exception; e != nil && e.Reason == NewProduct && len(r.PriceHistory) > 0 &&
		p.StartsAt.Sub(r.PriceHistory[0].At.Time) >= law.Window {
		found = append(found, errs.Invalid("/prior_price_exception/reason", "is for products that are on the market "+
			"for less than 30 days, and the product %s has had a price since %s", r.ID,
			r.PriceHistory[0].At.UTC().Format(time.DateOnly)))
	}
	return errs.All(found...)
}

// end notes that a promotion of the product is over, so that its reduced price counts as an earlier price.
func (r *StoredProduct) end(p Included, now time.Time) {
	if p.State(now) == Scheduled {
		return
	}
	if p.EndsAt.After(now) {
		p.EndsAt = resource.Instant(now)
	}
	p.Over = true
	r.Ended = slices.DeleteFunc(append(r.Ended, p), func(i Included) bool { return now.Sub(i.EndsAt.Time) > keepEnded })
	if surplus := len(r.Ended) - mostEnded; surplus > 0 {
		slices.SortStableFunc(r.Ended, func(a, b Included) int { return cmp.Compare(a.EndsAt.Unix(), b.EndsAt.Unix()) })
		r.Ended = r.Ended[surplus:]
	}
}
