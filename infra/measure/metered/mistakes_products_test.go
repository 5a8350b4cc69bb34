package metered

import (
	"testing"

	record "github.com/content-automation/api/pkg/area/product"
)

// goodsMistakes are the mistakes about products and promotions.
var goodsMistakes = []any{
	title("Products and promotions"),
	mistake{"a product of a brand", "POST /v1/products",
		`{"factory_id":"{factory}","sku":"BOOT-2","name":"Boot","price":{"amount":9900,"currency":"EUR"}}`, nil},
	mistake{"a SKU that another product has", "POST /v1/products",
		`{"factory_id":"{seller}","sku":"BOOT-1","name":"Boot","price":{"amount":9900,"currency":"EUR"}}`, nil},
	mistake{"a negative price in no currency", "POST /v1/products",
		`{"factory_id":"{seller}","sku":"BOOT-2","name":"Boot","price":{"amount":-1,"currency":"EUX"}}`, nil},
	mistake{"a price with a fraction", "POST /v1/products",
		`{"factory_id":"{seller}","sku":"BOOT-2","name":"Boot","price":{"amount":99.5,"currency":"EUR"}}`, nil},
	mistake{"a price that is a text", "POST /v1/products",
		`{"factory_id":"{seller}","sku":"BOOT-2","name":"Boot","price":"99 €"}`, nil},
	mistake{"a price that is a number", "POST /v1/products",
		`{"factory_id":"{seller}","sku":"BOOT-2","name":"Boot","price":12.9}`, nil},
	mistake{"photos with the product", "POST /v1/products",
		`{"factory_id":"{seller}","sku":"BOOT-2","name":"Boot","price":{"amount":9900,"currency":"EUR"},"photos":["https://example.com/boot.jpg"]}`, nil},
	mistake{"a SKU without its factory", "GET /v1/products?sku=BOOT-1", "", nil},
	mistake{"another factory for a product", "PATCH /v1/products/{product}", `{"factory_id":"{factory}"}`, nil},
	mistake{"photos in an order that lacks one", "PATCH /v1/products/{full}", `{"photo_ids":["{photo}"]}`, nil},
	mistake{"a photo without a file", "POST /v1/products/{product}/photos", `{}`, nil},
	mistake{"an SVG as a photo", "POST /v1/products/{product}/photos",
		`{"mime_type":"image/svg+xml","bytes":1000,"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}`, nil},
	mistake{"a photo of 30 MB", "POST /v1/products/{product}/photos",
		`{"mime_type":"image/png","bytes":30000000,"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}`, nil},
	mistake{"a photo at a private address", "POST /v1/products/{product}/photos",
		`{"source_url":"https://10.0.0.1/boot.jpg"}`, nil},
	mistake{"a photo of a media that there is not", "POST /v1/products/{product}/photos",
		`{"media_id":"med_01h455vb4pex5vsknk084sn02q"}`, nil},
	mistake{"an eleventh photo", "POST /v1/products/{full}/photos",
		`{"source_url":"https://93.184.215.14/boot.jpg"}`, nil},
	mistake{"a promotion of another factory's product", "POST /v1/promotions",
		`{"factory_id":"{other}","product_ids":["{product}"],"name":"Sale","discount":{"kind":"percent","value":20},"ends_at":"2099-01-01T00:00:00Z"}`, nil},
	mistake{"a promotion that ends before it starts", "POST /v1/promotions",
		`{"factory_id":"{seller}","product_ids":["{product}"],"name":"Sale","discount":{"kind":"percent","value":20},"starts_at":"2099-01-02T00:00:00Z","ends_at":"2099-01-01T00:00:00Z"}`, nil},
	mistake{"a discount of more than the price", "POST /v1/promotions",
		`{"factory_id":"{seller}","product_ids":["{product}"],"name":"Sale","discount":{"kind":"amount","value":9901},"ends_at":"2099-01-01T00:00:00Z"}`, nil},
	mistake{"a discount of 120 percent on nothing", "POST /v1/promotions",
		`{"factory_id":"{seller}","product_ids":[],"name":"Sale","discount":{"kind":"percent","value":120},"ends_at":"2099-01-01T00:00:00Z"}`, nil},
	mistake{"deleting a product of a promotion", "DELETE /v1/products/{promoted}", "", nil},
	mistake{"a price below the discount of a promotion", "PATCH /v1/products/{promoted}",
		`{"price":{"amount":100}}`, nil},
	mistake{"a promotion that has ended", "PATCH /v1/promotions/{ended}", `{"name":"Sale!"}`, nil},
	mistake{"an item about another factory's product", "POST /v1/content-items",
		`{"factory_id":"{other}","kind":"post","prompt":"A boot","product_id":"{product}"}`, nil},
	mistake{"an item about a promotion without its product", "POST /v1/content-items",
		`{"factory_id":"{seller}","kind":"post","prompt":"A boot","promotion_id":"{promotion}"}`, nil},
	mistake{"an item about a promotion of another product", "POST /v1/content-items",
		`{"factory_id":"{seller}","kind":"post","prompt":"A boot","product_id":"{product}","promotion_id":"{promotion}"}`, nil},
	mistake{"a plan of products for a brand", "POST /v1/factories/{factory}/content-plan",
		`{"days":7,"posts_per_day":1,"product_ids":["{product}"],"starts_on":"2099-01-01"}`, nil},
}

// createProducts creates the products and promotions that these mistakes refer to.
func (w *World) createProducts(t *testing.T, names map[string]string, create func(Request) string) {
	t.Helper()
	product := func(sku string) string {
		return create(Request{Operation: "createProduct", Body: Object{"factory_id": w.seller, "sku": sku,
			"name": "Boot", "price": Object{"amount": 9900, "currency": "EUR"}}})
	}
	promotion := func(product string) string {
		return create(Request{Operation: "createPromotion", Body: Object{
			"factory_id": w.seller, "product_ids": []string{product}, "name": "Sale",
			"discount": Object{"kind": "amount", "value": 500}, "ends_at": "2099-01-01T00:00:00Z",
		}})
	}
	other, err := w.Seller(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	names["seller"], names["other"] = w.seller, other
	names["product"], names["full"], names["promoted"] = product("BOOT-1"), product("BOOT-3"), product("BOOT-4")
	for range record.MaxPhotos {
		names["photo"] = create(Request{Operation: "addProductPhoto", ID: names["full"],
			Body: w.Examples()["addProductPhoto"].Body})
	}
	names["promotion"], names["ended"] = promotion(names["promoted"]), promotion(names["product"])
	create(Request{Operation: "updatePromotion", ID: names["ended"], Body: Object{"state": "ended"}})
}
