package item

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
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

// Reprice has an item show its product as it is now: its texts state the prices of now, and what else they say stays.
// The next attempt makes what shows a price again. It refuses a text in which a price cannot be replaced.
func (r *Record) Reprice(now *Product, at time.Time) error {
	was := r.Brief.Product
	p := newRepricing(was, now, r.Item.Language)
	invented := r.Invents(at, r.statedTexts()...)
	if r.ShowsPrices() {
		if err := r.eachText(p.text); err != nil {
			return err
		}
	}
	r.Brief.Product = now
	r.Item.ProductID, r.Item.PromotionID = now.IDs()
	if !invented && r.Invents(at, r.statedTexts()...) {
		return p.refusal("they state what it does not have any more")
	}
	return nil
}

// RepriceCaption returns the text of a post with the prices of now. It reports false if the price of now cannot be
// shown so: a price cannot be replaced, or the media of the item show it, too.
func (r *Record) RepriceCaption(caption string, was, now *Product) (string, bool) {
	p := newRepricing(was, now, r.Item.Language)
	if offer := writerOf(r).offer(); offer != nil && offer.Price != nil || r.mediaState(p) {
		return caption, false
	}
	text, err := p.text(caption)
	return text, err == nil
}

// mediaState reports whether texts that are drawn or spoken in the media state a price that has changed.
func (r *Record) mediaState(p *repricing) bool {
	copied := *r
	copied.Item.Variants, copied.Item.Caption = nil, ""
	if !r.Item.InMedia() {
		copied.Item.Title = ""
	}
	changed := false
	err := copied.eachText(func(text string) (string, error) {
		now, err := p.text(text)
		changed = changed || now != text
		return now, err
	})
	return changed || err != nil
}

// statedTexts returns the texts that readers see or hear.
func (r *Record) statedTexts() (all []string) {
	copied := *r
	_ = copied.eachText(func(text string) (string, error) { // it returns no error
		all = append(all, text)
		return text, nil
	})
	return all
}

// eachText replaces the texts that readers see or hear. It changes no list or map that others may have.
func (r *Record) eachText(replace func(string) (string, error)) error {
	var found error
	change := func(text string) string {
		if text == "" || found != nil {
			return text
		}
		text, found = replace(text)
		return text
	}
	for _, one := range plainTexts {
		of := one.of(&r.Item.Texts)
		*of = resource.Text(change(string(*of)))
	}
	r.Item.Script = resource.Text(change(string(r.Item.Script)))
	r.Item.Slides = slices.Clone(r.Item.Slides)
	for i := range r.Item.Slides {
		s := &r.Item.Slides[i]
		s.Text, s.Body = change(s.Text), resource.Text(change(string(s.Body)))
	}
	r.Item.Scenes = slices.Clone(r.Item.Scenes)
	for i := range r.Item.Scenes {
		s := &r.Item.Scenes[i]
		s.Text, s.OnScreen = change(s.Text), resource.Text(change(string(s.OnScreen)))
	}
	r.Item.Variants = maps.Clone(r.Item.Variants)
	for key, v := range r.Item.Variants {
		for _, of := range []**string{&v.Title, &v.Caption} {
			if *of != nil {
				text := change(**of)
				*of = &text
			}
		}
		r.Item.Variants[key] = v
	}
	return found
}

// repricing replaces the prices of a product in texts.
type repricing struct {
	name, lang, currency string
	// prices are the amounts of now by those that texts state. An amount of -1 has none.
	prices map[int64]int64
	// percent is the percentage that texts state, and nowPercent that of now. 0: none.
	percent, nowPercent int64
	now                 *Product
}

// newRepricing returns how the prices of a product are replaced by those of now.
func newRepricing(was, now *Product, lang string) *repricing {
	p := &repricing{name: was.Name, lang: lang, currency: was.Price.Currency, prices: map[int64]int64{}, now: now}
	set := func(from, to int64) {
		if other, ok := p.prices[from]; ok && other != to {
			to = -1 // the amount has two meanings
		}
		p.prices[from] = to
	}
	old, oldBefore := was.shown()
	price, before := now.shown()
	if set(old.Amount, price.Amount); oldBefore.Amount > 0 {
		p.percent = law.Percent(oldBefore, old)
		if before.Amount > 0 {
			p.nowPercent = law.Percent(before, price)
			set(oldBefore.Amount, before.Amount)
			set(oldBefore.Amount-old.Amount, before.Amount-price.Amount)
		} else {
			set(oldBefore.Amount, -1)
			set(oldBefore.Amount-old.Amount, -1)
		}
	}
	return p
}

func (p *repricing) refusal(why string) error {
	return errs.Invalid("/reuse", "cannot replace the price of %s in the texts: %s. Correct them, or leave reuse out",
		p.name, why)
}

var percentages = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)([\s\x{a0}\x{202f}]?%)`) })

// text returns a text with the prices of now.
func (p *repricing) text(text string) (string, error) {
	stated := money.In(text)
	replaced := slices.ContainsFunc(stated, func(s money.Statement) bool {
		to, ok := p.of(s)
		return ok && to >= 0
	})
	price, _ := p.now.shown()
	for i := len(stated) - 1; i >= 0; i-- {
		s := stated[i]
		to, ok := p.of(s)
		switch {
		case !ok, !replaced && slices.Contains(s.Means(), price): // it states the price of now
			continue
		case to < 0 || p.now.Price.Currency != p.currency || s.To > len(text) || text[s.From:s.To] != s.Text:
			return text, p.refusal(fmt.Sprintf("%q has none of now", s.Text))
		}
		written := money.In(money.Price{Amount: to, Currency: p.currency}.In(p.lang))
		if len(written) != 1 {
			return text, p.refusal(fmt.Sprintf("%q has none of now", s.Text))
		}
		text = text[:s.From] + written[0].Text + text[s.To:]
	}
	if p.percent == 0 || p.percent == p.nowPercent {
		return text, nil
	}
	lost := false
	text = percentages().ReplaceAllStringFunc(text, func(part string) string {
		m := percentages().FindStringSubmatch(part)
		if m[1] != strconv.FormatInt(p.percent, 10) {
			return part
		}
		lost = lost || p.nowPercent == 0
		return strconv.FormatInt(p.nowPercent, 10) + m[2]
	})
	if lost {
		return text, p.refusal("the promotion has ended")
	}
	return text, nil
}

// of returns the amount of now that a statement becomes. It reports false if the statement is no price of the product.
func (p *repricing) of(s money.Statement) (to int64, ok bool) {
	for from, now := range p.prices {
		changed := from != now || p.now.Price.Currency != p.currency
		if changed && slices.Contains(s.Means(), money.Price{Amount: from, Currency: p.currency}) {
			return now, true
		}
	}
	return 0, false
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
