package feed_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/feed"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
)

// noise returns a text that cannot be packed.
func noise(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(rune(0x4e00 + r.IntN(20_000)))
	}
	return b.String()
}

// The photos of a large catalog are fetched, however far behind products without them theirs are.
func TestPhotosBehindManyProducts(t *testing.T) {
	w := newWorld(t)
	w.set("photos", "all")
	random := rand.New(rand.NewPCG(3, 4))
	const products = 900 // of 15 KB: more than one list reads
	rows := func(photos string) string {
		var b strings.Builder
		b.WriteString("sku,name,price,description,photos\n")
		for i := range products {
			at := ""
			if i >= products-2 {
				at = photos
			}
			fmt.Fprintf(&b, "P%03d,Product,3 EUR,%s,\"%s\"\n", i, noise(random, 4900), at)
		}
		return b.String()
	}
	if r := w.sync(rows("https://93.184.215.14/a.png,https://93.184.215.14/b.png")); r.Created != products {
		t.Fatal(told(r))
	}
	w.shop.feed, w.shop.status = "no picture", http.StatusNotFound
	w.DoAfter(w.task(feed.PhotosKind), 2*time.Second)
	for _, sku := range []string{"P898", "P899"} {
		p := apitest.All[product.Product](w.Caller, "/v1/products?factory_id="+w.seller+"&sku="+sku, 10)[0]
		if len(p.Photos) != 2 || p.Photos[0].State != mediaarea.Pending {
			t.Errorf("%s has %+v", sku, p.Photos)
		}
	}
}

// The photos of a product have the order of its row, so that the first is the main one.
func TestPhotosInTheOrderOfTheirRow(t *testing.T) {
	w := newWorld(t)
	w.set("photos", "all")
	for _, row := range []string{"a,b", "b,a", "c,b,a", "c,b,d,a"} {
		w.sync("sku,name,price,photos\nA,Product,3 EUR,\"https://93.184.215.14/" +
			strings.ReplaceAll(row, ",", ",https://93.184.215.14/") + "\"\n")
		for range 2 {
			w.shop.status = http.StatusNotFound
			w.DoAfter(w.task(feed.PhotosKind), 2*time.Second)
			w.shop.status = http.StatusOK
		}
		var got []string
		for _, p := range w.products()["A"].Photos {
			got = append(got, strings.TrimPrefix(*p.SourceURL, "https://93.184.215.14/"))
		}
		if strings.Join(got, ",") != row {
			t.Errorf("the photos are %v, want %s", got, row)
		}
	}
}
