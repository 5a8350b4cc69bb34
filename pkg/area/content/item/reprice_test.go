package item

import (
	"testing"

	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/money"
)

// A text keeps its words, and the prices of the product become those of now.
func TestPricesOfTextsAreReplaced(t *testing.T) {
	euros := func(cents int64) money.Price { return money.Price{Amount: cents, Currency: "EUR"} }
	plain := func(cents int64) *Product { return &Product{Name: "Shoe", Price: euros(cents)} }
	sale := func(cents, off int64) *Product {
		return &Product{Name: "Shoe", Price: euros(cents), Promotion: &product.ProductPromotion{ID: "prm_1",
			Discount: product.Discount{Kind: product.Amount, Value: off}}}
	}
	for _, c := range []struct {
		was, now   *Product
		lang       string
		text, want string
	}{
		{plain(12900), plain(13900), "de", "Jetzt für 129 €!", "Jetzt für 139 €!"},
		{plain(12900), plain(13950), "de", "Jetzt für 129,00 €, nur 129 Euro.", "Jetzt für 139,50 €, nur 139,50 Euro."},
		{plain(12900), plain(139900), "en", "Only €129.00 today", "Only €1,399 today"},
		{plain(129990), plain(149990), "ru", "Всего 1 299,90 € за пару", "Всего 1\u00a0499,90 € за пару"},
		{plain(12900), plain(13900), "de", "129 Gramm, Versand ab 50 €", "129 Gramm, Versand ab 50 €"},
		{plain(12900), sale(12900, 3000), "de", "Für 129 € zu haben", "Für 99 € zu haben"},
		{sale(12900, 3000), sale(12900, 4000), "de", "99 € statt 129 €, 30 € weniger, −23 %",
			"89 € statt 129 €, 40 € weniger, −31 %"},
		{sale(12900, 3000), plain(12900), "de", "99 € statt 129 €", ""},
		{sale(12900, 3000), plain(12900), "de", "Jetzt für 129 €", "Jetzt für 129 €"},
		{sale(12900, 3000), plain(12900), "de", "Spart 23 %", ""},
		{sale(12900, 3000), plain(12900), "de", "Ein Schuh für lange Wege", "Ein Schuh für lange Wege"},
		{sale(6000, 3000), sale(6000, 2000), "de", "Nur 30 €", ""}, // the price, or what is saved
		{plain(12900), plain(13900), "ar", "١٢٩ €", ""},
		{plain(12900), &Product{Name: "Shoe", Price: money.Price{Amount: 12900, Currency: "USD"}}, "en", "€129", ""},
	} {
		got, err := newRepricing(c.was, c.now, c.lang).text(c.text)
		if (c.want == "") != (err != nil) || err == nil && got != c.want {
			t.Errorf("%q is %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}
