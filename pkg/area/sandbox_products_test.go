package area_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	importer "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// nothing is a bucket that nothing arrives in.
type nothing struct{ importer.Objects }

func (nothing) Open(context.Context, string) (io.ReadCloser, error) {
	return nil, errs.New(errs.NotFound, "The file does not exist.")
}

func (nothing) Delete(context.Context, string) error { return nil }

func (nothing) Remove(context.Context, media.Place) error { return nil }

// noShop is the client of feeds whose shop has none.
type noShop struct{}

func (noShop) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
}

// Products, promotions and feeds with their runs go with the sandbox, and with their factory. Of photos that are
// still awaited no place is lost among the pending ones.
func TestProductsAndPromotionsAreDeleted(t *testing.T) {
	for name, remove := range map[string]func(w *sandboxWorld, factory string){
		"reset": func(w *sandboxWorld, _ string) { w.reset() },
		"factory": func(w *sandboxWorld, factory string) {
			w.Call(http.MethodDelete, "/v1/factories/"+factory, nil).Into(t, http.StatusOK, new(object))
		},
	} {
		w := newSandboxWorld(t)
		seller := ""
		for _, c := range []*apitest.Caller{w.Live(), w.Caller} {
			var f, p struct{ ID string }
			c.Call(http.MethodPost, "/v1/factories",
				object{"type": "seller", "name": "Shop", "settings": object{"currency": "EUR"}}).Into(t,
				http.StatusCreated, &f)
			seller = f.ID
			c.Call(http.MethodPut, "/v1/factories/"+f.ID+"/feed", object{"format": "csv",
				"source": object{"url": "https://93.184.215.14/feed.csv"}}).Into(t, http.StatusOK, new(object))
			c.Call(http.MethodPost, "/v1/factories/"+f.ID+"/feed/sync", nil).Into(t, http.StatusAccepted, new(object))
			for i := range 3 {
				c.Call(http.MethodPost, "/v1/products", object{"factory_id": f.ID, "sku": fmt.Sprint(i), "name": "Shoe",
					"price": object{"amount": 1, "currency": "EUR"}}).Into(t, http.StatusCreated, &p)
				c.Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", object{"mime_type": "image/png", "bytes": 3,
					"sha256": strings.Repeat("0", 64)}).Into(t, http.StatusCreated, new(object))
			}
			c.Call(http.MethodPost, "/v1/promotions", object{
				"factory_id": f.ID, "product_ids": []string{p.ID}, "name": "Sale",
				"discount": object{"kind": "percent", "value": 5},
				"ends_at":  w.Now().Add(time.Hour).Format(time.RFC3339),
			}).Into(t, http.StatusCreated, new(object))
		}
		w.engine.Handle(importer.Photo,
			task.Func((&product.PhotoWorker{Files: &importer.Importer{DB: w.DB, Objects: nothing{},
				Now: w.Clock.Now}}).Import))
		w.Clock.Add(time.Second)
		remove(w, seller)
		w.engine.Drain()
		if left := storetest.Rows(t, w.DB, shelf.Kind, feed.RunItem); len(left) != 2 || left[0]["mode"] != "live" ||
			left[1]["mode"] != "live" {
			t.Errorf("%s: of feeds and runs are left %v", name, left)
		}
		for c, want := range map[*apitest.Caller][2]int{w.Caller: {0, 0}, w.Live(): {3, 1}} {
			if n := [2]int{len(apitest.All[product.Product](c, "/v1/products", 100)),
				len(apitest.All[product.Promotion](c, "/v1/promotions", 100))}; n != want {
				t.Errorf("%s: there are %v, want %v", name, n, want)
			}
		}
		if it, err := w.DB.Get(t.Context(), store.IDKey("media-pending#"+w.Principal.Owner.String())); err != nil ||
			it.Count() != 0 {
			t.Errorf("%s: %d photos count as pending, %v", name, it.Count(), err)
		}
	}
}
