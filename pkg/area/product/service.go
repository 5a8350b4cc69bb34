// Package product holds the operations on products and their photos. Service.Register in operations.go has the
// operations on products, and Promotions those on promotions.
package product

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// Service creates, reads, changes and deletes products.
type Service struct {
	db     *store.DB
	signer *media.Signer
	urls   safehttp.Checker
	now    func() time.Time
}

// NewService makes the service.
func NewService(db *store.DB, signer *media.Signer, urls safehttp.Checker, now func() time.Time) *Service {
	return &Service{db, signer, urls, now}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, e.Client(safehttp.Options{}), e.Now).Register(r)
}

// settings are the members of a product that a caller sets.
type settings struct {
	SKU         string            `json:"sku"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Price       money.Price       `json:"price"`
	URL         string            `json:"url"`
	Attributes  resource.Metadata `json:"attributes"`
	State       State             `json:"state"`
	PhotoIDs    []string          `json:"photo_ids"`
	Metadata    resource.Metadata `json:"metadata"`
}

func settingsOf(r *StoredProduct) settings {
	s := settings{
		SKU: r.SKU, Name: r.Name, Description: string(r.Description), Price: r.Price, Attributes: r.Attributes,
		State:    r.State,
		Metadata: r.Metadata,
	}
	if r.URL != nil {
		s.URL = *r.URL
	}
	for _, p := range r.Photos {
		s.PhotoIDs = append(s.PhotoIDs, p.ID)
	}
	return s
}

// checkPrice refuses a code that is no currency.
func checkPrice(p money.Price) error {
	if !money.IsCurrency(p.Currency) {
		return errs.Invalid("/price/currency", "is not the ISO 4217 code of a currency; write it as EUR")
	}
	return nil
}

// checkURL refuses a text that is not the address of a page.
func checkURL(address string) error {
	if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || u.Scheme != "https" &&
		u.Scheme != "http") {
		return errs.Invalid("/url", "is not an http or https URL; write it as https://shop.example.com/trail-42")
	}
	return nil
}

// apply checks settings and takes them over.
func (s settings) apply(r *StoredProduct, now time.Time) error {
	found := []error{checkPrice(s.Price), checkURL(s.URL), r.CheckPrice(s.Price, now)}
	if len(s.Attributes) > resource.MaxPairs {
		found = append(found, errs.Invalid("/attributes", "must have at most %d pairs", resource.MaxPairs))
	}
	photos := make([]StoredPhoto, 0, len(r.Photos))
	for _, photoID := range s.PhotoIDs {
		if i := r.Photo(photoID); i >= 0 {
			photos = append(photos, r.Photos[i])
		}
	}
	if len(photos) != len(r.Photos) || len(s.PhotoIDs) != len(r.Photos) {
		found = append(found, errs.Invalid("/photo_ids", "must have the ids of all photos of the product, each once"))
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	r.SKU, r.Name, r.Description, r.Price, r.State = s.SKU, s.Name, resource.Text(s.Description), s.Price, s.State
	r.Attributes, r.Metadata, r.Photos = s.Attributes.OrEmpty(), s.Metadata.OrEmpty(), photos
	if r.URL = nil; s.URL != "" {
		r.URL = &s.URL
	}
	return nil
}

// find reads a product of the caller.
func (s *Service) find(ctx context.Context, productID string, match ...httpapi.IfMatch) (*StoredProduct,
	store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.Product, ItemKind, productID)
	if err != nil {
		return nil, it, err
	}
	r, err := Decode(&it)
	if err != nil {
		return nil, it, err
	}
	return r, it, httpapi.Matches(r.Version, match)
}

// view returns a product as the caller sees it. The result of a change shows nothing that the caller may not read.
func (s *Service) view(ctx context.Context, r *StoredProduct) (Product, error) {
	p := auth.FromContext(ctx)
	v, err := r.View(ctx, s.signer, p.Owner, s.now(), p.Has(auth.ProductsWrite))
	if !p.Has(auth.ProductsRead) {
		for i := range v.Photos {
			v.Photos[i].URL = nil
		}
	}
	return v, err
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Product, err error) {
	b, now := in.Body, s.now()
	if err := b.Rules(); err != nil {
		return out, err
	}
	it, err := resource.Find(ctx, s.db, id.Factory, factoryrecord.Kind, b.FactoryID)
	if err != nil || !factoryrecord.Usable(it, it.Owner) {
		return out, factoryrecord.RefError(err, b.FactoryID)
	}
	if err := factoryrecord.CheckSeller(it, "products"); err != nil {
		return out, err
	}
	r := &StoredProduct{Product: Product{Resource: resource.New(id.New(id.Product, now), now, nil),
		FactoryID: b.FactoryID}, Steered: steers(ctx)}
	err = settings{SKU: b.SKU, Name: b.Name, Description: b.Description, Price: b.Price, URL: b.URL,
		Attributes: b.Attributes, State: Active, Metadata: b.Metadata}.apply(r, now)
	if err != nil {
		return out, err
	}
	if err := Create(tx, it.Owner, r); err != nil {
		return out, err
	}
	return s.view(ctx, r)
}

func (s *Service) get(ctx context.Context, in *Path) (out Product, err error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	return s.view(ctx, r)
}

func (s *Service) list(ctx context.Context, in *listInput) (page httpapi.Page[Product], err error) {
	o := auth.FromContext(ctx).Owner
	if in.SKU != "" {
		return s.bySKU(ctx, in)
	}
	q, err := httpapi.Owned(ctx, ItemKind, id.Product, in.Period,
		in.Filter.Into(map[string]string{StateFilter: httpapi.AnyOf(in.State)}))
	if err != nil {
		return page, err
	}
	if in.FactoryID != "" {
		q.Index, q.Partition = store.ByParent, Partition(o, in.FactoryID)
	}
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (out Product, err error) {
		r, err := Decode(&it)
		if err != nil {
			return out, err
		}
		return s.view(ctx, r)
	})
}

// bySKU returns the one product of a factory that has a SKU, if there is one and the other filters pass it.
func (s *Service) bySKU(ctx context.Context, in *listInput) (page httpapi.Page[Product], err error) {
	if in.FactoryID == "" {
		return page, errs.Invalid("sku", "needs factory_id, as a SKU is unique in its factory only")
	}
	if in.Cursor != "" {
		return httpapi.Slice(ctx, []Product{}, nil, in.SliceInput, func(p Product) string { return p.ID })
	}
	held, err := s.db.Lookup(ctx, SKUKey(auth.FromContext(ctx).Owner, in.FactoryID, in.SKU))
	if err != nil || held.Kind == "" {
		return page, err
	}
	r, _, err := s.find(ctx, HolderOf(held))
	if errs.CodeOf(err) == errs.NotFound {
		return page, nil // it was deleted in between
	}
	if err != nil || len(in.State) > 0 && !slices.Contains(in.State, string(r.State)) ||
		!in.Period.Contains(r.CreatedAt.Time) {
		return page, err
	}
	v, err := s.view(ctx, r)
	page.Items = []Product{v}
	return page, err
}

// steers reports whether a change by the caller has the next items about a product wait for an approval.
func steers(ctx context.Context) bool { return !auth.FromContext(ctx).Has(auth.ContentPublish) }

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out Product, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, settingsOf(r))
	if err != nil {
		return out, err
	}
	now, sku, before := s.now(), r.SKU, settingsOf(r)
	clock, err := testclock.Now(ctx, s.db, it.Owner, now)
	if err != nil {
		return out, err
	}
	if err := set.apply(r, clock); err != nil {
		return out, err
	}
	after := settingsOf(r)
	before.SKU, before.State, before.Metadata = after.SKU, after.State, after.Metadata // which no item tells
	if !reflect.DeepEqual(before, after) || !steers(ctx) {
		r.Steered = steers(ctx)
	}
	r.Touch(now)
	if err := Replace(tx, it, r, sku); err != nil {
		return out, err
	}
	return s.view(ctx, r)
}

// remove deletes a product. The answer shows its last state, without URLs.
func (s *Service) remove(ctx context.Context, tx *store.Tx, in *deleteInput) (out Product, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	now := s.now()
	clock, err := testclock.Now(ctx, s.db, it.Owner, now)
	if err != nil {
		return out, err
	}
	for _, p := range r.Unended(clock) {
		return out, errs.New(errs.InvalidState, "The promotion %s includes the product and is %s. End the promotion "+
			"first, or take the product from it.", p.ID, p.State(clock)).In(string(r.State), "update")
	}
	if err := Delete(tx, now, it, r); err != nil {
		return out, err
	}
	r.Touch(now)
	out = r.Product
	out.Photos = make([]Photo, len(r.Photos))
	for i, p := range r.Photos {
		out.Photos[i] = p.Photo
	}
	return out, nil
}

// addPhoto adds a photo to a product.
func (s *Service) addPhoto(ctx context.Context, tx *store.Tx, in *photoInput) (out Photo, err error) {
	b := in.Body
	if err := b.Rules(); err != nil {
		return out, err
	}
	m := incoming.Member{Param: "/media_id", Value: b.MediaID, Type: media.Image}
	if b.MediaID != "" && !m.IsID() {
		return out, errs.MissingAt(m.Param, "media", m.Value)
	}
	if !id.Valid(id.Product, in.ID) {
		return out, errs.Missing(ItemKind, in.ID)
	}
	given, err := incoming.Read(ctx, s.db, []incoming.Member{m}, store.IDKey(in.ID))
	if err != nil {
		return out, err
	}
	p, it, now := auth.FromContext(ctx), given.Beside[0], s.now()
	if it.Kind != ItemKind || !p.Owner.Sees(it.Owner) {
		return out, errs.Missing(ItemKind, in.ID)
	}
	r, err := Decode(&it)
	if err != nil {
		return out, err
	}
	if len(r.Photos) >= MaxPhotos {
		return out, errs.New(errs.InvalidState, "The product already has %d photos, which is the maximum. Delete one "+
			"first.", MaxPhotos).In(string(r.State), "delete_photo")
	}
	if b.SourceURL != "" { // checked only after the product was found: the check looks its name up
		if err := s.urls.CheckURL(ctx, b.SourceURL); err != nil {
			return out, safehttp.InvalidURL(err, "/source_url")
		}
	}
	var key string
	if b.MediaID != "" {
		f, err := given.For(it.Owner).File(m)
		if err != nil {
			return out, err
		}
		key = f.Key
		if err := given.Use(tx, now); err != nil {
			return out, err
		}
	}
	photo := NewPhoto(r.ID, now, incoming.Declared{MIMEType: b.MIMEType, Bytes: b.Bytes, SHA256: b.SHA256},
		b.SourceURL, key)
	if err := photo.Await(tx, now, it.Owner); err != nil {
		return out, err
	}
	at := len(r.Photos)
	if b.Position > 0 {
		at = min(at, b.Position-1)
	}
	r.Photos = slices.Insert(r.Photos, at, photo)
	r.Steered = r.Steered || steers(ctx)
	r.Touch(now)
	if err := Replace(tx, it, r, r.SKU); err != nil {
		return out, err
	}
	return photo.View(ctx, s.signer, p.Owner, now, true)
}

// removePhoto takes a photo from a product. The answer shows its last state, without URLs.
func (s *Service) removePhoto(ctx context.Context, tx *store.Tx, in *removePhotoInput) (out Photo, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	i := r.Photo(in.PhotoID)
	if i < 0 {
		return out, errs.New(errs.NotFound, "The product has no photo with this id. GET shows its photos.")
	}
	now := s.now()
	out = r.Photos[i].Photo
	if err := r.Remove(tx, now, it.Owner, i); err != nil {
		return out, err
	}
	r.Steered = r.Steered || steers(ctx)
	r.Touch(now)
	return out, Replace(tx, it, r, r.SKU)
}
