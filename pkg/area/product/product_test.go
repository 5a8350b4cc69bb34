package product_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestAProductFromBeginningToEnd(t *testing.T) {
	w := newWorld(t)
	made := w.product("TRAIL-42", object{
		"description": "Made of recycled nets", "url": "https://shop.example.com/trail-42",
		"attributes": object{"color": "red", "size": "42"}, "metadata": object{"erp": "4711"},
	})
	if made.State != product.Active || made.Version != 1 ||
		made.Price != (money.Price{Amount: 12900, Currency: "EUR"}) || made.Attributes["size"] != "42" ||
		made.Photos == nil {
		t.Errorf("made was %+v", made)
	}
	var got product.Product
	w.Call(http.MethodPatch, "/v1/products/"+made.ID,
		object{"price": object{"amount": 9900}, "attributes": object{"size": nil}, "url": nil, "state": "archived",
			"description": nil},
		"If-Match", `"1"`).Into(t, http.StatusOK, &got)
	if got.Price != (money.Price{Amount: 9900, Currency: "EUR"}) || len(got.Attributes) != 1 || got.URL != nil ||
		got.State != product.Archived || got.Description != "" || got.Version != 2 {
		t.Errorf("changed it is %+v", got)
	}
	w.Call(http.MethodPatch, "/v1/products/"+made.ID, object{"name": "Shoe"}, "If-Match", `"1"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	w.Call(http.MethodDelete, "/v1/products/"+made.ID, nil, "If-Match", `"1"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	w.Call(http.MethodDelete, "/v1/products/"+made.ID, nil).Into(t, http.StatusOK, &got)
	w.Call(http.MethodGet, "/v1/products/"+made.ID, nil).Refused(t, 404, errs.NotFound, "")
	if rows := w.rows(); rows["product"] != 0 || rows["sku"] != 0 {
		t.Errorf("left are %v", rows)
	}
}

// rows counts the items of each kind.
func (w *world) rows() map[string]int {
	n := map[string]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		n[row["kind"]]++
	}
	return n
}

func TestASKUIsUniqueInItsFactory(t *testing.T) {
	w := newWorld(t)
	first, second := w.product("A", nil), w.product("B", nil)
	w.product("A", object{"factory_id": w.factory("seller")})
	w.Call(http.MethodPost, "/v1/products", w.body("A", nil)).Refused(t, 409, errs.Duplicate, "/sku")
	w.Call(http.MethodPatch, "/v1/products/"+second.ID, object{"sku": "A"}).Refused(t, 409, errs.Duplicate, "/sku")
	w.Call(http.MethodPatch, "/v1/products/"+second.ID, object{"sku": "B"}).Into(t, http.StatusOK, new(any))
	// A SKU that is no longer used is free, also for the product that had it.
	w.Call(http.MethodPatch, "/v1/products/"+first.ID, object{"sku": "C"}).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodPatch, "/v1/products/"+second.ID, object{"sku": "A"}).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodDelete, "/v1/products/"+second.ID, nil).Into(t, http.StatusOK, new(any))
	w.product("A", nil)
	w.product("B", nil)
	if n := w.rows()["sku"]; n != 4 {
		t.Errorf("%d SKUs are taken", n)
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		changes object
		param   string
	}{
		{object{"price": object{"amount": -1, "currency": "EUR"}}, "/price/amount"},
		{object{"price": object{"amount": 1.5, "currency": "EUR"}}, "/price/amount"},
		{object{"price": object{"amount": 100, "currency": "eur"}}, "/price/currency"},
		{object{"price": object{"amount": 100, "currency": "XXX"}}, "/price/currency"},
		{object{"price": object{"amount": 100, "currency": "EUU"}}, "/price/currency"},
		{object{"price": object{"amount": 100}}, "/price/currency"},
		{object{"sku": ""}, "/sku"},
		{object{"sku": " A"}, "/sku"},
		{object{"sku": "A\n"}, "/sku"},
		{object{"name": "  "}, "/name"},
		{object{"url": "javascript:alert(1)"}, "/url"},
		{object{"url": "shop.example.com"}, "/url"},
		{object{"url": "https://a.example.com/trail 42"}, "/url"},
		{object{"url": "https://a.example.com/trail\u00a042"}, "/url"},
		{object{"url": "https://user:secret@a.example.com/"}, "/url"},
		{object{"attributes": object{"color": 1}}, "/attributes/color"},
		{object{"photos": []any{}}, "/photos"},
	} {
		w.Call(http.MethodPost, "/v1/products", w.body("A", c.changes)).Refused(t, 422, errs.ValidationFailed, c.param)
	}
	p := w.product("A", nil)
	many := object{}
	for i := range 21 {
		many[fmt.Sprint("n", i)] = "v"
	}
	for _, c := range []struct {
		patch object
		param string
	}{
		{object{"price": object{"amount": -1}}, "/price/amount"},
		{object{"price": object{"currency": "XAU"}}, "/price/currency"},
		{object{"url": "ftp://a.example.com"}, "/url"},
		{object{"attributes": many}, "/attributes"},
		{object{"photo_ids": []string{"pho_01h455vb4pex5vsknk084sn02q"}}, "/photo_ids"},
		{object{"factory_id": w.seller}, "/factory_id"},
		{object{"state": "deleted"}, "/state"},
	} {
		w.Call(http.MethodPatch, "/v1/products/"+p.ID, c.patch).Refused(t, 422, errs.ValidationFailed, c.param)
	}
	if got := w.get(p.ID); got.Version != 1 {
		t.Errorf("it is %+v", got)
	}
}

func TestOnlySellersHaveProducts(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPost, "/v1/products", w.body("A", object{"factory_id": w.factory("brand")})).Refused(t, 422,
		errs.WrongFactoryType, "/factory_id")
	w.Call(http.MethodPost, "/v1/products",
		w.body("A", object{"factory_id": "fac_01h455vb4pex5vsknk084sn02q"})).Refused(t, 404, errs.NotFound,
		"/factory_id")
	w.Call(http.MethodPost, "/v1/products", w.body("A", object{"factory_id": "A"})).Refused(t, 404, errs.NotFound,
		"/factory_id")
	w.Live().Call(http.MethodPost, "/v1/products", w.body("A", nil)).Refused(t, 404, errs.NotFound, "/factory_id")
	w.Call(http.MethodDelete, "/v1/factories/"+w.seller, nil).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodPost, "/v1/products", w.body("A", nil)).Refused(t, 404, errs.NotFound, "/factory_id")
}

func TestProductsAreTheirOwnersAlone(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	photo := w.add(p.ID, importertest.Declare("image/png", picture(1)))
	for name, c := range map[string]*apitest.Caller{"the other mode": w.Live(), "another account": w.Stranger()} {
		for _, call := range []struct {
			method, path string
			body         any
		}{
			{http.MethodGet, "", nil}, {http.MethodDelete, "", nil}, {http.MethodPatch, "", object{"name": "Mine"}},
			{http.MethodPost, "/photos", importertest.Declare("image/png", picture(1))},
			{http.MethodDelete, "/photos/" + photo.ID, nil},
		} {
			c.Call(call.method, "/v1/products/"+p.ID+call.path, call.body).Refused(t, 404, errs.NotFound, "")
		}
		for _, query := range []string{"", "?factory_id=" + w.seller, "?sku=A&factory_id=" + w.seller} {
			if found := apitest.All[product.Product](c, "/v1/products"+query, 1); len(found) != 0 {
				t.Errorf("%s lists %+v", name, found)
			}
		}
	}
	reader := w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.ProductsRead} })
	var got product.Product
	reader.Call(http.MethodGet, "/v1/products/"+p.ID, nil).Into(t, http.StatusOK, &got)
	if got.Photos[0].Upload != nil {
		t.Error("who only reads is shown the upload")
	}
	reader.Call(http.MethodDelete, "/v1/products/"+p.ID, nil).Refused(t, 403, errs.InsufficientScope, "")
}

func TestProductsAreListedByFactorySKUAndState(t *testing.T) {
	w := newWorld(t)
	other := w.factory("seller")
	for i := range 5 {
		w.Clock.Add(time.Second)
		w.product(fmt.Sprint("SKU-", i), nil)
	}
	elsewhere := w.product("SKU-1", object{"factory_id": other})
	w.Call(http.MethodPatch, "/v1/products/"+elsewhere.ID, object{"state": "archived"}).Into(t, http.StatusOK, new(any))
	for query, want := range map[string]int{
		"": 6, "state=active": 5, "state=archived,active": 6, "factory_id=" + other: 1, "factory_id=" + w.seller: 5,
		"factory_id=" + w.seller + "&state=archived": 0, "factory_id=" + w.seller + "&sku=SKU-1": 1,
		"factory_id=" + other + "&sku=SKU-1":              1,
		"factory_id=" + other + "&sku=SKU-1&state=active": 0, "factory_id=" + other + "&sku=SKU-2": 0,
		"factory_id=" + w.seller + "&sku=SKU-1&to=2026-01-01T00:00:00Z": 0,
	} {
		for _, limit := range []int{1, 100} {
			found := apitest.All[product.Product](w.Caller, "/v1/products?"+query, limit)
			if len(found) != want {
				t.Errorf("%q: %d products, want %d", query, len(found), want)
			}
			for i := 1; i < len(found); i++ {
				if found[i-1].ID <= found[i].ID {
					t.Errorf("%q: they are not newest first", query)
				}
			}
		}
	}
	w.Call(http.MethodGet, "/v1/products?sku=SKU-1", nil).Refused(t, 422, errs.ValidationFailed, "sku")
	w.Call(http.MethodGet, "/v1/products?factory_id=A", nil).Refused(t, 422, errs.ValidationFailed, "factory_id")
	w.Call(http.MethodGet, "/v1/products?factory_id="+other+"&sku=SKU-1&cursor=A", nil).Refused(t, 400,
		errs.InvalidCursor, "cursor")
}

// A deleted factory takes its products and promotions along, however many there are.
func TestADeletedFactoryHasNoProducts(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		p := w.product(fmt.Sprint("SKU-", i), nil)
		if i == 0 {
			w.ready(p.ID, 1)
			w.add(p.ID, importertest.Declare("image/png", picture(2)))
			w.promote(nil, p.ID)
		}
	}
	keep := w.product("SKU-1", object{"factory_id": w.factory("seller")})
	cleaner := product.Cleaner{DB: w.DB, Now: w.Clock.Now}
	calls := 0
	for more := true; more; calls++ {
		var err error
		if more, err = cleaner.Clean(t.Context(), w.Principal.Owner, w.seller); err != nil || calls > 10 {
			t.Fatal(calls, err)
		}
	}
	if rows := w.rows(); rows["product"] != 1 || rows["sku"] != 1 || rows["promotion"] != 0 {
		t.Errorf("left are %v", rows)
	}
	if got := w.get(keep.ID); got.SKU != "SKU-1" {
		t.Errorf("the product of another factory is %+v", got)
	}
}

// The reader of feeds knows the bounds of attributes without reading this package.
func TestFeedsHaveTheBoundsOfAttributes(t *testing.T) {
	if feed.MaxAttributes != resource.MaxPairs || feed.MaxAttributeName != resource.MaxPairName ||
		feed.MaxAttributeValue != resource.MaxPairLength {
		t.Error("they differ")
	}
}
