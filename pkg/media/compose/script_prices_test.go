package compose_test

import (
	"testing"

	"golang.org/x/text/currency"

	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// Every currency is seen in a price: by its sign if a font has it, or else by its code. Languages with digits that no
// font has are drawn as English.
func TestPricesAreDrawn(t *testing.T) {
	languages := []string{"en", "de", "fr", "es", "pt-BR", "ru", "uk", "pl", "tr", "ar", "fa", "ur", "he", "hi", "mr", "th",
		"zh", "zh-TW", "ja", "ko", "vi", "id", "el", "kk", "de-CH", "sr", "hy", "ka", "km", "lo", "gu", "ta"}
	for all := currency.Query(currency.Historical); all.Next(); {
		code := all.Unit().String()
		for _, lang := range languages {
			price, ok := money.Parse("1299.00", code)
			if !ok {
				continue
			}
			said := price.In(lang)
			if lack, missing := script.Missing(said); missing {
				t.Errorf("%s in %s is %q: %c (%U)", code, lang, said, lack.Char, lack.Char)
			}
		}
	}
	for code, want := range map[string]string{"BDT": "BDT\u00a01,299", "KHR": "KHR\u00a01,299", "EUR": "€1,299",
		"NGN": "₦1,299", "LAK": "₭1,299"} {
		price, _ := money.Parse("1299.00", code)
		if got := price.In("en"); got != want {
			t.Errorf("%s is %q, not %q", code, got, want)
		}
	}
}
