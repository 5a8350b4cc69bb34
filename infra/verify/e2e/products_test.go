package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// soldProduct has the members of a product that the tests read.
type soldProduct struct {
	ID, SKU, State string
	Photos         []ownMedia
}

// shop makes a factory that has products.
func (c *customer) shop(t *testing.T, secret string) string {
	t.Helper()
	return into[struct{ ID string }](call(t, secret, http.MethodPost, "/v1/factories", object{
		"type": "seller", "name": "Shop", "settings": object{"currency": "EUR"},
	}), http.StatusCreated).ID
}

// TestProductsWithPhotosAndPromotions follows a product from its creation to its deletion, with
// photos and promotions of both keys.
func TestProductsWithPhotosAndPromotions(t *testing.T) {
	c := newCustomer(t)
	photo := picture(t, 90, 160)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".svg") {
			_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
		} else {
			_, _ = w.Write(photo)
		}
	}))
	defer server.Close()
	for mode, secret := range map[string]string{"live": c.live.Secret, "test": c.test.Secret} {
		shop := c.shop(t, secret)
		body := object{"factory_id": shop, "sku": "TRAIL-42", "name": "Trail running shoe",
			"price": object{"amount": 12900, "currency": "EUR"}}
		made := into[soldProduct](call(t, secret, http.MethodPost, "/v1/products", body), http.StatusCreated)
		if err := call(t, secret, http.MethodPost, "/v1/products", body).refused(http.StatusConflict,
			"duplicate"); err != nil {
			t.Error(mode, err)
		}
		path := "/v1/products/" + made.ID
		uploaded := into[ownMedia](call(t, secret, http.MethodPost, path+"/photos", declared("image/png", photo)),
			http.StatusCreated)
		if s := send(t, uploaded, photo, "Content-Type", "text/html"); s/100 != 4 {
			t.Errorf("%s: an upload of another type answers %d", mode, s)
		}
		if s := send(t, uploaded, photo); s != http.StatusOK {
			t.Fatalf("%s: the upload answers %d", mode, s)
		}
		into[ownMedia](call(t, secret, http.MethodPost, path+"/photos", object{"source_url": server.URL + "/a.png"}),
			http.StatusCreated)
		into[ownMedia](call(t, secret, http.MethodPost, path+"/photos",
			object{"media_id": bring(t, secret, "image/png", photo), "position": 1}), http.StatusCreated)
		wrong := into[ownMedia](call(t, secret, http.MethodPost, path+"/photos",
			object{"source_url": server.URL + "/a.svg"}), http.StatusCreated)
		var got soldProduct
		poll.Until(t, "the photos", func() bool {
			got = into[soldProduct](call(t, secret, http.MethodGet, path, nil), http.StatusOK)
			n := 0
			for _, p := range got.Photos {
				if p.State != "pending" {
					n++
				}
			}
			return n == 4
		})
		for i, want := range []string{"ready", "ready", "ready", "rejected"} {
			if p := got.Photos[i]; p.State != want || want == "ready" && status(t, *p.URL) != http.StatusOK {
				t.Errorf("%s: photo %d is %+v, %+v", mode, i, p, p.Reason)
			}
		}
		if got.Photos[1].ID != uploaded.ID {
			t.Errorf("%s: the photos are %+v", mode, got.Photos)
		}
		into[ownMedia](call(t, secret, http.MethodDelete, path+"/photos/"+wrong.ID, nil), http.StatusOK)

		promotion := into[struct{ ID, State string }](call(t, secret, http.MethodPost, "/v1/promotions", object{
			"factory_id": shop, "product_ids": []string{made.ID}, "name": "Sale",
			"discount": object{"kind": "percent", "value": 20},
			"ends_at":  time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		}), http.StatusCreated)
		if err := call(t, secret, http.MethodDelete, path, nil).refused(http.StatusConflict,
			"invalid_state"); err != nil {
			t.Error(mode, err)
		}
		if listed := into[[]object](call(t, secret, http.MethodGet, "/v1/promotions?state=active,scheduled&factory_id="+
			shop, nil), http.StatusOK); len(listed) != 1 {
			t.Errorf("%s: running are %v", mode, listed)
		}
		into[object](call(t, secret, http.MethodPatch, "/v1/promotions/"+promotion.ID, object{"state": "ended"}),
			http.StatusOK)
		into[object](call(t, secret, http.MethodPatch, path,
			object{"sku": "TRAIL-43", "price": object{"amount": 9900}}), http.StatusOK)
		if listed := into[[]soldProduct](call(t, secret, http.MethodGet, "/v1/products?sku=TRAIL-43&factory_id="+shop,
			nil), http.StatusOK); len(listed) != 1 || listed[0].ID != made.ID {
			t.Errorf("%s: listed are %+v", mode, listed)
		}
		into[object](call(t, secret, http.MethodDelete, path, nil), http.StatusOK)
		if err := call(t, secret, http.MethodGet, path, nil).refused(http.StatusNotFound, "not_found"); err != nil {
			t.Error(mode, err)
		}
	}
}

// A deleted factory also deletes its products.
func TestTheProductsOfADeletedFactory(t *testing.T) {
	c := newCustomer(t)
	secret := c.test.Secret
	shop := c.shop(t, secret)
	for _, sku := range []string{"A", "B"} {
		into[object](call(t, secret, http.MethodPost, "/v1/products",
			object{"factory_id": shop, "sku": sku, "name": "Shoe", "price": object{"amount": 1, "currency": "EUR"}}),
			http.StatusCreated)
	}
	var page struct {
		Cursor string `json:"next_cursor"`
	}
	if a := call(t, secret, http.MethodGet, "/v1/products?limit=1", nil); json.Unmarshal([]byte(a.Raw), &page) != nil ||
		page.Cursor == "" {
		t.Errorf("the first page of the products: %s", a.Raw)
	}
	into[object](call(t, secret, http.MethodDelete, "/v1/factories/"+shop, nil), http.StatusOK)
	poll.Until(t, "the end of the products", func() bool {
		return len(into[[]object](call(t, secret, http.MethodGet, "/v1/products", nil), http.StatusOK)) == 0
	})
}

// Content presents a product with its photo instead of a generated picture.
func TestContentPresentsAProduct(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(10_000)
	photo := picture(t, 900, 1200)
	for mode, secret := range map[string]string{"live": c.live.Secret, "test": c.test.Secret} {
		shop := c.shop(t, secret)
		made := into[soldProduct](call(t, secret, http.MethodPost, "/v1/products", object{
			"factory_id": shop, "sku": "TRAIL-42", "name": "Trail running shoe",
			"price": object{"amount": 12900, "currency": "EUR"},
		}), http.StatusCreated)
		uploaded := into[ownMedia](call(t, secret, http.MethodPost, "/v1/products/"+made.ID+"/photos",
			declared("image/png", photo)), http.StatusCreated)
		if s := send(t, uploaded, photo); s != http.StatusOK {
			t.Fatalf("%s: the upload answers %d", mode, s)
		}
		poll.Until(t, "the photo", func() bool {
			return into[soldProduct](call(t, secret, http.MethodGet, "/v1/products/"+made.ID, nil),
				http.StatusOK).Photos[0].State == "ready"
		})
		promotion := into[struct{ ID string }](call(t, secret, http.MethodPost, "/v1/promotions", object{
			"factory_id": shop, "product_ids": []string{made.ID}, "name": "Sale",
			"discount": object{"kind": "percent", "value": 20},
			"ends_at":  time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		}), http.StatusCreated)
		type presented struct {
			ID, State   string
			ProductID   *string `json:"product_id"`
			PromotionID *string `json:"promotion_id"`
			Media       []struct{ Role, URL string }
		}
		it := into[presented](call(t, secret, http.MethodPost, "/v1/content-items", object{
			"factory_id": shop, "kind": "post", "prompt": "Our shoe", "product_id": made.ID,
		}), http.StatusAccepted)
		poll.Until(t, "the item", func() bool {
			it = into[presented](call(t, secret, http.MethodGet, "/v1/content-items/"+it.ID, nil), http.StatusOK)
			return it.State != "queued" && it.State != "generating"
		})
		if it.State != "generated" || it.ProductID == nil || *it.ProductID != made.ID || it.PromotionID == nil ||
			*it.PromotionID != promotion.ID {
			t.Errorf("%s: %+v", mode, it)
		}
		if len(it.Media) == 0 || it.Media[0].Role != "final" || status(t, it.Media[0].URL) != http.StatusOK {
			t.Errorf("%s: the media are %+v", mode, it.Media)
		}
		for _, m := range it.Media {
			if m.Role == "still" {
				t.Errorf("%s: a picture was generated: %+v", mode, it.Media)
			}
		}
	}
}
