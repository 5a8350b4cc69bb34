package product

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// PromotionKind is the kind of a promotion in the table.
const PromotionKind = "promotion"

// PromotionState is the state of a promotion. It is not stored: it follows from the clock.
type PromotionState string

// The states of a promotion.
const (
	Scheduled PromotionState = "scheduled"
	Running   PromotionState = "active"
	Ended     PromotionState = "ended"
)

// The kinds of discounts.
const (
	Percent = "percent"
	Amount  = "amount"
)

// Discount is the amount by which a promotion lowers prices.
type Discount struct {
	// What value counts: percent of the price, or the smallest units of its currency.
	Kind string `json:"kind" enum:"percent,amount" example:"percent"`
	// 1 to 100 percent, or an amount up to the price of the cheapest product.
	Value int64 `json:"value" minimum:"1" maximum:"1000000000000" example:"20"`
}

// Of returns the price that a discount makes of a price. Halves of the smallest unit are rounded up.
func (d Discount) Of(p money.Price) money.Price {
	if d.Kind == Percent {
		p.Amount = (p.Amount*(100-d.Value) + 50) / 100
	} else {
		p.Amount = max(p.Amount-d.Value, 0)
	}
	return p
}

// Promotion is a promotion as callers see it.
type Promotion struct {
	resource.Resource
	// Factory of its products.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Ids of its products.
	ProductIDs []string `json:"product_ids" nullable:"false"`
	// Name of the promotion.
	Name string `json:"name" example:"Autumn sale"`
	// Discount on the price of each product.
	Discount Discount `json:"discount"`
	// When it begins.
	StartsAt resource.Time `json:"starts_at"`
	// When it ends.
	EndsAt resource.Time `json:"ends_at"`
	// What to say about it.
	Message resource.Text `json:"message" example:"Only while stocks last"`
	// Prior price that you state for content, of a promotion of one product. Null: it is computed.
	PriorPrice *money.Price `json:"prior_price"`
	// Reason for another prior price than the lowest of 30 days. Null: none.
	Exception *PriorException `json:"prior_price_exception"`
	// Prior price of each product when the promotion was last changed: the lowest of the 30 days before its beginning,
	// unless there is an exception. Content computes it anew.
	PriorPrices []PriorPrice `json:"prior_prices" nullable:"false"`
	// State of the promotion. It follows from starts_at and ends_at.
	State PromotionState `json:"state" enum:"scheduled,active,ended"`
}

// DecodePromotion reads a promotion with its state at a time.
func DecodePromotion(it *store.Item, now time.Time) (p Promotion, err error) {
	err = it.Decode(&p)
	p.State = stateAt(now, p.StartsAt, p.EndsAt)
	return p, err
}

func stateAt(now time.Time, starts, ends resource.Time) PromotionState {
	switch {
	case !now.Before(ends.Time):
		return Ended
	case now.Before(starts.Time):
		return Scheduled
	default:
		return Running
	}
}

// The filters of the times. They are texts that sort as the times do.
const (
	startsFilter = "starts"
	endsFilter   = "ends"
)

// Entry writes the promotion as an item.
func (p *Promotion) Entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(PromotionKind, o, p.ID, p)
	it.Parent = store.Key{PK: PromotionPartition(o, p.FactoryID), SK: p.ID}
	it.Filters = map[string]string{startsFilter: resource.SortableTime(p.StartsAt.Time),
		endsFilter: resource.SortableTime(p.EndsAt.Time)}
	return it, err
}

// PromotionPartition is the partition of ByParent that lists the promotions of a factory.
func PromotionPartition(o tenant.Owner, factoryID string) string {
	return o.String() + "#" + PromotionKind + "#" + factoryID
}

// Either returns the bounds that select the promotions which are in one of the states at a time; no states are all.
func Either(states []PromotionState, now time.Time) (any []map[string]store.Bound) {
	at := resource.SortableTime(now)
	after, upTo := store.Bound{At: at, After: true}, store.Bound{At: at}
	for _, s := range slices.Compact(slices.Sorted(slices.Values(states))) {
		switch s {
		case Scheduled:
			any = append(any, map[string]store.Bound{startsFilter: after, endsFilter: after})
		case Running:
			any = append(any, map[string]store.Bound{startsFilter: upTo, endsFilter: after})
		case Ended:
			any = append(any, map[string]store.Bound{endsFilter: upTo})
		}
	}
	return any
}

// Included is a promotion as each of its products keeps it.
type Included struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Discount Discount      `json:"discount"`
	StartsAt resource.Time `json:"starts_at"`
	EndsAt   resource.Time `json:"ends_at"`
	Message  resource.Text `json:"message,omitempty"`
	// PriorPrice is the prior price that the caller states, or nil, and Exception its reason for another one than the
	// lowest of 30 days.
	PriorPrice *money.Price `json:"prior_price,omitempty"`
	Exception  string       `json:"exception,omitempty"`
	// Over reports that the product was in the promotion, and is no more.
	Over bool `json:"over,omitempty"`
}

// State returns the state of the promotion at a time.
func (i Included) State(now time.Time) PromotionState { return stateAt(now, i.StartsAt, i.EndsAt) }

// Unended returns the promotions of the product that have not ended.
func (r *StoredProduct) Unended(now time.Time) []Included {
	return slices.DeleteFunc(slices.Clone(r.Promotions), func(i Included) bool { return i.State(now) == Ended })
}

// Running returns the promotions of the product that are active, the lowest price first.
func (r *StoredProduct) Running(now time.Time) []Included {
	all := slices.DeleteFunc(slices.Clone(r.Promotions), func(i Included) bool { return i.State(now) != Running })
	slices.SortStableFunc(all, func(a, b Included) int {
		return int(a.Discount.Of(r.Price).Amount - b.Discount.Of(r.Price).Amount)
	})
	return all
}

// Include adds a promotion to the product, and replaces an earlier version of it.
func (r *StoredProduct) Include(p *Promotion, now time.Time) {
	r.Exclude(p.ID, now)
	i := Included{ID: p.ID, Name: p.Name, Discount: p.Discount, StartsAt: p.StartsAt, EndsAt: p.EndsAt,
		Message: p.Message, PriorPrice: p.PriorPrice}
	if p.Exception != nil {
		i.Exception = p.Exception.Reason
	}
	r.Promotions = append(r.Promotions, i)
}

// Exclude removes a promotion from the product.
func (r *StoredProduct) Exclude(promotionID string, now time.Time) {
	r.Promotions = slices.DeleteFunc(slices.Clone(r.Promotions), func(i Included) bool {
		leaves := i.ID == promotionID || i.State(now) == Ended
		if leaves {
			r.end(i, now)
		}
		return leaves
	})
}
