package feed

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/money"
)

// former are currencies by codes that feeds still have, and by signs of several of which one is meant by nearly all.
var former = map[string]string{"RUR": "RUB", "BYR": "BYN", "£": "GBP", "РУБ": "RUB"}

var (
	amount  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\D*?)\s*(\d[\d.,'\s]*?)\s*(\D*)$`) })
	grouped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9]\d{0,2}[.,]\d{3}$`) })
	whole   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d+|\d{1,3}((\.\d{3})+|(,\d{3})+|([ ']\d{3})+)|\d{1,2}(,\d{2})+,\d{3})$`)
	})
	// dash matches the mark of a price without cents, as in 12,- €.
	dash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d)[.,][-–—]{1,2}(\D*)$`) })
)

// coinless are currencies whose prices have no decimals, although ISO 4217 gives them some.
var coinless = []string{"COP", "HUF", "IDR", "IRR", "LAK", "LBP", "MMK", "TZS", "UZS"}

// currencyOf returns the code of a currency or of a sign, of which the fallback may say which one is meant.
func currencyOf(sign, fallback string) (code string, ok bool) {
	sign, fallback = strings.ToUpper(strings.TrimSpace(sign)), strings.ToUpper(strings.TrimSpace(fallback))
	fallback = cmp.Or(former[fallback], fallback)
	if sign == "" {
		return fallback, money.IsCurrency(fallback)
	}
	sign = strings.TrimSuffix(sign, ".")
	switch codes := money.Named(sign); {
	case len(codes) == 1:
		return codes[0], true
	case slices.Contains(codes, fallback):
		return fallback, true
	}
	return former[sign], former[sign] != ""
}

// price reads a price such as 15.00 USD, 12,50, 1.299,00 € and 1299. The point of 1.299 is one of thousands in the
// format CSV, and for currencies without decimals: the other formats have a point before decimals.
func (p *parser) price(text, fallback string) (of money.Price, err error) {
	plain := dash().ReplaceAllString(strings.Join(strings.Fields(strings.Map(plainSpace, text)), " "), "$1$2")
	found := amount().FindStringSubmatch(plain)
	if found == nil {
		return of, fmt.Errorf("is %.40q, which is no price. Write it as 15.00 USD", text)
	}
	if strings.ContainsAny(found[1], "-−") {
		return of, fmt.Errorf("is %.40q, which is below 0", text)
	}
	code, ok := currencyOf(found[1]+found[3], fallback)
	if before := strings.TrimSpace(found[1]); before != "" && found[3] != "" { // as in $15.00 USD
		code, ok = currencyOf(found[3], fallback)
		same, agrees := currencyOf(before, code)
		ok = ok && agrees && same == code
	}
	if !ok {
		return of, fmt.Errorf("is %.40q, whose currency is not clear. Write its ISO 4217 code behind the amount, as "+
			"in 15.00 USD, or set currency of the feed", text)
	}
	number := found[2]
	scale, _ := money.Price{Currency: code}.Decimal()
	units, fraction, last := number, "", strings.LastIndexAny(number, ".,")
	switch marks := strings.Count(number, ".") + strings.Count(number, ","); {
	case marks == 1 && (p.Format == CSV || number[last] == ',' || p.Format != JSONLines && (scale == 0 ||
		slices.Contains(coinless, code))) && scale < 3 && grouped().MatchString(number):
	case marks == 1 && number[last] == ',' && scale == 3 && grouped().MatchString(number):
		return of, fmt.Errorf("is %.40q, which has two meanings. Write it with a point, as in 1.250 KWD", text)
	case marks == 1, marks > 1 && strings.Count(number, number[last:last+1]) == 1:
		units, fraction = number[:last], number[last+1:]
	}
	kept := fraction[:min(len(fraction), scale)]
	if !whole().MatchString(units) || strings.Trim(kept, "0123456789") != "" ||
		strings.Trim(fraction[len(kept):], "0") != "" {
		return of, fmt.Errorf("is %.40q, which is no amount of %s", text, code)
	}
	of, ok = money.Parse(strings.NewReplacer(".", "", ",", "", " ", "", "'", "").Replace(units)+"."+kept+"0", code)
	if !ok {
		return of, fmt.Errorf("is %.40q, which is more than a price may be", text)
	}
	return of, nil
}

// plainSpace makes a plain space of others, and a plain apostrophe.
func plainSpace(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case strings.ContainsRune("’‘ʼ´`", r):
		return '\''
	}
	return r
}

// moment matches a time: a day, or one with hours, in ISO 8601 or with points, and its zone if it has one.
var moment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(\d{4})-?(\d{2})-?(\d{2})|(\d{2})\.(\d{2})\.(\d{4}))` +
		`(?:[T ] ?(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?)?)? ?(Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?$`)
})

// timeOf reads a time of ISO 8601. A day alone begins or ends it.
func timeOf(text string, zone *time.Location, ends bool) (at time.Time, err error) {
	if text = strings.TrimSpace(text); text == "" {
		return at, nil
	}
	wrong := fmt.Errorf("is %.40q, which is no time. Write it as 2026-11-27T00:00+0100", text)
	m := moment().FindStringSubmatch(strings.ReplaceAll(text, "−", "-"))
	if m == nil {
		return at, wrong
	}
	hour, minute, second := cmp.Or(m[7], "00"), cmp.Or(m[8], "00"), cmp.Or(m[9], "00")
	next := m[7] == "" && ends
	if hour+minute+second == "240000" {
		hour, next = "00", true
	}
	switch of := strings.ReplaceAll(strings.ToUpper(m[10]), ":", ""); {
	case of == "" && zone == nil, strings.ContainsAny(of, "ZTG"):
		zone = time.UTC
	case of != "":
		hours, _ := strconv.Atoi(of[:3])
		minutes, _ := strconv.Atoi(of[:1] + (of + "00")[3:5])
		if hours < -14 || hours > 14 || minutes < -59 || minutes > 59 {
			return at, wrong
		}
		zone = time.FixedZone("", (hours*60+minutes)*60)
	}
	at, err = time.Parse(time.DateTime,
		fmt.Sprintf("%s-%s-%s %s:%s:%s", m[1]+m[6], m[2]+m[5], m[3]+m[4], hour, minute, second))
	switch y := at.Year(); {
	case err != nil:
		return at, wrong
	case y < 2000 || y > 2100:
		return at, fmt.Errorf("is %.40q, which is not between 2000 and 2100", text)
	case next:
		at = at.AddDate(0, 0, 1)
	}
	return clock.Instant(at, zone).UTC(), nil
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
