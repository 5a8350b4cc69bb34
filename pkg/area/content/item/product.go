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
	// Promotion is the promotion that applies, or nil.
	Promotion *product.Included `json:"promotion,omitempty"`
	// Photos are those that are ready, in their order.
	Photos []media.File `json:"photos,omitempty"`
}

// NewProduct returns the product of an item with one of its promotions: if none is named,
// the active one with the lowest price.
func NewProduct(r *product.StoredProduct, promotionID string, now time.Time) (*Product, error) {
	p := &Product{ProductID: r.ID, Name: r.Name, Description: r.Description, Attributes: r.Attributes, Price: r.Price}
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
		promotions = slices.DeleteFunc(r.Unended(now), func(i product.Included) bool { return i.ID != promotionID })
		if len(promotions) == 0 {
			return nil, errs.Invalid("/promotion_id", "is not the id of a promotion of the product that has not ended")
		}
	}
	if len(promotions) > 0 {
		p.Promotion = &promotions[0]
	}
	return p, nil
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

// reduced returns the price in the promotion.
func (p *Product) reduced() money.Price { return p.Promotion.Discount.Of(p.Price) }

// facts describes the product to a text model, with its prices or without, as a JSON object.
func (p *Product) facts(prices bool) json.RawMessage {
	about := map[string]any{"name": provider.Clip(p.Name, maxPitch)}
	if len(p.Attributes) > 0 {
		about["attributes"] = p.Attributes
	}
	if p.URL != "" {
		about["url"] = p.URL
	}
	if i := p.Promotion; i != nil {
		promotion := map[string]string{"name": i.Name, "from": i.StartsAt.Format(time.DateOnly),
			"until": i.EndsAt.Format(time.DateOnly), "message": i.Message}
		if prices {
			promotion["reduced_price"] = p.reduced().String()
		}
		about["promotion"] = promotion
	}
	if prices {
		about["price"] = p.Price.String()
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
	all := []money.Price{p.Price}
	if p.Promotion != nil {
		now := p.reduced()
		all = append(all, now, money.Price{Amount: p.Price.Amount - now.Amount, Currency: p.Price.Currency})
	}
	return all
}

// stated returns what a product and its promotion state, in words.
func (p *Product) stated() []string {
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
		all = append(all, i.Name, i.Message, i.StartsAt.Format(time.DateOnly), i.EndsAt.Format(time.DateOnly))
		if now, was := p.reduced(), p.Price; was.Amount > 0 && (was.Amount-now.Amount)*100%was.Amount == 0 {
			all = append(all, fmt.Sprintf("%d %%", (was.Amount-now.Amount)*100/was.Amount))
		}
	}
	return all
}

// LongestProduct returns a product that takes the longest text to present.
func LongestProduct() *Product {
	return &Product{Name: strings.Repeat("語", maxPitch), Description: strings.Repeat("𠀀", maxPitch),
		Price: money.Price{Amount: 1_000_000_000_000, Currency: "EUR"}}
}
