package product

import (
	"reflect"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

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
		if len(r.Unended(now)) >= MaxPromotions || p.Discount.Kind == Amount && p.Discount.Value > r.Price.Amount {
			return errs.Invalid("/discount/value", "is above the price of the product %s, or it has too many "+
				"promotions",
				r.ID)
		}
		p.ProductIDs = append(p.ProductIDs, r.ID)
		r.Include(&p, now)
		p.PriorPrices = append(p.PriorPrices, PriorPrice{r.ID, r.Prior(r.Promotions[len(r.Promotions)-1])})
		if err := r.checkPrior(&p); err != nil {
			return err
		}
		if err := Replace(tx, it, r, r.SKU); err != nil {
			return err
		}
	}
	it, err := p.Entry(o)
	if err == nil {
		tx.Create(it, nil)
	}
	return err
}

// Input is the type of the body of the operation that creates a product. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// PromotionInput is Input for a promotion.
var PromotionInput = reflect.TypeFor[promotionCreateBody]()
