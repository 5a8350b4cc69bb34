package item

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/media"
)

// maxPhotos is the number of photos of a product that its content shows.
const maxPhotos = 4

// Bounds of the texts of a product that models read, in characters.
const (
	maxPitch = 2000
	maxFacts = 12_000 // bytes of all facts
	maxShown = 200
)

// Product is the product that an item is about, as it was when the attempt was accepted.
type Product struct {
	ProductID   string            `json:"product_id"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"`
	URL         string            `json:"url,omitempty"`
	Price       money.Price       `json:"price"`
	// Availability is the stock of the product.
	Availability product.Availability `json:"availability,omitempty"`
	// Promotion is the promotion that applies, or nil.
	Promotion *product.ProductPromotion `json:"promotion,omitempty"`
	// Was is the price before the promotion that its content shows, and Prior the lawful one as far as it is known.
	Was   money.Price `json:"was,omitzero"`
	Prior money.Price `json:"prior,omitzero"`
	// Photos are those that are ready, in their order.
	Photos []media.File `json:"photos,omitempty"`
}

// NewProduct returns the product of an item with one of its promotions: if none is named,
// the active one with the lowest price. The region decides which price before the promotion it shows.
func NewProduct(r *product.StoredProduct, promotionID, region string, now time.Time) (*Product, error) {
	p := &Product{ProductID: r.ID, Name: r.Name, Description: string(r.Description), Attributes: r.Attributes,
		Price: r.Price, Availability: r.Availability}
	if r.URL != nil {
		p.URL = *r.URL
	}
	for _, photo := range r.Photos {
		if photo.State == incoming.Ready && len(p.Photos) < maxPhotos {
			p.Photos = append(p.Photos, *photo.File)
		}
	}
	promotions := r.Running(now)
	if promotionID != "" {
		promotions = slices.DeleteFunc(r.OpenPromotions(now), func(i product.ProductPromotion) bool {
			return i.ID != promotionID
		})
		if len(promotions) == 0 {
			e := errs.New(errs.NotFound, "No promotion of the product %s that has not ended has the id %q. GET "+
				"/v1/promotions?factory_id=%s&state=scheduled,active lists them.", r.ID, promotionID, r.FactoryID)
			e.Param = "/promotion_id"
			return nil, e
		}
	}
	if len(promotions) > 0 {
		p.Promotion = &promotions[0]
		p.Was, p.Prior = r.Was(promotions[0], region), r.Prior(promotions[0])
	}
	return p, nil
}

// Now returns the product as it is now, in the promotion that it was in unless that has ended.
func (p *Product) Now(r *product.StoredProduct, region string, now time.Time) (*Product, error) {
	if p.Promotion != nil {
		if same, err := NewProduct(r, p.Promotion.ID, region, now); err == nil {
			return same, nil
		}
	}
	return NewProduct(r, "", region, now)
}

// IDs returns the ids of the product and of its promotion, each nil if there is none.
func (p *Product) IDs() (productID, promotionID *string) {
	if p == nil {
		return nil, nil
	}
	if p.Promotion != nil {
		promotionID = &p.Promotion.ID
	}
	return &p.ProductID, promotionID
}

func (p *Product) reducedPrice() money.Price { return p.Promotion.Discount.Of(p.Price) }

// priceBefore returns the price before the promotion, and false if the promotion does not lower it.
func (p *Product) priceBefore() (was money.Price, ok bool) {
	if was = p.Was; was.Currency == "" {
		was = p.Price
	}
	return was, was.Amount > p.reducedPrice().Amount
}

// reduction returns what the content announces, for the rules of law, or nil if it announces nothing.
func (p *Product) reduction() *law.Reduction {
	if p == nil || p.Promotion == nil || p.Prior.Currency == "" {
		return nil
	}
	n := &law.Reduction{Now: p.reducedPrice(), Prior: p.Prior, Param: "/promotion_id", StruckParam: "/promotion_id",
		Of: p.Name}
	if n.Struck, _ = p.priceBefore(); p.Promotion.Discount.Kind == product.Percent {
		n.Percent = p.Promotion.Discount.Value
	}
	return n
}

// facts describes the product to a text model, as a JSON object, with its prices as a language (BCP 47) writes them, or
// without, and with the days of a time zone.
func (p *Product) facts(prices bool, lang string, zone *time.Location) json.RawMessage {
	about := map[string]any{"name": provider.Clip(p.Name, maxPitch)}
	if len(p.Attributes) > 0 {
		about["attributes"] = p.Attributes
	}
	if p.URL != "" {
		about["url"] = p.URL
	}
	if i := p.Promotion; i != nil {
		promotion := map[string]string{"name": i.Name, "from": i.StartsAt.In(zone).Format(time.DateOnly),
			"until": lastDay(i, zone).Format(time.DateOnly), "message": string(i.Message)}
		if prices {
			promotion["reduced_price"] = p.reducedPrice().In(lang)
		}
		about["promotion"] = promotion
	}
	if prices {
		about["price"] = p.Price.In(lang)
		if p.Promotion != nil {
			was, _ := p.priceBefore()
			about["price"] = was.In(lang)
		}
	}
	data, _ := json.Marshal(about) // it has texts only
	if len(data) > maxFacts {
		delete(about, "attributes")
		data, _ = json.Marshal(about)
	}
	if room := maxFacts - len(data); p.Description != "" && room > 0 {
		about["description"] = provider.Clip(p.Description, min(maxPitch, room/utf8.UTFMax))
		data, _ = json.Marshal(about)
	}
	return data
}

// look describes the product to a model of pictures.
func (p *Product) look() string {
	text := p.Name
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		text += fmt.Sprintf(", %s %s", name, p.Attributes[name])
	}
	return sentence("It shows the product", provider.Clip(text, maxShown))
}

// prices are the amounts that texts about the product may state.
func (p *Product) prices() []money.Price {
	if p.Promotion == nil {
		return []money.Price{p.Price}
	}
	now := p.reducedPrice()
	was, lower := p.priceBefore()
	if !lower {
		return []money.Price{now}
	}
	return []money.Price{was, now, {Amount: was.Amount - now.Amount, Currency: was.Currency}}
}

// statements returns what a product and its promotion state, in words, with the days of a time zone.
func (p *Product) statements(zone *time.Location) []string {
	all := []string{p.Name, p.Description, p.URL}
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		value := p.Attributes[name]
		all = append(all, name+": "+value)
		if _, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", "."), 64); err == nil {
			// The name may have the unit, as in weight_g and Drop (mm).
			parts := func(r rune) bool { return strings.ContainsRune("_ ()[],", r) }
			for _, unit := range strings.FieldsFunc(name, parts) {
				all = append(all, value+" "+unit)
			}
		}
	}
	if i := p.Promotion; i != nil {
		all = append(all, i.Name, string(i.Message), i.StartsAt.In(zone).Format(time.DateOnly),
			lastDay(i, zone).Format(time.DateOnly))
		was, _ := p.priceBefore()
		if percent := law.Percent(was, p.reducedPrice()); percent > 0 {
			all = append(all, fmt.Sprintf("%d %%", percent))
		}
	}
	return all
}

// LongestProduct returns a product that takes the longest text to present.
func LongestProduct() *Product {
	return &Product{Name: strings.Repeat("語", maxPitch), Description: strings.Repeat("𠀀", maxPitch),
		Price: money.Price{Amount: 1_000_000_000_000, Currency: "EUR"}}
}

// shown returns the price that content shows, and the one before its promotion, which is zero if there is none.
func (p *Product) shown() (price, before money.Price) {
	if p.Promotion == nil {
		return p.Price, before
	}
	if was, lower := p.priceBefore(); lower {
		before = was
	}
	return p.reducedPrice(), before
}

// lastDay returns a time of the last day of a promotion, in a time zone. The promotion ends before EndsAt.
func lastDay(p *product.ProductPromotion, zone *time.Location) time.Time {
	return p.EndsAt.Add(-time.Nanosecond).In(zone)
}
