package goods

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/currency"

	"github.com/content-automation/api/pkg/resource"
)

// The library knows the money of 2017; what it knows must have the same digits here.
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
		// CLDR leaves out the units of ISO 4217 that nobody pays with.
		unused := strings.Contains("AFN ALL AMD COP GYD IDR IQD IRR KPW LAK LBP MGA MMK MNT MUR PKR RSD SOS SYP TZS UZS YER", code)
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
		"129.00 EUR": {12900, "EUR"}, "0.05 USD": {5, "USD"}, "12900 JPY": {12900, "JPY"}, "1.250 KWD": {1250, "KWD"}, "0.00 EUR": {0, "EUR"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is shown as %s", p, got)
		}
	}
}

func TestADiscountNeverMakesAPriceNegative(t *testing.T) {
	for _, c := range []struct {
		d           Discount
		price, want int64
	}{
		{Discount{Percent, 20}, 12900, 10320}, {Discount{Percent, 100}, 12900, 0}, {Discount{Percent, 33}, 999, 669}, {Discount{Percent, 50}, 1, 1},
		{Discount{Amount, 900}, 12900, 12000}, {Discount{Amount, 12901}, 12900, 0}, {Discount{Percent, 1}, 1_000_000_000_000, 990_000_000_000},
	} {
		if got := c.d.Of(Price{c.price, "EUR"}); got.Amount != c.want || got.Currency != "EUR" {
			t.Errorf("%+v of %d is %v", c.d, c.price, got)
		}
	}
}

// Ended promotions leave a product with the next change, and the cheapest of the running
// ones comes first.
func TestTheRunningPromotionsOfAProduct(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(hours int) resource.Time { return resource.Instant(now.Add(time.Duration(hours) * time.Hour)) }
	r := &Record{Product: Product{Price: Price{10000, "EUR"}}}
	for _, p := range []Promotion{
		{Resource: resource.Resource{ID: "ended"}, StartsAt: at(-2), EndsAt: at(0), Discount: Discount{Percent, 90}},
		{Resource: resource.Resource{ID: "small"}, StartsAt: at(-1), EndsAt: at(1), Discount: Discount{Percent, 10}},
		{Resource: resource.Resource{ID: "large"}, StartsAt: at(0), EndsAt: at(1), Discount: Discount{Amount, 2000}},
		{Resource: resource.Resource{ID: "later"}, StartsAt: at(1), EndsAt: at(2), Discount: Discount{Percent, 99}},
	} {
		r.Include(&p, now.Add(-time.Minute))
	}
	running := r.Running(now)
	if len(running) != 2 || running[0].ID != "large" || running[1].ID != "small" {
		t.Errorf("running are %+v", running)
	}
	r.Exclude("small", now)
	if len(r.Promotions) != 2 || r.Promotions[0].ID != "large" || r.Promotions[1].ID != "later" {
		t.Errorf("left are %+v", r.Promotions)
	}
}
