package item

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/generate"
)

// offer returns what finished media say of the product, or nil if the factory or the platforms want nothing said.
func (r *writer) offer() *generate.Offer {
	p, style := r.brief.Product, r.brief.Badge
	if p == nil || style == nil {
		return nil
	}
	o := &generate.Offer{Shop: style.Shop, Action: style.Action, Address: hostOf(p.URL)}
	if r.brief.Prices != PricesNone {
		price := p.Price
		if p.Promotion != nil {
			price, o.Promotion = p.reducedPrice(), p.Promotion.Name
			o.Until = lastDay(p.Promotion, r.brief.zone())
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

// hostOf returns where the page of a product is, as people write it: shop.example.com of
// https://www.shop.example.com/shoe. It returns nothing if the product has no page, or none with a name.
func hostOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	host := strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), "www.")
	if !strings.Contains(strings.Trim(host, "0123456789."), ".") || strings.Contains(host, ":") {
		return ""
	}
	if shown, err := idna.Display.ToUnicode(host); err == nil {
		return shown
	}
	return host
}
