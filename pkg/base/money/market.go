package money

import (
	"strings"
	"unicode"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	cldr "golang.org/x/text/number"
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

// unseen are the scripts of signs that the fonts of finished media lack, such as ৳. Such a currency has its code, which
// CLDR has for a sign that cannot be shown. A test of package script compares them with the fonts.
var unseen = []*unicode.RangeTable{unicode.Bengali, unicode.Khmer, unicode.Armenian, unicode.Georgian, unicode.Gujarati,
	unicode.Gurmukhi, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Lao,
	unicode.Myanmar, unicode.Ethiopic, unicode.Nko}

// In returns the price as a market writes it (CLDR): in the digits and separators of its language (BCP 47), with the
// sign of the currency, such as 129,90 € and ₹1,29,900. It leaves out the fraction of a whole price. The space before a
// sign is a no-break space.
func (p Price) In(tag string) string {
	lang, err := language.Parse(tag)
	if err != nil {
		lang = language.English
	}
	print := message.NewPrinter(lang)
	scale, value := p.Decimal()
	if value == float64(int64(value)) {
		scale = 0
	}
	digits := print.Sprint(cldr.Decimal(value, cldr.Scale(scale)))
	sign := signs[p.Currency]
	if unit, err := currency.ParseISO(p.Currency); err == nil && sign == "" {
		sign = print.Sprint(currency.NarrowSymbol(unit))
	}
	if sign == "" || strings.ContainsFunc(sign, func(r rune) bool { return unicode.In(r, unseen...) }) {
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
