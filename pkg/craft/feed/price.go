package feed

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/money"
)

// signs are the currencies of signs that have one alone.
var signs = map[string]string{"€": "EUR", "£": "GBP", "₽": "RUB", "₴": "UAH", "₺": "TRY", "₹": "INR", "₪": "ILS",
	"₩": "KRW", "₸": "KZT", "ZŁ": "PLN", "R$": "BRL", "РУБ": "RUB", "РУБ.": "RUB", "RUR": "RUB", "BYR": "BYN"}

// shared are the currencies of signs that several have.
var shared = map[string]string{"$": "USD CAD AUD NZD SGD HKD MXN ARS CLP COP", "¥": "JPY CNY",
	"KR": "SEK NOK DKK ISK", "KR.": "DKK"}

var (
	amount  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\D*?)\s*(\d[\d.,'’\s]*?)\s*(\D*)$`) })
	grouped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9]\d{0,2}[.,]\d{3}$`) })
	whole   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d+|\d{1,3}(\.\d{3})+|\d{1,3}(,\d{3})+)$`)
	})
)

// currencyOf returns the code of a currency or of a sign, of which the fallback may say which one is meant.
func currencyOf(sign, fallback string) (code string, ok bool) {
	sign, fallback = strings.ToUpper(strings.TrimSpace(sign)), strings.ToUpper(strings.TrimSpace(fallback))
	if one, known := signs[fallback]; known {
		fallback = one
	}
	if sign == "" {
		return fallback, money.IsCurrency(fallback)
	}
	if one, known := signs[sign]; known {
		return one, true
	}
	for one := range strings.FieldsSeq(shared[sign]) {
		if one == fallback {
			return one, true
		}
	}
	return sign, money.IsCurrency(sign)
}

// priceOf reads a price such as 15.00 USD, 12,50, 1.299,00 € and 1299.
func priceOf(text, fallback string) (p money.Price, err error) {
	text = strings.Map(plainSpace, strings.TrimSpace(text))
	found := amount().FindStringSubmatch(text)
	if found == nil {
		return p, fmt.Errorf("is %.40q, which is no price. Write it as 15.00 USD", text)
	}
	code, ok := currencyOf(found[1]+found[3], fallback)
	if strings.TrimSpace(found[1]) != "" && strings.TrimSpace(found[3]) != "" || !ok {
		return p, fmt.Errorf("is %.40q, whose currency is not clear. Write its ISO 4217 code behind the amount, as in "+
			"15.00 USD, or set currency of the feed", text)
	}
	number := strings.NewReplacer("'", "", "’", "", " ", "").Replace(found[2])
	scale, _ := money.Price{Currency: code}.Decimal()
	units, fraction, last := number, "", strings.LastIndexAny(number, ".,")
	switch marks := strings.Count(number, ".") + strings.Count(number, ","); {
	case marks == 1 && grouped().MatchString(number) && scale < 3: // the mark is that of thousands, as in 1.299
	case marks == 1 && number[last] == ',' && scale == 3 && grouped().MatchString(number):
		return p, fmt.Errorf("is %.40q, which has two meanings. Write it with a point, as in 1.250 KWD", text)
	case marks == 1, marks > 1 && strings.Count(number, number[last:last+1]) == 1:
		units, fraction = number[:last], number[last+1:]
	}
	kept := fraction[:min(len(fraction), scale)]
	if !whole().MatchString(units) || strings.Trim(fraction[len(kept):], "0") != "" {
		return p, fmt.Errorf("is %.40q, which is no amount of %s", text, code)
	}
	p, ok = money.Parse(strings.NewReplacer(".", "", ",", "").Replace(units)+"."+kept+"0", code)
	if !ok {
		return p, fmt.Errorf("is %.40q, which is more than a price may be", text)
	}
	return p, nil
}

// plainSpace makes a plain space of others.
func plainSpace(r rune) rune {
	switch r {
	case '\u00a0', '\u202f', '\u2009', '\t':
		return ' '
	}
	return r
}

// The layouts of times, with a zone and without.
var (
	zoned = []string{"2006-01-02T15:04Z0700", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", time.RFC3339Nano,
		"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05Z07:00"}
	local = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04",
		time.DateOnly,
		"02.01.2006 15:04", "02.01.2006"}
)

// timeOf reads a time of ISO 8601. A day alone begins or ends it.
func timeOf(text string, zone *time.Location, ends bool) (at time.Time, err error) {
	if text = strings.TrimSpace(text); text == "" {
		return at, nil
	}
	for _, layout := range zoned {
		if at, err = time.Parse(layout, text); err == nil {
			return at.UTC(), bounded(at, text)
		}
	}
	if zone == nil {
		zone = time.UTC
	}
	for _, layout := range local {
		if at, err = time.ParseInLocation(layout, text, zone); err != nil {
			continue
		}
		if ends && (layout == time.DateOnly || layout == "02.01.2006") {
			at = at.AddDate(0, 0, 1)
		}
		return at.UTC(), bounded(at, text)
	}
	return at, fmt.Errorf("is %.40q, which is no time. Write it as 2026-11-27T00:00+0100", text)
}

// bounded refuses times that no promotion has.
func bounded(at time.Time, text string) error {
	if y := at.Year(); y < 2000 || y > 2100 {
		return fmt.Errorf("is %.40q, which is not between 2000 and 2100", text)
	}
	return nil
}

// periodOf reads the two times of a sale, which a slash separates.
func periodOf(text string, zone *time.Location) (from, until time.Time, err error) {
	if strings.TrimSpace(text) == "" {
		return from, until, nil
	}
	first, last, ok := strings.Cut(text, "/")
	if !ok {
		return from, until, fmt.Errorf("is %.60q. Write the first and the last time with a slash between them, as in "+
			"2026-11-27T00:00+0100/2026-11-30T23:59+0100", text)
	}
	if from, err = timeOf(first, zone, false); err == nil {
		until, err = timeOf(last, zone, true)
	}
	if err == nil && !from.IsZero() && !until.IsZero() && !until.After(from) {
		err = fmt.Errorf("is %.60q, which ends before it begins", text)
	}
	return from, until, err
}
