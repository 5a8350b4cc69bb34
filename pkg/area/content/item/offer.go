package item

import (
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/generate"
)

// offer returns what finished media say of the product, or nil if the factory or the platforms want nothing said.
func (r *writer) offer() *generate.Offer {
	p, style := r.brief.Product, r.brief.Badge
	if p == nil || style == nil {
		return nil
	}
	o := &generate.Offer{Shop: style.Shop, Action: style.Action}
	if r.brief.Prices != PricesNone {
		price := p.Price
		if p.Promotion != nil {
			price, o.Promotion = p.reducedPrice(), p.Promotion.Name
			o.Until = p.Promotion.EndsAt.Time
			if was, lower := p.priceBefore(); lower {
				prior := was
				if p.Prior.Currency != "" {
					prior = p.Prior // which laws compare a percentage with
				}
				o.Was, o.Percent = &was, law.Percent(prior, price)
			}
		}
		o.Price = &price
	}
	return o
}
