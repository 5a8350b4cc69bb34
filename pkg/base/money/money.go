// Package money has prices of products, amounts in the smallest unit of a currency of ISO 4217, and finds prices in
// texts of many languages. Parse reads a price, and In finds all in a text.
package money

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Price is a price in the smallest unit of a currency.
type Price struct {
	// In the smallest unit of the currency: 12900 are 129.00 EUR, and 12900 JPY.
	Amount int64 `json:"amount" format:"credits" example:"12900"`
	// ISO 4217 code of the currency.
	Currency string `json:"currency" format:"currency" example:"EUR"`
}

// currencies are the codes of ISO 4217 that are money, by the number of digits of their smallest unit. Funds, metals
// and codes for tests are omitted.
var currencies = map[int]string{
	0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
	2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP " +
		"CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR " +
		"IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN " +
		"NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP " +
		"STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
	3: "BHD IQD JOD KWD LYD OMR TND",
}

var digits = func() map[string]int {
	all := map[string]int{}
	for n, codes := range currencies {
		for code := range strings.FieldsSeq(codes) {
			all[code] = n
		}
	}
	return all
}()

// IsCurrency reports whether a text is the code of a currency.
func IsCurrency(code string) bool {
	_, ok := digits[code]
	return ok
}

// Codes returns the codes of all currencies, in alphabetical order.
func Codes() []string { return slices.Sorted(maps.Keys(digits)) }

// unitOf returns the number of smallest units in one unit of a currency.
func unitOf(code string) int64 {
	unit := int64(1)
	for range digits[code] {
		unit *= 10
	}
	return unit
}

// Decimal returns the number of digits after the point, and the price in the unit of the currency.
func (p Price) Decimal() (scale int, value float64) {
	return digits[p.Currency], float64(p.Amount) / float64(unitOf(p.Currency))
}

// String returns the price with its code, such as 129.00 EUR.
func (p Price) String() string {
	n, unit := digits[p.Currency], unitOf(p.Currency)
	if n == 0 {
		return fmt.Sprintf("%d %s", p.Amount, p.Currency)
	}
	return fmt.Sprintf("%d.%0*d %s", p.Amount/unit, n, p.Amount%unit, p.Currency)
}

// Parse returns the price of a decimal number such as 129.5 in a currency, rounded to its smallest unit. It reports
// whether there is such a price.
func Parse(decimal, currency string) (p Price, ok bool) {
	value, good := new(big.Rat).SetString(strings.TrimSpace(decimal))
	if !good || len(decimal) > 40 || strings.ContainsAny(decimal, "/eExX_") || value.Sign() < 0 ||
		!IsCurrency(currency) {
		return p, false
	}
	value.Mul(value, new(big.Rat).SetInt64(unitOf(currency)))
	amount, err := strconv.ParseInt(value.FloatString(0), 10, 64)
	return Price{amount, currency}, err == nil && amount <= maxAmount
}

// maxAmount is the largest amount of a price.
const maxAmount = 1_000_000_000_000
