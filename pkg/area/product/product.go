package product

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
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

// StateFilter is the filter of the state.
const StateFilter = "state"

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
	// State of the product. An archived product is kept, and no new content is made of it.
	State State `json:"state" enum:"active,archived"`
	// Photos in their order. The first is the main photo.
	Photos []Photo `json:"photos" nullable:"false"`
	// Its prices of the last year, the oldest first, each from the time at which it was set. Of a day with many
	// changes, the lowest and the last price.
	PriceHistory []PriceChange `json:"price_history" nullable:"false"`
}

// StoredProduct is the stored document of a product.
type StoredProduct struct {
	Product
	Photos []StoredPhoto `json:"photos"`
	// Promotions are those that include it. Ended ones leave with the next change.
	Promotions []Included `json:"promotions,omitempty"`
	// Steered says that somebody who may not publish has changed what items about it say. Those that would be published
	// automatically wait for an approval.
	Steered bool `json:"steered,omitempty"`
	// Ended are promotions that are over. Their reduced prices count as earlier prices.
	Ended []Included `json:"ended,omitempty"`
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

// Offered reports whether an item is an active product of an owner's factory.
func Offered(it store.Item, o tenant.Owner, factoryID string) bool {
	return it.Kind == ItemKind && it.Owner == o && it.Parent.PK == Partition(o, factoryID) &&
		it.Filters[StateFilter] == string(Active)
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

// Create adds a product to the transaction.
func Create(tx *store.Tx, o tenant.Owner, r *StoredProduct) error {
	r.notePrice()
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	if err != nil {
		return err
	}
	it.Parent = store.Key{PK: Partition(o, r.FactoryID), SK: r.ID}
	it.Filters = map[string]string{StateFilter: string(r.State)}
	r.take(tx, o)
	tx.Create(it, nil)
	return nil
}

// Replace adds a changed product, which was read with the item, to the transaction. Its SKU was the given one.
func Replace(tx *store.Tx, it store.Item, r *StoredProduct, sku string) error {
	r.notePrice()
	if sku != r.SKU {
		r.take(tx, it.Owner)
		release(tx, it.Owner, r.FactoryID, sku)
	}
	it.Filters = map[string]string{StateFilter: string(r.State)}
	if err := it.Encode(r); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// Delete adds to the transaction that a product, which was read with the item, ends with its photos.
func Delete(tx *store.Tx, now time.Time, it store.Item, r *StoredProduct) error {
	tx.Delete(it)
	release(tx, it.Owner, r.FactoryID, r.SKU)
	return drop(tx, now, it.Owner, r.ID, r.Photos)
}

// View returns the product as its GET shows it, with signed URLs. Only who may change
// products is shown how to upload a photo.
func (r *StoredProduct) View(ctx context.Context, signer *media.Signer, o tenant.Owner, now time.Time,
	uploads bool) (Product, error) {
	v := r.Product
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
	for _, p := range r.Unended(now) {
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
