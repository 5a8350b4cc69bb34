package item

import (
	"slices"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
)

// Changes returns the ways in which a product is not what an item shows at a time. A product that was deleted is nil.
func (p *Product) Changes(r *product.StoredProduct, prices bool, at time.Time) (ways Ways) {
	if r == nil || r.State == product.Archived {
		return Ways{Removed}
	}
	if prices && r.Price != p.Price {
		ways = append(ways, PriceChanged)
	}
	if prices && !p.offered(r, at) {
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

// offered reports whether the product is offered as the item shows it: in its promotion, or in none that lowers the
// price.
func (p *Product) offered(r *product.StoredProduct, at time.Time) bool {
	running := r.Running(at)
	if p.Promotion == nil {
		return len(running) == 0 || running[0].Discount.Of(r.Price).Amount == r.Price.Amount
	}
	return slices.ContainsFunc(r.OpenPromotions(at), func(i product.ProductPromotion) bool {
		return i.ID == p.Promotion.ID && i.Discount == p.Promotion.Discount
	})
}

// ShowsPrices reports whether the item shows prices of its product.
func (r *Record) ShowsPrices() bool { return r.Brief.Prices != PricesNone }
