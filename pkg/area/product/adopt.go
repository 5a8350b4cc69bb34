package product

import (
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds a product of an export to the transaction, with the photos that have one of the files, by their ids.
func Adopt(tx *store.Tx, o tenant.Owner, p Product, files map[string]media.File) error {
	r := &StoredProduct{Product: p, Photos: []StoredPhoto{}}
	for _, photo := range p.Photos {
		f, ok := files[photo.ID]
		if photo.State != incoming.Ready || !ok {
			continue
		}
		photo.ProductID, photo.URL, photo.Upload = p.ID, nil, nil
		r.Photos = append(r.Photos, StoredPhoto{Photo: photo, File: &media.File{ID: photo.ID, Type: media.Image,
			MIMEType: photo.MIMEType, Key: f.Key, Width: photo.Width, Height: photo.Height, Bytes: f.Bytes,
			SHA256: f.SHA256}})
	}
	r.Product.Photos = nil
	return Create(tx, o, r)
}

// AdoptPromotion adds a promotion of an export to the transaction, with the items of its products. Products that there
// are not leave it.
func AdoptPromotion(tx *store.Tx, now time.Time, o tenant.Owner, p Promotion, products []store.Item) error {
	p.ProductIDs = []string{}
	for _, it := range products {
		if it.Kind != ItemKind || it.Owner != o {
			continue
		}
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		p.ProductIDs = append(p.ProductIDs, r.ID)
		r.Include(&p, now)
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
