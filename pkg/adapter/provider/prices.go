package provider

import (
	"fmt"
	"slices"

	"github.com/content-automation/api/pkg/base/money"
)

// Prices are the prices that the texts of a shop may state: known ones, and those that texts of the shop or the caller
// have stated before. Nil permits any.
type Prices struct {
	Known []money.Price
	Said  []string
}

// check refuses a text that states another price: the model has made it up.
func (p *Prices) check(t Text) error {
	if p == nil {
		return nil
	}
	known := slices.Clone(p.Known)
	for _, text := range p.Said {
		for _, s := range money.In(text) {
			known = append(known, s.Means()...)
		}
	}
	for _, text := range t.Shown() {
		for _, s := range money.In(text) {
			if !s.Is(known) {
				return fmt.Errorf("the price %q is none that the shop has", s.Text)
			}
		}
	}
	return nil
}
