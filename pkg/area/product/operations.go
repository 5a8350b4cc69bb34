// Package product holds the operations on products and their photos. Service.Register in operations.go has the
// operations on products, and Promotions those on promotions.
package product

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/area"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// Service creates, reads, changes and deletes products.
type Service struct {
	db       *store.DB
	signer   *media.Signer
	urls     safehttp.Checker
	now      func() time.Time
	products *kind.Kind[StoredProduct]
}

// NewService makes the service. It makes no call.
func NewService(db *store.DB, signer *media.Signer, urls safehttp.Checker, now func() time.Time) *Service {
	return &Service{db, signer, urls, now, products.On(db, now)}
}

var products = kind.Kind[StoredProduct]{Name: ItemKind, ID: id.Product, Path: "/v1/products/{product_id}",
	Function: "product", Tag: "Products", Reads: auth.ProductsRead, Writes: auth.ProductsWrite, Place: place}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, e.Client(safehttp.Options{}), e.Now).Register(r)
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
	u, err := url.Parse(address)
	switch {
	case address == "":
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errs.Invalid("/url", "is not an http or https URL; write it as https://shop.example.com/trail-42")
	case strings.ContainsFunc(address, unicode.IsSpace), u.User != nil:
		return errs.Invalid("/url", "has a space or a password; write spaces as %%20, and leave passwords out of posts")
	}
	return nil
}

// check refuses a product that cannot be as it is. The argument was is the product before.
func (r *StoredProduct) check(was *StoredProduct, now time.Time) error {
	found := []error{checkPrice(r.Price)}
	if r.URL != nil && *r.URL == "" {
		r.URL = nil
	} else if r.URL != nil {
		found = append(found, checkURL(*r.URL))
	}
	found = append(found, was.CheckPrice(r.Price, now))
	if len(r.Attributes) > resource.MaxPairs {
		found = append(found, errs.Invalid("/attributes", "must have at most %d pairs", resource.MaxPairs))
	}
	r.Attributes = resource.Metadata(r.Attributes).OrEmpty()
	return errs.All(found...)
}

// arrange puts the photos of a product into the order of their ids.
func (r *StoredProduct) arrange(photoIDs []string) error {
	photos := make([]StoredPhoto, 0, len(r.Photos))
	for _, photoID := range photoIDs {
		if i := r.Photo(photoID); i >= 0 {
			photos = append(photos, r.Photos[i])
		}
	}
	if len(photos) != len(r.Photos) || len(photoIDs) != len(r.Photos) {
		return errs.Invalid("/photo_ids", "must have the ids of all photos of the product, each once")
	}
	r.Photos = photos
	return nil
}

// view returns a product as the caller sees it. The result of a change shows nothing that the caller may not read.
func (s *Service) view(ctx context.Context, f *kind.Found[StoredProduct]) (Product, error) {
	p := auth.FromContext(ctx)
	v, err := f.Record.View(ctx, s.signer, p.Owner, s.now(), p.Has(auth.ProductsWrite))
	if !p.Has(auth.ProductsRead) {
		for i := range v.Photos {
			v.Photos[i].URL = nil
		}
	}
	return v, err
}

// short returns a product as lists show it.
func (s *Service) short(ctx context.Context, f *kind.Found[StoredProduct]) (Product, error) {
	v, err := s.view(ctx, f)
	v.FeedChanges = []FeedChange{}
	return v, err
}

func (s *Service) opened(ctx context.Context, tx *store.Tx, c *kind.Change[StoredProduct, createBody]) error {
	if err := c.Body.Rules(); err != nil {
		return err
	}
	it, err := resource.Find(ctx, s.db, id.Factory, factoryrecord.Kind, c.Body.FactoryID)
	if err != nil || !factoryrecord.Usable(it, it.Owner) {
		return factoryrecord.RefError(err, c.Body.FactoryID)
	}
	if err := factoryrecord.CheckSeller(it, "/factory_id", "products"); err != nil {
		return err
	}
	r := c.Record
	c.Item.Owner, r.State, r.Photos, r.Steered = it.Owner, Active, []StoredPhoto{}, steers(ctx)
	r.take(tx, it.Owner)
	return r.check(r, c.Now)
}

func (s *Service) list(ctx context.Context, in *listInput) (page httpapi.Page[Product], err error) {
	o := auth.FromContext(ctx).Owner
	if in.SKU != "" {
		return s.bySKU(ctx, in)
	}
	return kind.Page(ctx, s.products, in, s.short, func(_ context.Context, in *listInput, q *store.Query) error {
		if in.FactoryID != "" {
			q.Index, q.Partition = store.ByParent, Partition(o, in.FactoryID)
		}
		return nil
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
	f, err := s.products.Find(ctx, HolderOf(held))
	if errs.CodeOf(err) == errs.NotFound {
		return page, nil // it was deleted in between
	}
	if err != nil || len(in.State) > 0 && !slices.Contains(in.State, string(f.Record.State)) ||
		!in.Period.Contains(f.Record.CreatedAt.Time) {
		return page, err
	}
	v, err := s.short(ctx, f)
	page.Items = []Product{v}
	return page, err
}

// steers reports whether a change by the caller has the next items about a product wait for an approval.
func steers(ctx context.Context) bool { return !auth.FromContext(ctx).Has(auth.ContentPublish) }

func (s *Service) changed(ctx context.Context, tx *store.Tx, c *kind.Change[StoredProduct, patchBody]) error {
	r := c.Record
	clock, err := testclock.Now(ctx, s.db, c.Item.Owner, c.Now)
	if err != nil {
		return err
	}
	var order error
	if c.Body.PhotoIDs != nil {
		order = r.arrange(c.Body.PhotoIDs)
	}
	if err := errs.All(r.check(c.Was, clock), order); err != nil {
		return err
	}
	told := func(r *StoredProduct) []any { // what items tell
		return []any{r.Name, r.Description, r.Price, r.URL, r.Attributes, r.Photos, r.Availability}
	}
	if !reflect.DeepEqual(told(c.Was), told(r)) || !steers(ctx) {
		r.Steered = steers(ctx)
	}
	r.rename(tx, c.Item.Owner, c.Was.SKU)
	return nil
}

// ended ends what belongs to a deleted product.
func (s *Service) ended(ctx context.Context, tx *store.Tx, f *kind.Found[StoredProduct]) error {
	r, now := f.Record, s.now()
	clock, err := testclock.Now(ctx, s.db, f.Item.Owner, now)
	if err != nil {
		return err
	}
	for _, p := range r.OpenPromotions(clock) {
		return errs.New(errs.InvalidState, "The promotion %s includes the product and is %s. End the promotion "+
			"first, or take the product from it.", p.ID, p.State(clock)).In(string(r.State), "update")
	}
	r.Touch(now)
	return r.clear(tx, now, f.Item.Owner)
}

// last returns the last state of a product, without URLs.
func last(_ context.Context, f *kind.Found[StoredProduct]) (Product, error) {
	out := f.Record.Product
	out.FeedChanges = f.Record.feedChanges()
	out.Photos = make([]Photo, len(f.Record.Photos))
	for i, p := range f.Record.Photos {
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
	productID := httpapi.PathID(ctx)
	if !id.Valid(id.Product, productID) {
		return out, errs.Missing(ItemKind, productID)
	}
	given, err := incoming.Read(ctx, s.db, []incoming.Member{m}, store.IDKey(productID))
	if err != nil {
		return out, err
	}
	p, it, now := auth.FromContext(ctx), given.Beside[0], s.now()
	if it.Kind != ItemKind || !p.Owner.Sees(it.Owner) {
		return out, errs.Missing(ItemKind, productID)
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
	of, err := s.products.Find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	r, it := of.Record, of.Item
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
	// Whether it can be bought. Absent: in_stock.
	Availability Availability `json:"availability,omitempty" enum:"in_stock,out_of_stock,preorder,backorder"`
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
	// Whether it can be bought.
	Availability Availability `json:"availability,omitempty" enum:"in_stock,out_of_stock,preorder,backorder"`
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

type photoInput struct{ Body photoBody }

type removePhotoInput struct {
	// Id of the product.
	ID string `path:"product_id" example:"prd_01h455vb4pex5vsknk084sn02q"`
	// Id of the photo.
	PhotoID string `path:"photo_id" example:"pho_01h455vb4pex5vsknk084sn02q"`
	httpapi.IfMatch
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	httpapi.Period
	// Only products of this factory.
	FactoryID string `query:"factory_id"`
	// Only the product with this SKU. Needs factory_id.
	SKU string `query:"sku" maxLength:"64"`
	// Only products in these states, separated by commas.
	State []string `query:"state" filter:"state" enum:"active,archived" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	httpapi.List(r, s.products.Op(httpapi.Op{ID: "listProducts", Summary: "List the products",
		Description: "Newest first. `sku` finds one product of a factory at once, however many there are."},
		http.MethodGet, "/v1/products"), s.list)
	kind.Create(r, s.products, httpapi.Op{ID: "createProduct", Summary: "Create a product",
		Description: "Adds a product to the catalog of a factory of type `seller`. Its SKU must be free in the " +
			"factory.",
		Opens:  httpapi.Publishing,
		Errors: []errs.Code{errs.WrongFactoryType, errs.Duplicate, errs.NotFound}}, s.opened, s.view)
	kind.Get(r, s.products, httpapi.Op{ID: "getProduct", Summary: "Get a product",
		Description: "The URLs of its photos are signed anew."}, s.view)
	kind.Update(r, s.products, httpapi.Op{ID: "updateProduct", Summary: "Change a product",
		Description: "Takes a JSON merge patch (RFC 7396). Set `state` to archive it or to bring it back, and " +
			"`photo_ids` to put its photos into another order.",
		Opens: httpapi.Publishing, Errors: []errs.Code{errs.Duplicate},
		FixedMembers: map[string]string{"factory_id": "create another product",
			"photos": "send photo_ids, or add and delete photos"}}, s.changed, s.view)
	kind.Delete(r, s.products, httpapi.Op{ID: "deleteProduct", Summary: "Delete a product",
		Description: "Deletes the product with its photos, and frees its SKU. Not while a scheduled or active " +
			"promotion includes it. Content made of it stays.", Errors: []errs.Code{errs.InvalidState}}, s.ended, last)

	const photos = "/v1/products/{product_id}/photos"
	op := httpapi.Ops("product", "Products")
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
	add.FixedMembers = map[string]string{"url": "send the address of the file as source_url"}
	httpapi.Write(r, add, s.addPhoto)

	take := op("deleteProductPhoto", http.MethodDelete, photos+"/{photo_id}", auth.ProductsWrite,
		"Delete a photo of a product",
		"If it was the main photo, the next one is. Work that was accepted before still gets the file, which is "+
			"removed after 24 hours. `If-Match` takes the ETag of the product.").Opening(httpapi.Deletion)
	take.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, take, s.removePhoto)
}
