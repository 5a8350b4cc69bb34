package money

import (
	"strings"
	"testing"

	"golang.org/x/text/currency"
)

// The library has the currencies of 2017, and those must have the same digits here.
func TestTheCurrenciesAreThoseOfISO4217(t *testing.T) {
	known := 0
	for code, n := range digits {
		if len(code) != 3 || strings.ToUpper(code) != code {
			t.Errorf("%q is no code", code)
		}
		unit, err := currency.ParseISO(code)
		if err != nil {
			continue
		}
		known++
		// CLDR leaves out the units of ISO 4217 that are no means of payment.
		unused := strings.Contains("AFN ALL AMD COP GYD IDR IQD IRR KPW LAK LBP MGA MMK MNT MUR PKR RSD SOS SYP TZS "+
			"UZS YER", code)
		if scale, _ := currency.Standard.Rounding(unit); scale != n && !unused {
			t.Errorf("%s has %d digits, and the library says %d", code, n, scale)
		}
	}
	if len(digits) < 150 || known < 145 {
		t.Errorf("there are %d currencies, of which the library knows %d", len(digits), known)
	}
	for _, code := range []string{"XXX", "XAU", "XTS", "DEM", "eur", "EURO", ""} {
		if IsCurrency(code) {
			t.Errorf("%q is taken for money", code)
		}
	}
}

func TestPricesAreShownInTheirUnit(t *testing.T) {
	for want, p := range map[string]Price{
		"129.00 EUR": {12900, "EUR"}, "0.05 USD": {5, "USD"}, "12900 JPY": {12900, "JPY"}, "1.250 KWD": {1250, "KWD"},
		"0.00 EUR": {0, "EUR"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is shown as %s", p, got)
		}
	}
}

func TestDecimalNumbersAreParsed(t *testing.T) {
	for text, want := range map[string]Price{
		"129.5 EUR": {12950, "EUR"}, "129 EUR": {12900, "EUR"}, "12900.0000 RUB": {1290000, "RUB"},
		"0.005 EUR": {1, "EUR"}, "129.5 JPY": {130, "JPY"}, "1.2345 KWD": {1235, "KWD"}, "0 EUR": {0, "EUR"},
	} {
		decimal, currency, _ := strings.Cut(text, " ")
		if got, ok := Parse(decimal, currency); !ok || got != want {
			t.Errorf("%s is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{" EUR", "-1 EUR", "1/2 EUR", "1e3 EUR", "many EUR", "1 XXX", "1 ", "99999999999 EUR"} {
		decimal, currency, _ := strings.Cut(text, " ")
		if got, ok := Parse(decimal, currency); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
