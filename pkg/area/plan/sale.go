package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	record "github.com/content-automation/api/pkg/area/product"
)

// sale is a promotion on days of a plan, with its products that the plan may present.
type sale struct {
	record.ProductPromotion
	products []string
}

// during reports whether a time is in it.
func (s *sale) during(at time.Time) bool {
	return !at.Before(s.StartsAt.Time) && at.Before(s.EndsAt.Time)
}

// exhibit is what a slot presents: a product, and what to say of its offer.
type exhibit struct {
	Product string `json:"product"`
	Offer   string `json:"offer,omitempty"`
}

// The time before an offer in which its products are not shown at the full price, that after it, and the time after
// which a product on offer is shown again, unless it is the first or the last day.
const (
	quietBefore = 3 * 24 * time.Hour
	quietAfter  = 14 * 24 * time.Hour
	offerPause  = 40 * time.Hour
)

// shelf has the products of a plan and decides which of them its slots present.
type shelf struct {
	seed     string
	zone     *time.Location
	products []string
	shop     map[string]*record.StoredProduct
	slots    []Slot
	places   []place
	sales    []sale
	presents []bool
	// keys are the sales of which a slot is the announcement, the beginning or the end, by the number of the slot.
	keys map[int]*sale
	// counts and last are how often and when a product was shown.
	counts map[string]int
	last   map[string]time.Time
	chosen map[int]exhibit
}

// allot returns what each slot of a plan presents, by its number. Products are taken in turn. One that is on offer on
// days of the plan is announced the day before, shown while the offer lasts and on its last day, and never after it.
func (s *shelf) allot() map[int]exhibit {
	s.presents, s.keys, s.chosen = make([]bool, len(s.slots)), map[int]*sale{}, map[int]exhibit{}
	s.counts, s.last = map[string]int{}, map[string]time.Time{}
	for i, slot := range s.slots {
		s.presents[i] = slot.offers
	}
	s.findSales()
	s.clearEvents()
	s.placeSales()
	previous := ""
	for i, slot := range s.slots {
		if !s.presents[i] {
			continue
		}
		product := s.choose(i, previous)
		if product == "" {
			continue
		}
		s.chosen[i] = exhibit{product, s.offerText(i, product)}
		s.counts[product]++
		s.last[product], previous = slot.At, product
	}
	return s.chosen
}

// findSales collects the promotions of the products on days of the plan.
func (s *shelf) findSales() {
	if len(s.slots) == 0 {
		return
	}
	first, end := s.slots[0].At, s.slots[len(s.slots)-1].At
	of := map[string]*sale{}
	for _, productID := range s.products {
		for _, p := range s.shop[productID].Promotions {
			if p.Over || !p.EndsAt.After(first.Add(-quietAfter)) || p.StartsAt.After(end.Add(quietBefore)) {
				continue
			}
			if of[p.ID] == nil {
				of[p.ID] = &sale{ProductPromotion: p}
			}
			of[p.ID].products = append(of[p.ID].products, productID)
		}
	}
	for _, promotionID := range slices.Sorted(maps.Keys(of)) {
		s.sales = append(s.sales, *of[promotionID])
	}
	slices.SortStableFunc(s.sales, func(a, b sale) int { return a.StartsAt.Compare(b.StartsAt.Time) })
}

// clearEvents has the slots of events present no product: others do in their place.
func (s *shelf) clearEvents() {
	for i := range s.slots {
		if s.presents[i] && s.places[i].Event != "" {
			s.swap(i, func(k int) bool { return !s.presents[k] && s.places[k].Event == "" })
		}
	}
}

// swap has the nearest slot that fits take or give the product of a slot.
func (s *shelf) swap(i int, fits func(k int) bool) bool {
	best := -1
	for k := range s.slots {
		if k != i && fits(k) && (best < 0 || (k-i)*(k-i) < (best-i)*(best-i)) {
			best = k
		}
	}
	if best >= 0 {
		s.presents[i], s.presents[best] = s.presents[best], s.presents[i]
	}
	return best >= 0
}

// placeSales finds the slots that announce, begin and end each sale, and has them present a product. A slot that
// several sales ask for is given to the one with the fewest.
func (s *shelf) placeSales() {
	roles, given := [3][]int{}, make([]int, len(s.sales)) // the slots of each sale, by their role: the last goes first
	for n := range s.sales {
		for role, i := range s.keySlots(&s.sales[n]) {
			roles[role] = append(roles[role], i)
		}
	}
	spare := func(k int) bool { return s.presents[k] && s.keys[k] == nil }
	for _, slots := range roles {
		order := make([]int, len(s.sales))
		for n := range order {
			order[n] = n
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(given[a], given[b]) })
		for _, n := range order {
			i := slots[n]
			if i < 0 || s.keys[i] != nil {
				continue
			}
			if s.presents[i] || s.swap(i, func(k int) bool { return spare(k) && !s.onSale(k) }) || s.swap(i, spare) {
				s.keys[i] = &s.sales[n]
				given[n]++
			}
		}
	}
}

// keySlots returns the slots that end, begin and announce a sale, or negative numbers.
func (s *shelf) keySlots(one *sale) (all [3]int) {
	before, first, last := -1, -1, -1
	lastDay := one.EndsAt.Add(-time.Nanosecond).In(s.zone).Format(time.DateOnly)
	for i, slot := range s.slots {
		switch {
		case s.places[i].Event != "" && !one.during(slot.At):
		case slot.At.Before(one.StartsAt.Time) && one.StartsAt.Sub(slot.At) <= quietBefore:
			before = i
		case one.during(slot.At) && first < 0:
			first = i
		}
		if one.during(slot.At) && slot.At.In(s.zone).Format(time.DateOnly) == lastDay {
			last = i
		}
	}
	return [3]int{last, first, before}
}

// onSale reports whether a sale is on at the time of a slot.
func (s *shelf) onSale(i int) bool {
	return slices.ContainsFunc(s.sales, func(one sale) bool { return one.during(s.slots[i].At) })
}

// choose returns the product of a slot, or none.
func (s *shelf) choose(i int, previous string) string {
	at := s.slots[i].At
	if key := s.keys[i]; key != nil {
		return s.next(key.products, previous)
	}
	var running, rested []string
	for n := range s.sales {
		if s.sales[n].during(at) {
			running = append(running, s.sales[n].products...)
		}
	}
	for _, productID := range running {
		if shown, ok := s.last[productID]; !ok || at.Sub(shown) >= offerPause {
			rested = append(rested, productID)
		}
	}
	if len(rested) > 0 {
		return s.next(rested, previous)
	}
	var plain, far []string
	for _, productID := range s.products {
		switch near, known := s.nearSale(productID, at); {
		case !known:
			plain = append(plain, productID)
		case !near:
			far = append(far, productID)
		}
	}
	for _, all := range [][]string{plain, running, far} {
		if one := s.next(all, previous); one != "" && (one != previous || len(s.products) == 1) {
			return one
		}
	}
	return ""
}

// nearSale reports whether a product is on offer soon or was it not long ago, and whether it has an offer at all.
func (s *shelf) nearSale(productID string, at time.Time) (near, known bool) {
	for _, one := range s.sales {
		if !slices.Contains(one.products, productID) {
			continue
		}
		known = true
		near = near || !at.Before(one.StartsAt.Add(-quietBefore)) && at.Before(one.EndsAt.Add(quietAfter))
	}
	return near, known
}

// next returns the product of some that was shown least, in an order that changes from turn to turn. It is not the
// previous one, unless there is no other.
func (s *shelf) next(products []string, previous string) string {
	if len(products) == 0 {
		return ""
	}
	least := s.counts[slices.MinFunc(products, func(a, b string) int { return cmp.Compare(s.counts[a], s.counts[b]) })]
	order := slices.Clone(s.products)
	seeded(s.seed, strconv.Itoa(least)).Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	fallback := ""
	for _, productID := range order {
		switch {
		case !slices.Contains(products, productID):
		case productID == previous:
			fallback = cmp.Or(fallback, productID)
		case s.counts[productID] == least:
			return productID
		}
	}
	for _, productID := range order { // the previous one alone was shown least
		if productID != previous && slices.Contains(products, productID) {
			return productID
		}
	}
	return fallback
}

// offerText says what a slot tells of the offer of its product. The announcement names no figure: a reduction that is
// not in force must not be stated as one.
func (s *shelf) offerText(i int, productID string) string {
	at := s.slots[i].At
	one := s.keys[i]
	if one == nil {
		n := slices.IndexFunc(s.sales, func(one sale) bool {
			return one.during(at) && slices.Contains(one.products, productID)
		})
		if n < 0 {
			return ""
		}
		one = &s.sales[n]
	}
	day := func(t time.Time) string { return t.In(s.zone).Format("2 January 2006") }
	last := one.EndsAt.Add(-time.Nanosecond)
	name := clip(one.Name, maxEvent/2)
	switch {
	case at.Before(one.StartsAt.Time):
		return fmt.Sprintf("%s begins on %s", name, day(one.StartsAt.Time))
	case day(at) == day(last):
		return fmt.Sprintf("%s, %s, ends today", name, reduction(one.Discount))
	case day(at) == day(one.StartsAt.Time):
		return fmt.Sprintf("%s, %s, begins today and ends on %s", name, reduction(one.Discount), day(last))
	}
	return fmt.Sprintf("%s, %s, until %s", name, reduction(one.Discount), day(last))
}

// reduction says how much a promotion takes off.
func reduction(d record.Discount) string {
	if d.Kind == record.Percent {
		return fmt.Sprintf("%d %% off", d.Value)
	}
	return "a lower price"
}
