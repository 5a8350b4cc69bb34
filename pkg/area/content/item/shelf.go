package item

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/record/shelf"
)

// Way is a way in which a product is not what an item shows.
type Way string

// The ways.
const (
	PriceChanged Way = "price"
	OfferChanged Way = "offer"
	PhotoChanged Way = "photo"
	SoldOut      Way = "sold_out"
	Removed      Way = "removed"
)

var _ = format.Define("outdated", format.Format{Values: format.Words("price offer photo sold_out removed")})

// Ways are several.
type Ways []Way

// MarshalJSON writes no ways as an empty list.
func (w Ways) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]Way{}, w...))
}

// Without returns those that are not among others.
func (w Ways) Without(others Ways) Ways {
	return slices.DeleteFunc(slices.Clone(w), func(one Way) bool { return slices.Contains(others, one) })
}

// Policy returns the strictest policy that a feed has for some of the ways, or an empty text if there is none.
func (w Ways) Policy(of shelf.Policies) (p shelf.Policy) {
	for _, one := range w {
		switch one {
		case SoldOut:
			p = shelf.Stricter(p, of.SoldOut)
		case Removed:
			p = shelf.Stricter(p, of.Removed)
		default:
			p = shelf.Stricter(p, of.PriceChange)
		}
	}
	return p
}

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

// Words says in words what has changed.
func (w Ways) Words() string {
	words := map[Way]string{PriceChanged: "its price has changed", OfferChanged: "its offer has changed",
		PhotoChanged: "its main photo has changed", SoldOut: "it is sold out", Removed: "the shop has it no more"}
	all := make([]string, len(w))
	for i, one := range w {
		all[i] = words[one]
	}
	return strings.Join(all, ", ")
}
