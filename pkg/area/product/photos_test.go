package product_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	mathrand "math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	importer "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// large is a photo of almost 20 MiB and 50 million pixels that lies on its side, the most demanding photo permitted.
func large(t testing.TB) []byte {
	t.Helper()
	img := image.NewYCbCr(image.Rect(0, 0, 8160, 6120), image.YCbCrSubsampleRatio420)
	noise := mathrand.New(mathrand.NewPCG(1, 2))
	for i := range img.Y {
		img.Y[i] = byte(noise.Uint32() >> 26) // 6 bits of noise fill the file
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 82}); err != nil {
		t.Fatal(err)
	}
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00")
	content := slices.Insert(b.Bytes(), 2, append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)...)
	if n := int64(len(content)); n > media.Limit(media.Image) || n < media.Limit(media.Image)*3/4 {
		t.Fatalf("the photo has %d bytes", n)
	}
	return content
}

// file is a bucket with one object, which keeps nothing.
type file []byte

func (f file) Open(context.Context, string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(f)), nil
}

func (file) Put(_ context.Context, _ media.File, content io.ReadSeeker) error {
	_, err := io.Copy(io.Discard, content)
	return err
}

func (file) Delete(context.Context, string) error { return nil }

func (file) Remove(context.Context, media.Place) error { return nil }

// BenchmarkLargePhoto takes the steps of the largest photo, and reports the peak of the
// memory of the process.
func BenchmarkLargePhoto(b *testing.B) {
	content, now := large(b), time.Now
	db := storetest.Open(b, now)
	kernel := servicetest.Kernel(db, now, map[task.Kind]task.Handler{importer.Photo: task.Func((&product.PhotoWorker{
		Files: &importer.Importer{DB: db, Objects: file(content), Now: now}}).Import)})
	o := tenant.Of("acc_1", tenant.Test)
	for i := 0; b.Loop(); i++ {
		r := &product.StoredProduct{Product: product.Product{Resource: resource.New(id.New(id.Product, now()), now(),
			nil), FactoryID: "fac_1", SKU: fmt.Sprint(i)}}
		p := product.NewPhoto(r.ID, now(), importer.Declared{}, "", "")
		r.Photos = []product.StoredPhoto{p}
		tx := &store.Tx{}
		if err := product.Create(tx, o, r); err != nil {
			b.Fatal(err)
		}
		if err := p.Await(tx, now(), o); err != nil {
			b.Fatal(err)
		}
		if err := db.Commit(b.Context(), tx); err != nil {
			b.Fatal(err)
		}
		if _, err := kernel.Do(b.Context(), importer.Wake(p.ID), ""); err != nil {
			b.Fatal(err)
		}
		it, err := db.Get(b.Context(), store.IDKey(r.ID))
		if err != nil {
			b.Fatal(err)
		}
		if r, err = product.Decode(&it); err != nil || r.Photos[0].State != importer.Ready ||
			r.Photos[0].Height != 8160 {
			b.Fatalf("%+v, %v", r.Photos[0], err)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	if m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status); m != nil {
		kilobytes, _ := strconv.Atoi(string(m[1]))
		b.ReportMetric(float64(kilobytes)/1024, "MiB-peak")
	}
	b.ReportMetric(float64(len(content))/(1<<20), "MiB-photo")
}
