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
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
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

// hasPhotos reports whether there is a photo of the item's product.
func (r *Record) hasPhotos() bool { return r.Brief.Product != nil && len(r.Brief.Product.Photos) > 0 }

// productRules are what a text model has to know of the slides or scenes that show photos of the product, and of the
// prices that it may state.
func (r *Record) productRules() (all []string) {
	if r.Brief.Product != nil {
		var numbers []string
		for _, s := range r.Shown {
			if len(r.Slides) > 1 || r.Kind == Video {
				numbers = append(numbers, strconv.Itoa(s.Number))
			}
		}
		switch {
		case len(numbers) > 0:
			all = append(all, fmt.Sprintf("Photos of the product are seen in the slides or scenes %s: speak of the "+
				"product there.", strings.Join(numbers, ", ")))
		case len(r.Shown) > 0:
			all = append(all, "The picture is a photo of the product that exists: describe the product, and invent no scene.")
		}
	}
	switch r.Brief.Prices {
	case PricesKnown:
		all = append(all, "State no prices and amounts of money but those that the message has, and in the same currency.")
	case PricesNone:
		all = append(all, "State no prices and no amounts of money.")
	}
	return all
}

// about returns what the texts of the item are about.
func (r *Record) about() provider.About {
	a := provider.About{Kind: string(r.Kind), Type: r.Brief.Type, Name: r.Brief.Name}
	p := r.Brief.Product
	if p == nil {
		return a
	}
	a.Product, a.Description = p.Name, p.Description
	if r.Brief.Prices == PricesNone {
		return a
	}
	a.Price = p.Price.String()
	if p.Promotion != nil {
		a.Price, a.Was, a.Until = p.reduced().String(), a.Price, p.Promotion.EndsAt.Format(time.DateOnly)
	}
	return a
}

// look returns the description of the look of the pictures for a model of pictures.
func (r *Record) look() string {
	if r.Brief.Product == nil {
		return r.Brief.Look
	}
	return sentences(" ", r.Brief.Product.look(), r.Brief.Look)
}

// shownPhoto is a photo of the product in the place of a picture or clip that a model
// would make.
type shownPhoto struct {
	// Number is the number of the slide or scene, from 1. It is 1 if there is only one.
	Number int        `json:"number"`
	File   media.File `json:"file"`
}

// place chooses which of the pictures or clips are photos of the product: every other one, beginning with the first, up
// to the number of photos.
func (r *Record) place(count int) {
	r.Shown = nil
	p := r.Brief.Product
	if p == nil || r.Kind == MusicClip || r.Shape == "story clip" {
		return
	}
	for n := 1; n <= count && len(r.Shown) < len(p.Photos); n += 2 {
		r.Shown = append(r.Shown, shownPhoto{n, p.Photos[len(r.Shown)]})
	}
}

// Present makes a planned item present a product, or no product if it is nil. It returns the
// credits by which the item costs less than with LongestProduct: for its texts, and for the
// pictures and clips that photos replace.
func (r *Record) Present(p *Product) (saved int64) {
	r.Brief.Product = p
	r.ProductID, r.PromotionID = p.IDs()
	made := func(p part) bool { return p.Role == roleItem || p.Role == roleStill }
	count := max(len(r.Slides), 1, r.Parts[0].Scenes)
	r.place(count)
	parts := r.Parts
	r.Parts = nil
	for _, one := range parts {
		if made(one) && r.photo(max(one.Number, 1)) != nil {
			saved += one.Credits
			continue
		}
		if m, ok := catalog.Find(one.Model); ok && one.Kind == provider.KindText && one.Credits > 0 {
			if credits, err := m.PriceOf(r.foreseen(one)); err == nil && credits < one.Credits {
				saved += one.Credits - credits
				one.Credits = credits
			}
		}
		r.Parts = append(r.Parts, one)
	}
	r.Credits -= saved
	return saved
}

// LongestProduct returns a product that takes the longest text to present.
func LongestProduct() *Product {
	return &Product{Name: strings.Repeat("語", maxPitch), Description: strings.Repeat("𠀀", maxPitch),
		Price: money.Price{Amount: 1_000_000_000_000, Currency: "EUR"}}
}

// photo returns the photo in the place of a picture or clip, by its number, or nil if a
// model makes it.
func (r *Record) photo(number int) *media.File {
	for i := range r.Shown {
		if r.Shown[i].Number == number {
			return &r.Shown[i].File
		}
	}
	return nil
}

// offer returns what finished media say of the product, or nil if the factory or the platforms want nothing said.
func (r *Record) offer() *generate.Offer {
	p, style := r.Brief.Product, r.Brief.Badge
	if p == nil || style == nil {
		return nil
	}
	o := &generate.Offer{Shop: style.Shop, Action: style.Action}
	if r.Brief.Prices != PricesNone {
		price := p.Price
		if p.Promotion != nil {
			was := price
			price, o.Was, o.Promotion = p.reduced(), &was, p.Promotion.Name
		}
		o.Price = &price
	}
	return o
}
