package product

import (
	"net/http"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

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

type photoBody struct {
	// MIME type. Required for an upload. The file must be what it says.
	MIMEType string `json:"mime_type,omitempty" enum:"image/jpeg,image/png,image/webp,image/heic,image/heif,image/avif" example:"image/jpeg"`
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
