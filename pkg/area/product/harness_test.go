package product_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/area/factory"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/media/importer"
	"github.com/content-automation/api/pkg/area/media/incoming"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/product/photos"
	"github.com/content-automation/api/pkg/area/product/promotion"
	"github.com/content-automation/api/pkg/area/product/record"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

// world is the area with the worker of photos, and the areas that it needs.
type world struct {
	*apitest.Caller
	t      *testing.T
	db     *store.DB
	clock  *apitest.Clock
	bucket bucket
	urls   *urls
	kernel *task.Kernel
	seller string // a factory
}

// urls is what lies at public addresses.
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

// bucket stores objects in memory.
type bucket map[string][]byte

func (b bucket) Open(_ context.Context, key string) (io.ReadCloser, error) {
	content, ok := b[key]
	if !ok {
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (b bucket) Put(_ context.Context, f media.File, content io.ReadSeeker) (err error) {
	if _, err = content.Seek(0, io.SeekStart); err == nil {
		b[f.Key], err = io.ReadAll(content)
	}
	return err
}

func (b bucket) Delete(_ context.Context, key string) error {
	delete(b, key)
	return nil
}

func (b bucket) Remove(_ context.Context, place media.Place) error {
	for key := range b {
		if strings.HasPrefix(key, place.Prefix()) {
			delete(b, key)
		}
	}
	return nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: apitest.NewClock(), bucket: bucket{},
		urls: &urls{Client: safehttp.New(safehttp.Options{})}}
	w.db = storetest.Open(t, w.clock.Now)
	signer, err := media.NewSigner(aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}, "bucket", w.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	w.Caller = apitest.New(t, w.db, &apitest.Log{}, w.clock.Now, factory.NewService(w.db, w.clock.Now),
		mediaarea.NewService(w.db, signer, w.urls, w.clock.Now),
		product.NewService(w.db, signer, w.urls, w.clock.Now), promotion.NewService(w.db, w.clock.Now))
	worker := &importer.Worker{DB: w.db, Objects: w.bucket, URLs: w.urls, Now: w.clock.Now}
	w.kernel = task.NewKernel(task.Config{
		DB: w.db, Handlers: map[task.Kind]task.Handler{incoming.Kind: worker,
			incoming.Photo: &photos.Worker{Files: worker}},
		Now: w.clock.Now, Name: rand.Text, Chance: func() float64 { return 0.5 },
	})
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

func (w *world) product(sku string, changes object) (p record.Product) {
	w.t.Helper()
	w.Call(http.MethodPost, "/v1/products", w.body(sku, changes)).Into(w.t, http.StatusCreated, &p)
	return p
}

func (w *world) get(productID string) (p record.Product) {
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

func declare(mimeType string, content []byte) object {
	sum := sha256.Sum256(content)
	return object{"mime_type": mimeType, "bytes": len(content), "sha256": hex.EncodeToString(sum[:])}
}

func (w *world) add(productID string, body object) (p record.Photo) {
	w.t.Helper()
	w.Call(http.MethodPost, "/v1/products/"+productID+"/photos", body).Into(w.t, http.StatusCreated, &p)
	return p
}

// upload puts a file where the signed URL leads, and has the worker get the notice of it.
func (w *world) upload(p record.Photo, content []byte) {
	w.t.Helper()
	u, err := url.Parse(p.Upload.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	key := strings.TrimPrefix(u.Path, "/")
	w.bucket[key] = content
	body, err := json.Marshal(object{"source": "aws.s3", "detail": object{"object": object{"key": key}}})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = importer.Notified(func(_ context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		var m task.Message
		if err := json.Unmarshal([]byte(batch.Records[0].Body), &m); err != nil {
			w.t.Fatal(err)
		}
		w.do(m)
		return events.SQSEventResponse{}, nil
	})(w.t.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: string(body)}}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// do takes steps until the next one is later than some minutes.
func (w *world) do(m task.Message) {
	w.t.Helper()
	for range 50 {
		next, err := w.kernel.Do(w.t.Context(), m, 1)
		if err != nil {
			w.t.Fatal(err)
		}
		if next == nil || next.Delay > 2*time.Minute {
			return
		}
		w.clock.Add(next.Delay)
		m = next.Message
	}
	w.t.Fatal("50 steps are no end")
}

// due takes the steps of a photo's task of an attempt that are due after a while.
func (w *world) due(photoID string, attempt int, after time.Duration) {
	w.t.Helper()
	w.clock.Add(after)
	it, err := w.db.Get(w.t.Context(), store.IDKey(task.ID(incoming.Photo, photoID, attempt)))
	if err != nil {
		w.t.Fatal(err)
	}
	var t task.Task
	if err := it.Decode(&t); err != nil {
		w.t.Fatal(err)
	}
	w.do(t.Message)
}

// ready makes a photo of an uploaded file.
func (w *world) ready(productID string, number byte) record.Photo {
	w.t.Helper()
	p := w.add(productID, declare("image/png", picture(number)))
	w.upload(p, picture(number))
	return p
}
