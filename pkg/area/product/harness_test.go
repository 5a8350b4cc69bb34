package product_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/factory"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

// world is the area with the worker of photos, and the areas that it needs.
type world struct {
	importertest.Worker
	bucket *importertest.Bucket
	urls   *urls
	seller string // a factory
}

// urls has the answer of all public addresses.
type urls struct {
	*safehttp.Client
	answer http.HandlerFunc
	// checked are the addresses whose names were looked up.
	checked []string
}

func (u *urls) CheckURL(ctx context.Context, raw string) error {
	u.checked = append(u.checked, raw)
	return u.Client.CheckURL(ctx, raw)
}

func (u *urls) Do(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	u.answer(rec, req)
	return rec.Result(), nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Worker: importertest.Worker{World: servicetest.New(t)},
		bucket: &importertest.Bucket{Objects: map[string][]byte{}},
		urls:   &urls{Client: safehttp.New(safehttp.Options{})}}
	signer := apitest.Signer(t, w.Now)
	w.Serve(factory.NewService(w.DB, w.Now),
		mediaarea.NewService(w.DB, signer, w.urls, w.Now),
		product.NewService(w.DB, signer, w.urls, w.Now), product.NewPromotions(w.DB, w.Now))
	worker := &mediaarea.Importer{DB: w.DB, Objects: w.bucket, URLs: w.urls, Now: w.Clock.Now}
	w.Tasks = w.Kernel(map[task.Kind]task.Handler{mediaarea.Kind: task.Func(worker.Import),
		mediaarea.Photo: task.Func((&product.PhotoWorker{Files: worker}).Import)})
	w.seller = w.factory("seller")
	return w
}

// factory makes a factory of a type.
func (w *world) factory(kind string) string {
	w.T.Helper()
	settings := object{"seller": object{"currency": "EUR"}, "brand": object{"brand_name": "Acme"}}[kind]
	var f struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", object{"type": kind, "name": "Acme", "settings": settings}).Into(w.T,
		http.StatusCreated, &f)
	return f.ID
}

// body is that of a product with a SKU, in which changes replace members.
func (w *world) body(sku string, changes object) object {
	b := object{"factory_id": w.seller, "sku": sku, "name": "Trail running shoe",
		"price": object{"amount": 12900, "currency": "EUR"}}
	for name, value := range changes {
		b[name] = value
	}
	return b
}

func (w *world) product(sku string, changes object) (p product.Product) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/products", w.body(sku, changes)).Into(w.T, http.StatusCreated, &p)
	return p
}

func (w *world) get(productID string) (p product.Product) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/products/"+productID, nil).Into(w.T, http.StatusOK, &p)
	return p
}

// picture is a small picture; number makes it different from others.
func picture(number byte) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 12, 8))
	img.Set(1, 1, color.NRGBA{number, 2, 3, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func (w *world) add(productID string, body object) (p product.Photo) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/products/"+productID+"/photos", body).Into(w.T, http.StatusCreated, &p)
	return p
}

// upload puts a file where the signed URL leads, and sends the notice of S3.
func (w *world) upload(p product.Photo, content []byte) {
	w.T.Helper()
	w.Notify(w.bucket.Upload(w.T, p.Upload.URL, content))
}

// due takes the steps of a photo's task of an attempt that are due after a while.
func (w *world) due(photoID string, attempt int, after time.Duration) {
	w.T.Helper()
	w.DoAfter(store.IDKey(task.ID(mediaarea.Photo, photoID, attempt)), after)
}

// ready makes a photo of an uploaded file.
func (w *world) ready(productID string, number byte) product.Photo {
	w.T.Helper()
	p := w.add(productID, importertest.Declare("image/png", picture(number)))
	w.upload(p, picture(number))
	return p
}
