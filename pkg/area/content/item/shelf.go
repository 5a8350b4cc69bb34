package item

import (
	"slices"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/record/resource"
)

// Changes returns the ways in which a product is not what an item shows at a time. A product that was deleted is nil.
func (p *Product) Changes(r *product.StoredProduct, prices bool, at time.Time) (ways Ways) {
	if r == nil || r.State == product.Archived {
		return Ways{Removed}
	}
	if prices && r.Price != p.Price {
		ways = append(ways, PriceChanged)
	}
	if (prices || p.Promotion != nil) && !p.offered(r, at) {
		ways = append(ways, OfferChanged)
	}
	if r.Availability == product.OutOfStock && p.Availability != product.OutOfStock {
		ways = append(ways, SoldOut)
	}
	if len(p.Photos) > 0 && !slices.ContainsFunc(r.Photos, func(photo product.StoredPhoto) bool {
		return photo.State == incoming.Ready && photo.File != nil && photo.File.SHA256 == p.Photos[0].SHA256
	}) {
		ways = append(ways, PhotoChanged)
	}
	return ways
}

// offered reports whether the product is offered as the item shows it: in its promotion, which was not put off and does
// not end earlier, or in none that lowers the price.
func (p *Product) offered(r *product.StoredProduct, at time.Time) bool {
	running := r.Running(at)
	if p.Promotion == nil {
		return len(running) == 0 || running[0].Discount.Of(r.Price).Amount == r.Price.Amount
	}
	was := p.Promotion
	return slices.ContainsFunc(r.OpenPromotions(at), func(i product.ProductPromotion) bool {
		return i.ID == was.ID && i.Discount == was.Discount && resource.Equal(i.PriorPrice, was.PriorPrice) &&
			!i.EndsAt.Before(was.EndsAt.Time) && (!i.StartsAt.After(at) || was.StartsAt.After(at))
	})
}

// Priced returns the product with the prices of another, as a published post keeps it that shows them.
func (p *Product) Priced(of *Product) *Product {
	priced := *p
	priced.Price, priced.Promotion, priced.Was, priced.Prior = of.Price, of.Promotion, of.Was, of.Prior
	priced.Description, priced.Attributes = "", nil
	return &priced
}

// SamePrice reports whether two products, of which one may be nil, are shown with the same prices.
func (p *Product) SamePrice(other *Product) bool {
	if p == nil || other == nil {
		return p == other
	}
	price, before := p.shown()
	otherPrice, otherBefore := other.shown()
	return price == otherPrice && before == otherBefore
}

// Outdated returns the ways in which published posts are outdated, once a post was changed: those of the item, or none
// if all its posts show the last price.
func (r *Record) Outdated() Ways {
	for _, pub := range r.Item.Publications {
		if pub.State == PublicationPublished && (pub.Posting.Shown == nil || pub.Posting.AmendedBy == 0 ||
			!pub.Posting.Shown.SamePrice(pub.Posting.Amended)) {
			return r.Item.Outdated
		}
	}
	return r.Item.Outdated.Without(Ways{PriceChanged, OfferChanged})
}

// ShownAt returns the time at which the item shows its product: that of its publication, or else now.
func (r *Record) ShownAt(now time.Time) time.Time {
	if r.Item.PublishAt != nil && r.Item.PublishAt.After(now) {
		return r.Item.PublishAt.Time
	}
	return now
}

// ShowsPrices reports whether the item shows prices of its product.
func (r *Record) ShowsPrices() bool { return r.Brief.Prices != PricesNone }
