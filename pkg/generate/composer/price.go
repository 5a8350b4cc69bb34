package composer

import (
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/content-automation/api/pkg/base/money"
)

// first are the languages, and language and region, that write the sign of a currency before the number, with the
// characters between them. All others write it after the number and a space. golang.org/x/text has no such patterns.
var first = map[string]string{
	"en": "", "ja": "", "zh": "", "ko": "", "th": "", "hi": "", "bn": "", "fil": "", "ms": "", "ta": "", "te": "",
	"mr": "", "gu": "", "kn": "", "ml": "", "pa": "", "ur": "", "sw": "",
	"id": "\u00a0", "nl": "\u00a0", "tr": "", "pt-BR": "\u00a0", "de-CH": "\u00a0", "de-AT": "\u00a0", "nb": "\u00a0",
	"es-MX": "", "es-US": "", "es-AR": "\u00a0", "es-CO": "\u00a0", "es-CL": "", "es-PE": "\u00a0",
}

// signs are the signs of currencies for which the library has only their codes.
var signs = map[string]string{"RUB": "₽", "CHF": "CHF", "PLN": "zł", "CZK": "Kč", "HUF": "Ft", "SEK": "kr", "NOK": "kr",
	"DKK": "kr", "TRY": "₺", "KZT": "₸", "BYN": "Br", "UAH": "₴", "THB": "฿"}

// shown returns a price as a market writes it: in the digits and separators of its language, with the sign of the
// currency. It leaves out the fraction of a whole price.
func shown(p *money.Price, tag string) string {
	if p == nil {
		return ""
	}
	lang, err := language.Parse(tag)
	if err != nil {
		lang = language.English
	}
	print := message.NewPrinter(lang)
	scale, value := p.Decimal()
	if value == float64(int64(value)) {
		scale = 0
	}
	digits := print.Sprint(number.Decimal(value, number.Scale(scale)))
	sign := signs[p.Currency]
	if unit, err := currency.ParseISO(p.Currency); err == nil && sign == "" {
		sign = print.Sprint(currency.NarrowSymbol(unit))
	}
	if sign == "" {
		sign = p.Currency
	}
	base, _ := lang.Base()
	region, _ := lang.Region()
	between, before := first[base.String()+"-"+region.String()]
	if !before {
		between, before = first[base.String()]
	}
	if !before {
		return digits + "\u00a0" + sign
	}
	if sign == p.Currency {
		between = "\u00a0"
	}
	return sign + between + digits
}
