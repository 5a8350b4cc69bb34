package product_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
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
	*apitest.Caller
	importertest.Worker
	t      *testing.T
	db     *store.DB
	clock  *apitest.Clock
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
	w := &world{t: t, clock: apitest.NewClock(), bucket: &importertest.Bucket{Objects: map[string][]byte{}},
		urls: &urls{Client: safehttp.New(safehttp.Options{})}}
	w.db = storetest.Open(t, w.clock.Now)
	signer := apitest.Signer(t, w.clock.Now)
	w.Caller = apitest.New(t, w.db, &apitest.Log{}, w.clock.Now, factory.NewService(w.db, w.clock.Now),
		mediaarea.NewService(w.db, signer, w.urls, w.clock.Now),
		product.NewService(w.db, signer, w.urls, w.clock.Now), product.NewPromotions(w.db, w.clock.Now))
	worker := &mediaarea.Importer{DB: w.db, Objects: w.bucket, URLs: w.urls, Now: w.clock.Now}
	kernel := task.NewKernel(task.Config{
		DB: w.db, Handlers: map[task.Kind]task.Handler{mediaarea.Kind: worker,
			mediaarea.Photo: &product.PhotoWorker{Files: worker}},
		Now: w.clock.Now, Name: rand.Text, Chance: func() float64 { return 0.5 },
	})
	w.Worker = importertest.Worker{T: t, DB: w.db, Clock: w.clock, Kernel: kernel}
	w.seller = w.factory("seller")
	return w
}

// factory makes a factory of a type.
func (w *world) factory(kind string) string {
	w.t.Helper()
	settings := object{"seller": object{"currency": "EUR"}, "brand": object{"brand_name": "Acme"}}[kind]
	var f struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", object{"type": kind, "name": "Acme", "settings": settings}).Into(w.t,
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
	w.t.Helper()
	w.Call(http.MethodPost, "/v1/products", w.body(sku, changes)).Into(w.t, http.StatusCreated, &p)
	return p
}

func (w *world) get(productID string) (p product.Product) {
	w.t.Helper()
	w.Call(http.MethodGet, "/v1/products/"+productID, nil).Into(w.t, http.StatusOK, &p)
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
	w.t.Helper()
	w.Call(http.MethodPost, "/v1/products/"+productID+"/photos", body).Into(w.t, http.StatusCreated, &p)
	return p
}

// upload puts a file where the signed URL leads, and sends the notice of S3.
func (w *world) upload(p product.Photo, content []byte) {
	w.t.Helper()
	w.Notify(w.bucket.Upload(w.t, p.Upload.URL, content))
}

// due takes the steps of a photo's task of an attempt that are due after a while.
func (w *world) due(photoID string, attempt int, after time.Duration) {
	w.t.Helper()
	w.DoAfter(store.IDKey(task.ID(mediaarea.Photo, photoID, attempt)), after)
}

// ready makes a photo of an uploaded file.
func (w *world) ready(productID string, number byte) product.Photo {
	w.t.Helper()
	p := w.add(productID, importertest.Declare("image/png", picture(number)))
	w.upload(p, picture(number))
	return p
}
