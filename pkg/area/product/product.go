package product

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ItemKind is the kind of a product in the table.
const ItemKind = "product"

// State is the state of a product.
type State string

// The states of a product.
const (
	Active   State = "active"
	Archived State = "archived"
)

// Availability says whether a product can be bought.
type Availability string

// The kinds of availability.
const (
	InStock    Availability = "in_stock"
	OutOfStock Availability = "out_of_stock"
	Preorder   Availability = "preorder"
	Backorder  Availability = "backorder"
)

// MaxPhotos is the greatest number of photos of a product.
const MaxPhotos = 10

// MaxPromotions is the greatest number of promotions of a product that are scheduled or active.
const MaxPromotions = 20

// Product is a product as callers see it.
type Product struct {
	resource.Resource
	// Factory of type seller that it belongs to.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Your own number of the product, unique in its factory.
	SKU string `json:"sku" example:"TRAIL-42"`
	// Name of the product.
	Name string `json:"name" example:"Trail running shoe"`
	// What the product is.
	Description resource.Text `json:"description"`
	// Price of the product.
	Price money.Price `json:"price"`
	// Page where it is sold. Null if there is none.
	URL *string `json:"url" format:"uri"`
	// Properties such as size and color.
	Attributes map[string]string `json:"attributes"`
	// Whether it can be bought, as Google's product data specification names it.
	Availability Availability `json:"availability" enum:"in_stock,out_of_stock,preorder,backorder"`
	// State of the product. An archived product is kept, and no new content is made of it.
	State State `json:"state" filter:"state" enum:"active,archived"`
	// Whether it follows the feed of its factory. What you change of it stays until its row changes.
	InFeed bool `json:"in_feed"`
	// Photos in their order. The first is the main photo.
	Photos []Photo `json:"photos" nullable:"false"`
	// Its prices of the last year, the oldest first, each from the time at which it was set. Of a day with many
	// changes, the lowest and the last price.
	PriceHistory []PriceChange `json:"price_history" nullable:"false"`
	// What the feed of its factory has changed: the last 20 changes, the newest first. Empty in lists.
	FeedChanges []FeedChange `json:"feed_changes" nullable:"false"`
}

// StoredProduct is the stored document of a product.
type StoredProduct struct {
	Product
	Photos []StoredPhoto `json:"photos"`
	// Promotions are those that include it. Ended ones leave with the next change.
	Promotions []ProductPromotion `json:"promotions,omitempty"`
	// Steered reports that a caller without content:publish has changed what items about it say. Those that would be
	// published automatically wait for an approval.
	Steered bool `json:"steered,omitempty"`
	// EndedPromotions are promotions that are over. Their reduced prices count as earlier prices.
	EndedPromotions []ProductPromotion `json:"ended,omitempty"`
	// Feed is what a product keeps of the row of its feed. Nil: it is not in a feed.
	Feed *FeedRow `json:"feed,omitempty"`
}

// Decode reads the record of an item.
func Decode(it *store.Item) (*StoredProduct, error) {
	var r StoredProduct
	return &r, it.Decode(&r)
}

// Partition is the partition of ByParent that lists the products of a factory.
func Partition(o tenant.Owner, factoryID string) string {
	return o.String() + "#" + ItemKind + "#" + factoryID
}

// IsOffered reports whether an item is an active product of an owner's factory.
func IsOffered(it store.Item, o tenant.Owner, factoryID string) bool {
	return it.Kind == ItemKind && it.Owner == o && it.Parent.PK == Partition(o, factoryID) &&
		it.Filters["state"] == string(Active)
}

// SKUKey is the key of the item that holds which product of a factory has a SKU.
func SKUKey(o tenant.Owner, factoryID, sku string) store.Key {
	return store.IDKey("sku#" + o.String() + "#" + factoryID + "#" + sku)
}

// skuKind is the kind of the item of a SKU, and skuProduct its text with the product's id.
const (
	skuKind    = "sku"
	skuProduct = "product"
)

// HolderOf returns the id of the product that has the SKU of an item.
func HolderOf(it store.Item) string { return it.Attributes[skuProduct] }

// take adds to the transaction that the product has its SKU. The commit fails with duplicate if another product has it.
func (r *StoredProduct) take(tx *store.Tx, o tenant.Owner) {
	e := errs.New(errs.Duplicate, "The factory already has a product with the SKU %q. Change that product, or send "+
		"another SKU.", r.SKU)
	e.Param = "/sku"
	tx.Create(store.Item{
		Key: SKUKey(o, r.FactoryID, r.SKU), Kind: skuKind, Owner: o, Doc: []byte("{}"),
		Attributes: map[string]string{skuProduct: r.ID},
	}, e)
}

// release adds to the transaction that a SKU is free. Its item is never changed: it has
// the version that it was created with.
func release(tx *store.Tx, o tenant.Owner, factoryID, sku string) {
	tx.Delete(store.Item{Key: SKUKey(o, factoryID, sku), Version: 1})
}

// rename adds to the transaction that a product has its SKU in the place of the one that it had.
func (r *StoredProduct) rename(tx *store.Tx, o tenant.Owner, was string) {
	if was != r.SKU {
		r.take(tx, o)
		release(tx, o, r.FactoryID, was)
	}
}

// place notes the price of a product, and lists it with its factory.
func place(it *store.Item, r *StoredProduct) {
	r.notePrice()
	r.Availability = cmp.Or(r.Availability, InStock)
	it.Parent = store.Key{PK: Partition(it.Owner, r.FactoryID), SK: r.ID}
	r.placeFeed(it)
}

// Create adds a product to the transaction.
func Create(tx *store.Tx, o tenant.Owner, r *StoredProduct) error {
	r.take(tx, o)
	_, err := products.Add(tx, r.CreatedAt.Time, o, r)
	return err
}

// Replace adds a changed product, which was read with the item, to the transaction. Its SKU was the given one.
func Replace(tx *store.Tx, it store.Item, r *StoredProduct, sku string) error {
	r.rename(tx, it.Owner, sku)
	place(&it, r)
	return tx.Rewrite(it, r)
}

// Delete adds to the transaction that a product, which was read with the item, ends with its photos.
func Delete(tx *store.Tx, now time.Time, it store.Item, r *StoredProduct) error {
	tx.Delete(it)
	return r.clear(tx, now, it.Owner)
}

// clear adds to the transaction that a SKU is free, and that the photos end.
func (r *StoredProduct) clear(tx *store.Tx, now time.Time, o tenant.Owner) error {
	release(tx, o, r.FactoryID, r.SKU)
	return drop(tx, now, o, r.ID, r.Photos)
}

// View returns the product as its GET shows it, with signed URLs. Only who may change
// products is shown how to upload a photo.
func (r *StoredProduct) View(ctx context.Context, signer *media.Signer, o tenant.Owner, now time.Time,
	uploads bool) (Product, error) {
	v := r.Product
	v.FeedChanges = r.feedChanges()
	v.Photos = make([]Photo, len(r.Photos))
	for i := range r.Photos {
		var err error
		if v.Photos[i], err = r.Photos[i].View(ctx, signer, o, now, uploads); err != nil {
			return Product{}, err
		}
	}
	return v, nil
}

// Photo returns the index of the product's photo with the id, or -1 if there is none.
func (r *StoredProduct) Photo(photoID string) int {
	return slices.IndexFunc(r.Photos, func(p StoredPhoto) bool { return p.ID == photoID })
}

// CheckPrice refuses a price that a promotion would take more from than there is.
func (r *StoredProduct) CheckPrice(price money.Price, now time.Time) error {
	for _, p := range r.OpenPromotions(now) {
		switch {
		case p.Discount.Kind != Amount:
		case price.Currency != r.Price.Currency:
			return errs.Invalid("/price/currency", "cannot change before the promotion %s has ended, whose discount "+
				"is an amount", p.ID)
		case price.Amount < p.Discount.Value:
			return errs.Invalid("/price/amount", "is below the discount of %d of the promotion %s. End the promotion "+
				"first", p.Discount.Value, p.ID)
		}
	}
	return nil
}

// Adopt adds a product of an export to the transaction, with the photos that have one of the files, by their ids.
func Adopt(tx *store.Tx, o tenant.Owner, p Product, files map[string]media.File) error {
	if len(p.Photos) > MaxPhotos {
		return errs.Invalid("/photos", "may be %d at most", MaxPhotos)
	}
	r := &StoredProduct{Product: p, Photos: []StoredPhoto{}}
	for _, photo := range p.Photos {
		f, ok := files[photo.ID]
		if !ok || f.Type != media.Image || r.Photo(photo.ID) >= 0 {
			continue
		}
		photo.ProductID, photo.URL, photo.State, f.ID = p.ID, nil, incoming.Ready, photo.ID
		photo.MIMEType, photo.Bytes, photo.Width, photo.Height = f.MIMEType, f.Bytes, f.Width, f.Height
		r.Photos = append(r.Photos, StoredPhoto{Photo: photo, File: &f})
	}
	r.Product.Photos = nil
	if p.InFeed {
		r.Feed = &FeedRow{} // the next run compares all of its row
	}
	return Create(tx, o, r)
}

// AdoptPromotion adds a promotion of an export to the transaction, with the items of its products. Products that there
// are not leave it.
func AdoptPromotion(tx *store.Tx, now time.Time, o tenant.Owner, p Promotion, products []store.Item) error {
	p.ProductIDs, p.PriorPrices = []string{}, []PriorPrice{}
	for _, it := range products {
		if it.Kind != ItemKind || it.Owner != o {
			continue
		}
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		if len(r.OpenPromotions(now)) >= MaxPromotions || p.Discount.Kind == Amount &&
			p.Discount.Value > r.Price.Amount {
			return errs.Invalid("/discount/value", "is above the price of the product %s, or it has too many "+
				"promotions", r.ID)
		}
		p.ProductIDs = append(p.ProductIDs, r.ID)
		if p.FromFeed && r.Feed != nil {
			r.Feed.PromotionID = p.ID
		}
		r.Include(&p, now)
		p.PriorPrices = append(p.PriorPrices, PriorPrice{r.ID, r.Prior(r.Promotions[len(r.Promotions)-1])})
		if err := r.checkPrior(&p); err != nil {
			return err
		}
		if err := Replace(tx, it, r, r.SKU); err != nil {
			return err
		}
	}
	_, err := promotions.Add(tx, now, o, &p)
	return err
}

// Input is the type of the body of the operation that creates a product. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// PromotionInput is Input for a promotion.
var PromotionInput = reflect.TypeFor[promotionCreateBody]()

// cleanAtOnce is the number of products or promotions that one call of Clean removes.
const cleanAtOnce = 25

// Cleaner removes the products and promotions of a factory that was deleted.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean removes some promotions or, where there are none, some products, and reports whether there may be more.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	for _, partition := range []string{PromotionPartition(o, factoryID), Partition(o, factoryID)} {
		q := store.Query{Index: store.ByParent, Partition: partition, Limit: cleanAtOnce, OldestFirst: true}
		more, err := c.DB.ChangeSome(ctx, q,
			func(tx *store.Tx, it store.Item) error { return Discard(tx, c.Now(), it) })
		if more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// Discard adds to the transaction that a product or promotion ends, whatever refers to it.
func Discard(tx *store.Tx, now time.Time, it store.Item) error {
	if it.Kind == PromotionKind {
		tx.Delete(it)
		return nil
	}
	r, err := Decode(&it)
	if err != nil {
		return err
	}
	return Delete(tx, now, it, r)
}

// The bounds of the history of a product. A prior price needs the 30 days before a promotion began.
const (
	keepPrices = 365 * 24 * time.Hour
	keepEnded  = 120 * 24 * time.Hour
	// manyPrices is the number of prices above which only the lowest and the last of each day are kept.
	manyPrices = 100
	// mostEnded bounds the ended promotions that are remembered.
	mostEnded = 60
)

// PriceChange is a price of a product since a time.
type PriceChange struct {
	// Time since which the product has, or had, the price.
	At resource.Time `json:"at"`
	// The price that it has, or had.
	Price money.Price `json:"price"`
}

// notePrice notes the price of the product since its last change, unless it had it before.
func (r *StoredProduct) notePrice() {
	all := r.PriceHistory
	if n := len(all); n == 0 || all[n-1].Price != r.Price {
		all = append(all, PriceChange{r.UpdatedAt, r.Price})
	}
	from, first := r.UpdatedAt.Add(-keepPrices), 0
	for first+1 < len(all) && !all[first+1].At.After(from) {
		first++ // its price was no more in force by then
	}
	if all = all[first:]; len(all) > manyPrices {
		all = thinHistory(all)
	}
	r.PriceHistory = all
}

// thinHistory returns the lowest and the last price of each day (UTC).
func thinHistory(all []PriceChange) (kept []PriceChange) {
	for len(all) > 0 {
		day, n, low := all[0].At.UTC().Format(time.DateOnly), 0, 0
		for n < len(all) && all[n].At.UTC().Format(time.DateOnly) == day {
			if all[n].Price.Currency != all[low].Price.Currency || all[n].Price.Amount < all[low].Price.Amount {
				low = n
			}
			n++
		}
		if kept = append(kept, all[low]); low < n-1 {
			kept = append(kept, all[n-1])
		}
		all = all[n:]
	}
	return kept
}

// The reasons for another prior price than the lowest of 30 days (Directive 98/6/EC, Article 6a(3) to (5)).
const (
	Progressive = "progressive_reduction"
	Perishable  = "perishable"
	NewProduct  = "new_product"
)

// PriorException is the reason for another prior price.
type PriorException struct {
	// progressive_reduction: the reduction was raised without an interruption, and the prior price is that before the
	// first one. perishable: goods that deteriorate or expire soon; new_product: on the market for less than 30 days.
	// Of these, the prior price is that just before the promotion.
	Reason string `json:"reason" enum:"progressive_reduction,perishable,new_product"`
}

// PriorPrice is the prior price of a product in a promotion.
type PriorPrice struct {
	// Product.
	ProductID string `json:"product_id"`
	// Its prior price in the promotion.
	Price money.Price `json:"price"`
}

// promotions returns the promotions of the history and those that have not ended.
func (r *StoredProduct) promotions() []ProductPromotion {
	return slices.Concat(r.EndedPromotions, r.Promotions)
}

// steps returns the prices at which the product was sold and will be, without one of its promotions.
func (r *StoredProduct) steps(without string) []law.Step {
	others := slices.DeleteFunc(r.promotions(), func(i ProductPromotion) bool { return i.ID == without && !i.Over })
	var times []time.Time
	for _, c := range r.PriceHistory {
		times = append(times, c.At.Time)
	}
	for _, p := range others {
		times = append(times, p.StartsAt.Time, p.EndsAt.Time)
	}
	slices.SortFunc(times, time.Time.Compare)
	var steps []law.Step
	for _, at := range slices.CompactFunc(times, time.Time.Equal) {
		var price money.Price
		for _, c := range r.PriceHistory {
			if !c.At.After(at) {
				price = c.Price
			}
		}
		if price.Currency == "" {
			continue // no price of it is known at that time
		}
		lowest := price
		for _, p := range others {
			if p.State(at) == Running {
				lowest.Amount = min(lowest.Amount, p.Discount.Of(price).Amount)
			}
		}
		steps = append(steps, law.Step{At: at, Price: lowest})
	}
	return steps
}

// Prior returns the prior price of a promotion of the product: the lowest of the 30 days before it began, unless it
// states an exception. If no earlier price is known, it is the present one.
func (r *StoredProduct) Prior(p ProductPromotion) money.Price {
	began, steps := p.StartsAt.Time, r.steps(p.ID)
	var price money.Price
	ok := false
	switch p.Exception {
	case Perishable, NewProduct:
		price, ok = law.InForce(steps, began)
	case Progressive:
		for again := true; again; {
			again = false
			for _, other := range r.promotions() {
				if other.ID != p.ID && other.StartsAt.Before(began) && !other.EndsAt.Before(began) {
					began, again = other.StartsAt.Time, true
				}
			}
		}
		price, ok = law.Prior(steps, began)
	default:
		price, ok = law.Prior(steps, began)
	}
	if !ok || price.Currency != r.Price.Currency {
		return r.Price
	}
	return price
}

// Reduction returns what a promotion of the product announces, for the rules of law.
func (r *StoredProduct) Reduction(p ProductPromotion) *law.Reduction {
	n := &law.Reduction{Now: p.Discount.Of(r.Price), Prior: r.Prior(p), Param: "/discount/value",
		StruckParam: "/prior_price", Of: r.Name}
	if p.Discount.Kind == Percent {
		n.Percent = p.Discount.Value
	}
	if p.PriorPrice != nil {
		n.Struck = *p.PriorPrice
	}
	return n
}

// Was returns the prior price that content shows of a promotion in a region: that of its caller, or else the lawful one
// in the European Union, or else the present one.
func (r *StoredProduct) Was(p ProductPromotion, region string) money.Price {
	switch {
	case p.PriorPrice != nil:
		return *p.PriorPrice
	case law.InEU(region):
		return r.Prior(p)
	}
	return r.Price
}

// checkPrior refuses a stated prior price and an exception that the promotion of a product cannot have.
func (r *StoredProduct) checkPrior(p *Promotion) error {
	var found []error
	if p.PriorPrice != nil && p.PriorPrice.Currency != r.Price.Currency {
		found = append(found, errs.Invalid("/prior_price/currency", "must be %s, as the price of the product %s",
			r.Price.Currency, r.ID))
	}
	if e := p.Exception; e != nil && e.Reason == NewProduct && len(r.PriceHistory) > 0 &&
		p.StartsAt.Sub(r.PriceHistory[0].At.Time) >= law.Window {
		found = append(found, errs.Invalid("/prior_price_exception/reason", "is for products that are on the market "+
			"for less than 30 days, and the product %s has had a price since %s", r.ID,
			r.PriceHistory[0].At.UTC().Format(time.DateOnly)))
	}
	return errs.All(found...)
}

// end notes that a promotion of the product is over, so that its reduced price counts as an earlier price.
func (r *StoredProduct) end(p ProductPromotion, now time.Time) {
	if p.State(now) == Scheduled {
		return
	}
	if p.EndsAt.After(now) {
		p.EndsAt = resource.Instant(now)
	}
	p.Over = true
	r.EndedPromotions = slices.DeleteFunc(append(r.EndedPromotions, p),
		func(i ProductPromotion) bool { return now.Sub(i.EndsAt.Time) > keepEnded })
	if surplus := len(r.EndedPromotions) - mostEnded; surplus > 0 {
		slices.SortStableFunc(r.EndedPromotions, func(a, b ProductPromotion) int {
			return cmp.Compare(a.EndsAt.Unix(),
				b.EndsAt.Unix())
		})
		r.EndedPromotions = r.EndedPromotions[surplus:]
	}
}

// Photo is a photo of a product as callers see it.
type Photo struct {
	// Unique id (TypeID).
	ID string `json:"id" example:"pho_01h455vb4pex5vsknk084sn02q"`
	// Product that it shows.
	ProductID string `json:"product_id" example:"prd_01h455vb4pex5vsknk084sn02q"`
	// Time when it was added, UTC.
	CreatedAt resource.Time `json:"created_at"`
	// State of the photo. Only ready photos are used.
	State incoming.State `json:"state" enum:"pending,ready,rejected"`
	// Why it was rejected. Null otherwise.
	Reason *incoming.Reason `json:"reason"`
	// Where the service fetches it. Null otherwise.
	SourceURL *string `json:"source_url" format:"uri"`
	// MIME type: as declared, and once ready as found.
	MIMEType string `json:"mime_type,omitempty" example:"image/jpeg"`
	// Size in bytes: as declared, and once ready that of the file at url.
	Bytes int64 `json:"bytes,omitempty" example:"482113"`
	// In pixels, upright; once ready.
	Width int `json:"width,omitempty" example:"1600"`
	// In pixels, upright; once ready.
	Height int `json:"height,omitempty" example:"1200"`
	// The request that uploads the file, while it is pending and may be uploaded; only for keys with the scope
	// products:write. Each GET of the product signs it anew.
	Upload *incoming.Upload `json:"upload"`
	// Signed URL of the file, valid for one hour. Null until ready, and in responses to a key without the scope
	// products:read.
	URL *string `json:"url" format:"uri"`
}

// StoredPhoto is a photo as its product keeps it.
type StoredPhoto struct {
	Photo
	Declared incoming.Declared `json:"declared"`
	// Key is the object of the media that it is copied from, if it is.
	Key string `json:"key,omitempty"`
	// File is the stored file, once ready.
	File *media.File `json:"file,omitempty"`
}

// NewPhoto returns a pending photo of a product.
func NewPhoto(productID string, now time.Time, d incoming.Declared, sourceURL, key string) StoredPhoto {
	d.Type = media.Image
	p := StoredPhoto{Declared: d, Key: key, Photo: Photo{
		ID: id.New(id.Photo, now), ProductID: productID, CreatedAt: resource.Instant(now), State: incoming.Pending,
		MIMEType: d.MIMEType, Bytes: d.Bytes,
	}}
	if sourceURL != "" {
		p.SourceURL = &sourceURL
	}
	return p
}

// uploaded reports whether its caller uploads the photo.
func (p *StoredPhoto) uploaded() bool { return p.SourceURL == nil && p.Key == "" }

// FileSource returns the source of the photo's file.
func (p *StoredPhoto) FileSource() incoming.FileSource {
	b := incoming.FileSource{Declared: p.Declared, Key: p.Key, Arrival: p.CreatedAt.Add(incoming.ArrivalTime)}
	if p.SourceURL != nil {
		b.SourceURL = *p.SourceURL
	}
	return b
}

// Await adds the task of a new photo to the transaction. The commit fails with queue_full
// if too many files are pending.
func (p *StoredPhoto) Await(tx *store.Tx, now time.Time, o tenant.Owner) error {
	incoming.Await(tx, o)
	t := p.task(o, 1)
	if p.uploaded() {
		t.DueAt = p.FileSource().Arrival
	}
	return task.Create(tx, now, t, incoming.Progress{Of: p.ProductID})
}

func (p *StoredPhoto) task(o tenant.Owner, attempt int) task.Task {
	return task.Task{Message: task.Message{
		ID: task.ID(incoming.Photo, p.ID, attempt), Kind: incoming.Photo, Queue: topology.ImportMedia,
		Subject: p.ID, Owner: o,
	}}
}

// Settle adds to the transaction how the photo ends: ready with a file, or rejected for a
// reason. The caller writes its product.
func (p *StoredPhoto) Settle(tx *store.Tx, o tenant.Owner, file *media.File, why *incoming.Reason) {
	if p.File, p.Reason, p.State = file, why, incoming.Rejected; file != nil {
		p.State = incoming.Ready
		p.MIMEType, p.Bytes, p.Width, p.Height = file.MIMEType, file.Bytes, file.Width, file.Height
	}
	incoming.Settled(tx, o, 1)
}

// drop adds the consequences of the end of photos to the transaction. The tasks of pending ones find them gone. The
// files of ready ones are removed after a day, since work that was accepted before still uses them.
func drop(tx *store.Tx, now time.Time, o tenant.Owner, productID string, photos []StoredPhoto) error {
	pending := int64(0)
	for _, p := range photos {
		switch p.State {
		case incoming.Pending:
			pending++
		case incoming.Ready:
			t := p.task(o, 2)
			t.DueAt = now.Add(incoming.KeepTime)
			if err := task.Create(tx, now, t, incoming.Progress{Of: productID}); err != nil {
				return err
			}
		}
	}
	if pending > 0 {
		incoming.Settled(tx, o, pending)
	}
	return nil
}

// Remove takes a photo, by its index, from the product, and adds the consequences to the transaction.
func (r *StoredProduct) Remove(tx *store.Tx, now time.Time, o tenant.Owner, i int) error {
	p := r.Photos[i]
	r.Photos = append(r.Photos[:i:i], r.Photos[i+1:]...)
	return drop(tx, now, o, r.ID, []StoredPhoto{p})
}

// View returns the photo as callers see it, with signed URLs.
func (p *StoredPhoto) View(ctx context.Context, signer *media.Signer, o tenant.Owner, now time.Time,
	uploads bool) (v Photo, err error) {
	v = p.Photo
	switch {
	case p.State == incoming.Ready:
		var url string
		url, err = signer.URL(ctx, p.File.Key, p.File.MIMEType)
		v.URL = &url
	case p.State == incoming.Pending && p.uploaded() && uploads:
		v.Upload, err = incoming.Sign(ctx, signer, o, p.ID, p.Declared, now, p.CreatedAt.Add(incoming.UploadTime))
	}
	return v, err
}

// PhotoWorker takes the photos that callers bring in.
type PhotoWorker struct{ Files *incoming.Importer }

// Import inspects the file of a photo, and then removes the upload. A second task removes the file of a deleted photo.
func (w *PhotoWorker) Import(ctx context.Context, s *task.Run) error {
	_, r, i, err := w.read(ctx, s)
	switch {
	case err != nil:
		return task.Again(err)
	case r == nil:
		return w.Files.Removed(ctx, s)
	case r.Photos[i].State != incoming.Pending:
		return task.Again(w.Files.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)))
	}
	file, why, err := w.Files.Look(ctx, s, r.Photos[i].FileSource())
	if err != nil {
		return err
	}
	s.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, i, err := w.read(ctx, s)
		if err != nil || r == nil || r.Photos[i].State != incoming.Pending {
			return cmp.Or(err, task.ErrMoved)
		}
		if file != nil {
			file.Inspection = nil // products need not keep it
		}
		r.Photos[i].Settle(tx, it.Owner, file, why)
		r.Touch(w.Files.Now())
		return Replace(tx, it, r, r.SKU)
	})
	return s.Sleep(0)
}

// read reads the product of a photo, and the photo's index. It returns nil if either was deleted.
func (w *PhotoWorker) read(ctx context.Context, s *task.Run) (it store.Item, r *StoredProduct, i int, err error) {
	var p incoming.Progress
	if err = s.Decode(&p); err == nil {
		it, err = w.Files.DB.Lookup(ctx, store.IDKey(p.Of))
	}
	if err != nil || it.Kind == "" {
		return it, nil, 0, err
	}
	if r, err = Decode(&it); err != nil {
		return it, nil, 0, err
	}
	if i = r.Photo(s.Subject); i < 0 {
		return it, nil, 0, nil
	}
	return it, r, i, nil
}
