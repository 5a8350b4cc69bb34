// Package product holds the operations on products and their photos. Service.Register in operations.go has the
// operations on products, and Promotions those on promotions.
package product

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
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

var _ = format.Define("sku", format.Format{Pattern: `^[^\x00-\x20\x7F]([^\x00-\x1F\x7F]*[^\x00-\x20\x7F])?$`,
	Shortest: 1, Longest: 64, Wanted: "free of control characters, and of spaces at its ends"})

type createBody struct {
	// Factory of type seller that the product belongs to. It cannot be changed.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Your own number of the product, unique in its factory.
	SKU string `json:"sku" format:"sku" example:"TRAIL-42"`
	// Name of the product.
	Name string `json:"name" format:"line-not-blank" minLength:"1" maxLength:"200" example:"Trail running shoe"`
	// What the product is.
	Description string `json:"description,omitempty" maxLength:"5000" example:"Made of recycled nets, for wet rock"`
	// Price of the product.
	Price money.Price `json:"price"`
	// Page where it is sold.
	URL string `json:"url,omitempty" maxLength:"2048" example:"https://shop.example.com/trail-42"`
	// Up to 20 properties such as size and color.
	Attributes resource.Metadata `json:"attributes,omitempty" example:"{\"color\":\"red\"}"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b createBody) Rules() error {
	var price error
	if b.Price.Currency != "" {
		price = checkPrice(b.Price)
	}
	return errs.All(price, checkURL(b.URL))
}

type pricePatch struct {
	// In the smallest unit of the currency.
	Amount int64 `json:"amount,omitempty" format:"credits" example:"9900"`
	// ISO 4217 code of the currency.
	Currency string `json:"currency,omitempty" format:"currency" example:"EUR"`
}

type patchBody struct {
	// Your own number of the product, unique in its factory.
	SKU string `json:"sku,omitempty" format:"sku"`
	// Name of the product.
	Name string `json:"name,omitempty" format:"line-not-blank" minLength:"1" maxLength:"200"`
	// What the product is.
	Description *string `json:"description,omitempty" maxLength:"5000" nullable:"true"`
	// Price of the product. It cannot go below the discount of a promotion that has not ended.
	Price *pricePatch `json:"price,omitempty"`
	// Page where it is sold.
	URL *string `json:"url,omitempty" maxLength:"2048" nullable:"true"`
	// Properties to set. A null value removes that property; null removes all.
	Attributes resource.MetadataPatch `json:"attributes,omitempty" nullable:"true" example:"{\"color\":\"red\"}"`
	// An archived product is kept, and no new content is made of it.
	State State `json:"state,omitempty" enum:"active,archived"`
	// Ids of all its photos in their new order. The first is the main photo.
	PhotoIDs []string `json:"photo_ids,omitempty" maxItems:"10" uniqueItems:"true" nullable:"false"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

var _ = format.Define("picture-type", format.Format{
	Values: format.Words("image/jpeg image/png image/webp image/heic image/heif image/avif")})

type photoBody struct {
	// MIME type. Required for an upload. The file must be what it says.
	MIMEType string `json:"mime_type,omitempty" format:"picture-type" example:"image/jpeg"`
	// Size in bytes. Required for an upload.
	Bytes int64 `json:"bytes,omitempty" minimum:"1" maximum:"20971520" example:"482113"`
	// SHA-256 of the file in hexadecimal. Required for an upload.
	SHA256 string `json:"sha256,omitempty" format:"sha256"`
	// Public https URL of a file that the service fetches.
	SourceURL string `json:"source_url,omitempty" maxLength:"2048" example:"https://www.example.com/shoe.jpg"`
	// Id of a ready media of type image, which is copied.
	MediaID string `json:"media_id,omitempty" maxLength:"64" example:"med_01h455vb4pex5vsknk084sn02q"`
	// Place among the photos; 1 makes it the main photo. Absent: the last.
	Position int `json:"position,omitempty" minimum:"1" maximum:"10" example:"1"`
}

// Rules refuses a body without a source of the photo.
func (b photoBody) Rules() error {
	if b.MediaID != "" && (b.SourceURL != "" || b.MIMEType != "" || b.Bytes != 0 || b.SHA256 != "") {
		return errs.Invalid("/media_id", "cannot be sent together with the members of another file")
	}
	if b.SourceURL != "" || b.MediaID != "" {
		return nil
	}
	var found []error
	for _, m := range []struct {
		param  string
		absent bool
	}{{"/mime_type", b.MIMEType == ""}, {"/bytes", b.Bytes == 0}, {"/sha256", b.SHA256 == ""}} {
		if m.absent {
			found = append(found, errs.Invalid(m.param, "is required, unless source_url or media_id is sent"))
		}
	}
	return errs.All(found...)
}

type createInput struct{ Body createBody }

// Path names the product of a call.
type Path struct {
	// Id of the product.
	ID string `path:"product_id" example:"prd_01h455vb4pex5vsknk084sn02q"`
}

type patchInput struct {
	Path
	httpapi.IfMatch
	Body patchBody
}

type deleteInput struct {
	Path
	httpapi.IfMatch
}

type photoInput struct {
	Path
	Body photoBody
}

type removePhotoInput struct {
	Path
	// Id of the photo.
	PhotoID string `path:"photo_id" example:"pho_01h455vb4pex5vsknk084sn02q"`
	httpapi.IfMatch
}

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	httpapi.Period
	// Only products of this factory.
	FactoryID string `query:"factory_id"`
	// Only the product with this SKU. Needs factory_id.
	SKU string `query:"sku" maxLength:"64"`
	// Only products in these states, separated by commas.
	State []string `query:"state" enum:"active,archived" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one, photos = "/v1/products", "/v1/products/{product_id}", "/v1/products/{product_id}/photos"
	op := httpapi.Ops("product", "Products")
	list := op("listProducts", http.MethodGet, collection, auth.ProductsRead, "List the products",
		"Newest first. `sku` finds one product of a factory at once, however many there are.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createProduct", http.MethodPost, collection, auth.ProductsWrite, "Create a product",
		"Adds a product to the catalog of a factory of type `seller`. Its SKU must be free in the factory.").
		Opening(httpapi.Publishing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.WrongFactoryType, errs.Duplicate, errs.NotFound}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getProduct", http.MethodGet, one, auth.ProductsRead, "Get a product",
		"The URLs of its photos are signed anew.").Opening(httpapi.Nothing), s.get)

	update := op("updateProduct", http.MethodPatch, one, auth.ProductsWrite, "Change a product",
		"Takes a JSON merge patch (RFC 7396). Set `state` to archive it or to bring it back, and `photo_ids` to put "+
			"its photos into another order.").Opening(httpapi.Publishing)
	update.Errors = []errs.Code{errs.VersionMismatch, errs.Duplicate}
	update.Fixed = map[string]string{"factory_id": "create another product",
		"photos": "send photo_ids, or add and delete photos"}
	httpapi.Write(r, update, s.update)

	remove := op("deleteProduct", http.MethodDelete, one, auth.ProductsWrite, "Delete a product",
		"Deletes the product with its photos, and frees its SKU. Not while a scheduled or active promotion includes "+
			"it. Content made of it stays.").Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, remove, s.remove)

	add := op("addProductPhoto", http.MethodPost, photos, auth.ProductsWrite, "Add a photo to a product",
		"Without `source_url` and `media_id`, declare `mime_type`, `bytes` and `sha256`, and send the file by the "+
			"request in `upload` within 15 minutes; with `source_url`, the service fetches the file; with "+
			"`media_id`, it copies the file of your media. "+
			"The photo is `pending` until the file was decoded, and then `ready` or `rejected` with a `reason`. "+
			"Photos are JPEG, PNG or WebP of up to 20 MiB and 50 million pixels. They are turned upright, and their "+
			"metadata, such as the place, is removed. "+
			"A product has up to 10 photos, rejected ones among them. Together with media, up to 100 may be pending.").
		Opening(httpapi.Nothing)
	add.Status = http.StatusCreated
	add.Errors = []errs.Code{errs.InvalidState, errs.QueueFull, errs.UnsupportedMedia}
	add.Fixed = map[string]string{"url": "send the address of the file as source_url"}
	httpapi.Write(r, add, s.addPhoto)

	take := op("deleteProductPhoto", http.MethodDelete, photos+"/{photo_id}", auth.ProductsWrite,
		"Delete a photo of a product",
		"If it was the main photo, the next one is. Work that was accepted before still gets the file, which is "+
			"removed after 24 hours. `If-Match` takes the ETag of the product.").Opening(httpapi.Deletion)
	take.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, take, s.removePhoto)
}
