package base_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/money"
)

func TestPricesAreWrittenAsInTheirMarket(t *testing.T) {
	for _, c := range []struct {
		amount               int64
		currency, tag, shown string
	}{
		{12990, "EUR", "de", "129,90 €"}, {12900, "EUR", "de-DE", "129 €"}, {12990, "EUR", "nl", "€ 129,90"},
		{12990, "EUR", "fr", "129,90 €"}, {12990, "EUR", "de-AT", "€ 129,90"},
		{129099, "USD", "en", "$1,290.99"}, {129000, "GBP", "en-GB", "£1,290"}, {129000, "RUB", "ru", "1 290 ₽"},
		{12990, "JPY", "ja", "￥12,990"}, {12990, "KRW", "ko", "₩12,990"}, {12990000, "INR", "hi", "₹1,29,900"},
		{129050, "BRL", "pt-BR", "R$ 1.290,50"}, {12990, "PLN", "pl", "129,90 zł"}, {1250, "KWD", "en", "KWD 1.250"},
		{12990, "CHF", "en", "CHF 129.90"}, {12990, "EUR", "not a tag", "€129.90"},
	} {
		got := strings.NewReplacer("\u00a0", " ", "\u202f", " ", "¥", "￥").Replace(money.Price{Amount: c.amount,
			Currency: c.currency}.In(c.tag))
		if got != c.shown {
			t.Errorf("%d %s in %s is %s, not %s", c.amount, c.currency, c.tag, got, c.shown)
		}
	}
}

// The guards of texts must read what the writer was told.
func TestPricesOfMarketsAreRead(t *testing.T) {
	for _, tag := range []string{"en", "de", "de-AT", "fr", "it", "es", "pl", "pt-BR", "ru", "nl", "tr", "cs", "sv", "ja",
		"ko", "zh"} {
		for _, p := range []money.Price{{Amount: 12990, Currency: "EUR"}, {Amount: 12900, Currency: "EUR"},
			{Amount: 129050, Currency: "USD"}, {Amount: 129000, Currency: "RUB"}, {Amount: 1234567, Currency: "PLN"},
			{Amount: 12990, Currency: "JPY"}, {Amount: 12990, Currency: "CHF"}} {
			text := "Now " + p.In(tag) + " only"
			found := false
			for _, s := range money.In(text) {
				found = found || slices.Contains(s.Means(), p)
			}
			if !found {
				t.Errorf("%s: %q is not read as %s", tag, text, p)
			}
		}
	}
}
