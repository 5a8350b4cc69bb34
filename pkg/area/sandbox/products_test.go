package sandbox_test

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

// Products and promotions go with the sandbox, and with their factory. Of photos that are
// still awaited no place is lost among the pending ones.
func TestProductsAndPromotionsAreDeleted(t *testing.T) {
	for name, remove := range map[string]func(w *world, factory string){
		"reset": func(w *world, _ string) { w.reset() },
		"factory": func(w *world, factory string) {
			w.Call(http.MethodDelete, "/v1/factories/"+factory, nil).Into(t, http.StatusOK, new(object))
		},
	} {
		w := newWorld(t)
		seller := ""
		for _, c := range []*apitest.Caller{w.Live(), w.Caller} {
			var f, p struct{ ID string }
			c.Call(http.MethodPost, "/v1/factories",
				object{"type": "seller", "name": "Shop", "settings": object{"currency": "EUR"}}).Into(t,
				http.StatusCreated, &f)
			seller = f.ID
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
