package content_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// shop is the areas of products, called by the same key.
type shop struct {
	*apitest.Caller
	w *world
	// seller is a factory, which sells the product shoe.
	seller, shoe string
}

func newShop(w *world) *shop {
	s := &shop{w: w, seller: w.makeFactory(object{"type": "seller", "name": "Shop",
		"settings": object{"currency": "EUR"}})}
	s.Caller = apitest.New(w.T, w.DB, &apitest.Log{}, w.Now, product.NewService(w.DB, w.signer, nil, w.Now),
		product.NewPromotions(w.DB, w.Now))
	s.Principal = w.Principal
	s.shoe = s.sell(s.seller, "A")
	return s
}

func (s *shop) sell(factory, sku string) string {
	var p struct{ ID string }
	s.Call(http.MethodPost, "/v1/products", object{"factory_id": factory, "sku": sku, "name": "Trail shoe",
		"price": object{"amount": 12900, "currency": "EUR"}}).Into(s.w.T, http.StatusCreated, &p)
	return p.ID
}

// photograph adds a photo that is ready to the product.
func (s *shop) photograph(productID string) product.Photo {
	s.w.T.Helper()
	var p product.Photo
	s.Call(http.MethodPost, "/v1/products/"+productID+"/photos", object{"mime_type": "image/png", "bytes": 3,
		"sha256": strings.Repeat("0", 64)}).Into(s.w.T, http.StatusCreated, &p)
	it, err := s.w.DB.Get(s.w.T.Context(), store.IDKey(productID))
	if err != nil {
		s.w.T.Fatal(err)
	}
	r, err := product.Decode(&it)
	if err != nil {
		s.w.T.Fatal(err)
	}
	tx := &store.Tx{}
	r.Photos[r.Photo(p.ID)].Settle(tx, it.Owner, &media.File{ID: p.ID, Type: media.Image, MIMEType: "image/png",
		Key: "media/" + p.ID}, nil)
	if err := product.Replace(tx, it, r, r.SKU); err != nil {
		s.w.T.Fatal(err)
	}
	if err := s.w.DB.Commit(s.w.T.Context(), tx); err != nil {
		s.w.T.Fatal(err)
	}
	return p
}

func (s *shop) promote(productID string, percent int) string {
	var p struct{ ID string }
	s.Call(http.MethodPost, "/v1/promotions", object{
		"factory_id": s.seller, "product_ids": []string{productID}, "name": "Sale",
		"discount": object{"kind": "percent", "value": percent},
		"ends_at":  s.w.Now().Add(time.Hour).Format(time.RFC3339),
	}).Into(s.w.T, http.StatusCreated, &p)
	return p.ID
}

func TestAnItemPresentsAProduct(t *testing.T) {
	w := newWorld(t)
	s := newShop(w)
	s.photograph(s.shoe)
	small, large := s.promote(s.shoe, 10), s.promote(s.shoe, 20)
	for asked, want := range map[string]string{"": large, small: small} {
		members := []any{"factory_id", s.seller, "product_id", s.shoe}
		if asked != "" {
			members = append(members, "promotion_id", asked)
		}
		it := w.create(members...)
		if it.ProductID == nil || *it.ProductID != s.shoe || it.PromotionID == nil || *it.PromotionID != want {
			t.Errorf("created is %+v", it)
		}
		w.provider.requests = nil
		w.do(it.ID)
		if got := w.get(it.ID); got.State != item.Generated || len(w.provider.requests) != 1 ||
			w.provider.requests[0].Kind != provider.KindText {
			t.Errorf("it is %s after %+v", got.State, w.provider.requests)
		}
		if price := map[string]string{large: "€103.20",
			small: "€116.10"}[want]; !strings.Contains(w.provider.requests[0].User, price) {
			t.Errorf("%s is not in %s", price, w.provider.requests[0].User)
		}
	}
	if it := w.create("factory_id", s.seller); it.ProductID != nil || it.PromotionID != nil {
		t.Errorf("created is %+v", it)
	}
}

// Another attempt presents the product as it is then. Of one that is gone there are no photos.
func TestAnotherAttemptPresentsTheProductAsItIs(t *testing.T) {
	w := newWorld(t)
	s := newShop(w)
	photo := s.photograph(s.shoe)
	it := w.create("factory_id", s.seller, "product_id", s.shoe)
	w.do(it.ID)
	again := func(attempt int) []provider.Request {
		t.Helper()
		w.provider.requests = nil
		w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/regenerate", nil).Into(t, http.StatusAccepted, &it)
		w.doAttempt(it.ID, attempt)
		if got := w.get(it.ID); got.State != item.Generated || got.ProductID == nil {
			t.Errorf("it is %+v", got)
		}
		return w.provider.requests
	}
	promotion := s.promote(s.shoe, 50)
	s.Call(http.MethodPatch, "/v1/products/"+s.shoe, object{"name": "Mountain shoe"}).Into(t, http.StatusOK, new(any))
	if got := again(2); len(got) != 1 || !strings.Contains(got[0].User, "Mountain shoe") ||
		!strings.Contains(got[0].User, "€64.50") || *it.PromotionID != promotion {
		t.Errorf("asked for is %+v", got)
	}
	s.Call(http.MethodDelete, "/v1/products/"+s.shoe+"/photos/"+photo.ID, nil).Into(t, http.StatusOK, new(any))
	if got := again(3); len(got) != 2 || got[1].Kind != provider.KindImage {
		t.Errorf("asked for is %+v", got)
	}
	w.Clock.Add(2 * time.Hour)
	s.Call(http.MethodDelete, "/v1/products/"+s.shoe, nil).Into(t, http.StatusOK, new(any))
	if got := again(4); len(got) != 2 || !strings.Contains(got[0].User, "Mountain shoe") {
		t.Errorf("asked for is %+v", got)
	}
}

func TestProductsThatAnItemCannotPresent(t *testing.T) {
	w := newWorld(t)
	s := newShop(w)
	elsewhere := s.sell(w.makeFactory(object{"type": "seller", "name": "Shop", "settings": object{"currency": "EUR"}}),
		"A")
	archived := s.sell(s.seller, "B")
	s.Call(http.MethodPatch, "/v1/products/"+archived, object{"state": "archived"}).Into(t, http.StatusOK, new(any))
	ended := s.promote(s.shoe, 10)
	s.Call(http.MethodPatch, "/v1/promotions/"+ended, object{"state": "ended"}).Into(t, http.StatusOK, new(any))
	other := s.promote(s.sell(s.seller, "C"), 10)
	for _, c := range []struct {
		members []any
		param   string
	}{
		{[]any{"product_id", elsewhere}, "/product_id"},
		{[]any{"product_id", archived}, "/product_id"},
		{[]any{"product_id", "prd_01h455vb4pex5vsknk084sn02q"}, "/product_id"},
		{[]any{"product_id", "A"}, "/product_id"},
		{[]any{"promotion_id", other}, "/promotion_id"},
		{[]any{"product_id", s.shoe, "promotion_id", ended}, "/promotion_id"},
		{[]any{"product_id", s.shoe, "promotion_id", other}, "/promotion_id"},
	} {
		body := w.body(append([]any{"factory_id", s.seller}, c.members...)...)
		w.Call(http.MethodPost, "/v1/content-items", body).Unusable(t, c.param)
		w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": []object{w.body(), body}}).
			Unusable(t, "/items/1"+c.param)
	}
	w.Call(http.MethodPost, "/v1/content-items", w.body("product_id", s.shoe)).Refused(t, 422, errs.ValidationFailed,
		"/product_id")
	for _, c := range []*apitest.Caller{w.Live(), w.Stranger()} {
		var f struct{ ID string }
		c.Call(http.MethodPost, "/v1/factories",
			object{"type": "seller", "name": "Shop", "settings": object{"currency": "EUR"}}).Into(t,
			http.StatusCreated, &f)
		c.Call(http.MethodPost, "/v1/content-items", w.body("factory_id", f.ID, "product_id", s.shoe)).Refused(t, 404,
			errs.NotFound, "/product_id")
	}
}
