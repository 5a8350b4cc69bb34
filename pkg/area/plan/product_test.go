package plan_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// open makes the caller's factory a shop, and returns the operations on its products.
func (w *world) open() *apitest.Caller {
	w.T.Helper()
	w.factory = w.makeFactory("type", "seller", "settings", object{"currency": "EUR"})
	s := apitest.New(w.T, w.DB, &apitest.Log{}, w.Now, product.NewService(w.DB, nil, nil, w.Now),
		product.NewPromotions(w.DB, w.Now))
	s.Principal = w.Principal
	return s
}

func (w *world) sell(s *apitest.Caller, name string) string {
	w.T.Helper()
	var p struct{ ID string }
	s.Call(http.MethodPost, "/v1/products", object{"factory_id": w.factory, "sku": name, "name": name,
		"price": object{"amount": 12900, "currency": "EUR"}}).Into(w.T, http.StatusCreated, &p)
	w.Clock.Add(time.Second)
	return p.ID
}

// presented returns the products of a plan's items, and checks that their topics name them.
func (w *world) presented(planID string, names map[string]string) (all []string) {
	w.T.Helper()
	for _, it := range w.items(planID) {
		if it.ProductID == nil {
			all = append(all, "")
			continue
		}
		all = append(all, names[*it.ProductID])
		if !strings.Contains(it.Prompt, names[*it.ProductID]) {
			w.T.Errorf("the topic %q is not about %s", it.Prompt, names[*it.ProductID])
		}
	}
	return all
}

// The products of a shop are presented in turn: those that are named, or the newest ones.
func TestAPlanPresentsTheProductsOfAShop(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	names := map[string]string{}
	var ids []string
	for _, name := range []string{"Trailshoe", "Roadshoe", "Boot"} {
		id := w.sell(s, name)
		ids, names[id] = append(ids, id), name
	}
	archived := w.sell(s, "Sandal")
	s.Call(http.MethodPatch, "/v1/products/"+archived, object{"state": "archived"}).Into(t, http.StatusOK, new(any))
	p := w.create("product_share", 100)
	w.until(plan.Completed)
	got := w.presented(p.ID, names)
	if first := slices.Sorted(slices.Values(got[:3])); !slices.Equal(first, []string{"Boot", "Roadshoe", "Trailshoe"}) ||
		got[3] == got[2] {
		t.Errorf("presented are %v", got)
	}
	p = w.create("product_ids", ids[:2], "starts_on", "2026-06-01", "product_share", 100)
	if !slices.Equal(p.ProductIDs, ids[:2]) {
		t.Errorf("the plan is %+v", p)
	}
	s.Call(http.MethodDelete, "/v1/products/"+ids[0], nil).Into(t, http.StatusOK, new(any))
	w.until(plan.Completed)
	if got := w.presented(p.ID, names); !slices.Equal(got, []string{"Roadshoe", "Roadshoe", "Roadshoe", "Roadshoe"}) {
		t.Errorf("presented are %v", got)
	}
	// Without a share, three of five items present one.
	p = w.create("days", 5, "starts_on", "2026-08-01")
	w.until(plan.Completed)
	with := slices.DeleteFunc(w.presented(p.ID, names), func(name string) bool { return name == "" })
	if len(with) != 6 || p.ProductShare != 60 {
		t.Errorf("of ten, %d present a product in %+v", len(with), p)
	}
	w.Call(http.MethodPost, w.path(), body("product_share", 101)).Refused(t, 422, errs.ValidationFailed, "/product_share")
	// Products that a plan cannot present.
	for _, list := range [][]string{{archived}, {ids[0]}, {"A"}, {ids[1], "prd_01h455vb4pex5vsknk084sn02q"}} {
		last := len(list) - 1
		w.Call(http.MethodPost, w.path(), body("product_ids", list, "starts_on", "2026-07-01")).Unusable(t,
			"/product_ids/"+string(rune('0'+last)))
	}
	w.factory = w.makeFactory()
	w.Call(http.MethodPost, w.path(), body("product_ids", ids)).Refused(t, 422, errs.ValidationFailed, "/product_ids")
	w.Call(http.MethodPost, w.path(), body("product_share", 0)).Refused(t, 422, errs.ValidationFailed, "/product_share")
}

// Items show photos in the place of pictures that were reserved for: those cost nothing.
func TestPhotosMakeAPlanCheaper(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	s := w.open()
	cost := func(starts string) int64 {
		before := w.balance()
		p := w.create("starts_on", starts, "content_types", []string{"post"},
			"product_share", 100)
		if before-w.balance() != p.CostEstimate || p.CostEstimate != p.ReservedCredits {
			t.Errorf("%d were reserved for %+v", before-w.balance(), p)
		}
		p = w.until(plan.Completed)
		var sum int64
		for _, it := range w.items(p.ID) {
			sum += it.CostCredits
		}
		if p = w.get(); sum != p.CostCredits || sum != before-w.balance() || p.ReservedCredits != 0 ||
			p.Items.Generated != 4 {
			t.Errorf("%d were spent, and the items cost %d, for %+v", before-w.balance(), sum, p)
		}
		w.settled()
		return sum
	}
	none := cost("2026-06-01")
	shoe := w.sell(s, "Shoe")
	without := cost("2026-06-08")
	it, err := w.DB.Get(t.Context(), store.IDKey(shoe))
	if err != nil {
		t.Fatal(err)
	}
	r, err := product.Decode(&it)
	if err != nil {
		t.Fatal(err)
	}
	photo := product.StoredPhoto{Photo: product.Photo{ID: "pho_1", State: "ready"},
		File: &media.File{ID: "pho_1", Type: media.Image, Key: "media/1"}}
	r.Photos = append(r.Photos, photo)
	tx := &store.Tx{}
	if err := product.Replace(tx, it, r, r.SKU); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if with := cost("2026-06-15"); with >= without || none > without {
		t.Errorf("it costs %d with photos, %d without, and %d without a product", with, without, none)
	}
}
