package base_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/money"
	"golang.org/x/text/currency"
)

// The library has the currencies of 2017, and those must have the same digits here.
func TestTheCurrenciesAreThoseOfISO4217(t *testing.T) {
	known := 0
	for _, code := range money.Codes() {
		n, _ := money.Price{Currency: code}.Decimal()
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
	if len(money.Codes()) < 150 || known < 145 {
		t.Errorf("there are %d currencies, of which the library knows %d", len(money.Codes()), known)
	}
	for _, code := range []string{"XXX", "XAU", "XTS", "DEM", "eur", "EURO", ""} {
		if money.IsCurrency(code) {
			t.Errorf("%q is taken for money", code)
		}
	}
}

func TestPricesAreShownInTheirUnit(t *testing.T) {
	for want, p := range map[string]money.Price{
		"129.00 EUR": {Amount: 12900, Currency: "EUR"}, "0.05 USD": {Amount: 5, Currency: "USD"},
		"12900 JPY": {Amount: 12900, Currency: "JPY"}, "1.250 KWD": {Amount: 1250, Currency: "KWD"},
		"0.00 EUR": {Amount: 0, Currency: "EUR"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is shown as %s", p, got)
		}
	}
}

func TestDecimalNumbersAreParsed(t *testing.T) {
	for text, want := range map[string]money.Price{
		"129.5 EUR": {Amount: 12950, Currency: "EUR"}, "129 EUR": {Amount: 12900, Currency: "EUR"}, "12900.0000 RUB": {Amount: 1290000, Currency: "RUB"},
		"0.005 EUR": {Amount: 1, Currency: "EUR"}, "129.5 JPY": {Amount: 130, Currency: "JPY"},
		"1.2345 KWD": {Amount: 1235, Currency: "KWD"}, "0 EUR": {Amount: 0, Currency: "EUR"},
	} {
		decimal, currency, _ := strings.Cut(text, " ")
		if got, ok := money.Parse(decimal, currency); !ok || got != want {
			t.Errorf("%s is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{" EUR", "-1 EUR", "1/2 EUR", "1e3 EUR", "many EUR", "1 XXX", "1 ", "99999999999 EUR"} {
		decimal, currency, _ := strings.Cut(text, " ")
		if got, ok := money.Parse(decimal, currency); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
