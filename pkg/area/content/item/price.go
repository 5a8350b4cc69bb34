package item

import (
	"fmt"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/ledger"
)

// Bound has the attempt cost at most what a quote says. The argument may be nil.
func (r Attempt) Bound(q *ledger.Quoted) {
	if r.Quoted = q; q != nil {
		r.Credits = min(r.Credits, q.Credits)
	}
}

// priced returns the price of the parts together, without any quote.
func (r Attempt) priced() (credits int64) {
	for _, p := range r.Parts {
		credits += p.Price()
	}
	return credits
}

// Made describes what the price of the attempt is for, apart from texts: it changes with what is made, and not with the
// prices of the catalog, which may choose other models for the texts.
func (r Attempt) Made() string {
	var all strings.Builder
	for _, p := range r.Parts {
		if p.Kind != provider.KindText {
			fmt.Fprintf(&all, "%s %s %d %d;", p.Role, p.Kind, p.Number, p.Seconds)
		}
	}
	return all.String()
}

// LivePrice returns the price of the record's attempt with a live key. Models without a price count nothing.
func (r Attempt) LivePrice() (credits int64) {
	for _, p := range r.Parts {
		for _, c := range p.Calls() {
			if m, ok := catalog.FindIn(c.Model, c.PricedIn); ok && m.Price != nil {
				price, _ := m.PriceOf(r.foreseenCall(p, c.Name)) // it was checked when it was planned
				credits += price
			}
		}
	}
	return credits
}
