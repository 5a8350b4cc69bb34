// Package calendar knows the seasons, the public holidays, the commercial dates and the time zones of countries, and
// the days of trades, for plans of content.
//
// The countries are the 60 of zones.tsv. public.tsv has the days that a whole country has by its law as of 2026,
// regions.tsv those of its regions (ISO 3166-2), which cities.tsv tells by names, and days.tsv those on which people
// celebrate or give presents, and what trades have. A line has countries (ISO 3166-1), a rule, a name and the kinds
// that the day concerns: types of factories and kinds of business, or, with !, those that it does not. * is all, of
// which !XX leaves one out, and @seller factories of a type. Rules are 12-25,
// 5.2sun (second Sunday of May), 5.-1mon (last Monday of May), easter-2, orthodox+1 and advent+7 (days after the first
// Sunday of Advent), to which days may be added, or dates of single years for what follows another calendar: Islamic,
// Jewish, Hindu and Chinese ones, from 2026 to 2035. Islamic days may move by one with the sight of the moon. The
// public holidays of 2026 to 2030 agree with the Python package holidays, version 0.109: see testdata/generate.py.
// Start with Days.
package calendar

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/language"
)

// public, others and zones are tables of tab-separated values.
//
//go:embed public.tsv
var public string

//go:embed days.tsv
var others string

//go:embed zones.tsv
var zones string

// regional has the days of regions, and cities the names by which texts tell a region.
//
//go:embed regions.tsv
var regional string

//go:embed cities.tsv
var cities string

// day is a line of a table.
type day struct {
	places []string
	rule   string
	name   string
	kinds  []string
}

// Place is whose days are asked for. What is not known is empty.
type Place struct {
	// Country (ISO 3166-1), and Region (ISO 3166-2), such as DE-BY.
	Country, Region string
	// Trade is the type of the factory, and Business the kind of its business.
	Trade, Business string
}

// in reports whether a place has the day, and the day concerns its trade or business.
func (d *day) in(p Place) bool {
	switch {
	case strings.HasPrefix(d.places[0], "@"):
		return d.places[0][1:] == p.Trade
	case !d.concerns(p):
		return false
	case d.places[0] == "*":
		return !slices.Contains(d.places, "!"+p.Country)
	}
	return slices.Contains(d.places, p.Country) || p.Region != "" && slices.Contains(d.places, p.Region)
}

// concerns reports whether the day is one of a trade or business. If neither is known, each day is.
func (d *day) concerns(p Place) bool {
	if len(d.kinds) == 0 || p.Trade == "" && p.Business == "" {
		return true
	}
	if strings.HasPrefix(d.kinds[0], "!") {
		return !slices.Contains(d.kinds, "!"+p.Business)
	}
	return slices.Contains(d.kinds, p.Trade) || slices.Contains(d.kinds, p.Business)
}

// days are the lines of both tables: those of single countries first, so that they come before days of all.
var days = sync.OnceValue(func() (all []day) {
	var everywhere []day
	for line := range strings.Lines(public + regional + others) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		d := day{places: strings.Fields(cells[0]), rule: cells[1], name: cells[2]}
		if len(cells) > 3 {
			d.kinds = strings.Fields(cells[3])
		}
		if strings.ContainsAny(cells[0], "*@") {
			everywhere = append(everywhere, d)
		} else {
			all = append(all, d)
		}
	}
	return append(all, everywhere...)
})

// zonesOf are the time zones of countries: that of most people first.
var zonesOf = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(zones) {
		country, names, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all[country] = strings.Fields(names)
	}
	return all
})

// Days returns the days that are celebrated in a place on a date, and that concern its trade or business: public
// holidays first. Without a country they are those of all.
func Days(date time.Time, p Place) (names []string) {
	for _, d := range on(date.Year())[date.Format("0102")] {
		if d.in(p) && !slices.Contains(names, d.name) {
			names = append(names, d.name)
		}
	}
	return names
}

// Region returns the region of a country that one of the texts names, or one of its cities, or nothing.
func Region(country string, texts ...string) string {
	named := map[string]bool{}
	for _, text := range texts {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
			named[word] = true
		}
	}
	for line := range strings.Lines(cities) {
		region, names, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(region, country+"-") && country != "" &&
			slices.ContainsFunc(strings.Fields(names), func(name string) bool { return named[name] }) {
			return region
		}
	}
	return ""
}

// on returns the days of a year by their date.
func on(year int) map[string][]*day {
	if all, known := years.Load(year); known {
		return all.(map[string][]*day)
	}
	all := map[string][]*day{}
	for i, d := range days() {
		for _, at := range dates(d.rule, year) {
			all[at.Format("0102")] = append(all[at.Format("0102")], &days()[i])
		}
	}
	years.Store(year, all)
	return all
}

// years has the results of on, by their years.
var years sync.Map

// dates returns the dates of a rule in a year.
func dates(rule string, year int) (all []time.Time) {
	if len(rule) >= len("20260101") && !strings.ContainsAny(rule, ".+-") {
		for text := range strings.FieldsSeq(rule) {
			if at, err := time.Parse("20060102", text); err == nil && at.Year() == year {
				all = append(all, at)
			}
		}
		return all
	}
	base, plus, _ := strings.Cut(rule, "+")
	offset, _ := strconv.Atoi(plus)
	at := time.Time{}
	switch name, minus, _ := strings.Cut(base, "-"); name {
	case "easter":
		at, offset = easterSunday(year), offset-number(minus)
	case "orthodox":
		at, offset = orthodoxEaster(year), offset-number(minus)
	case "advent":
		christmas := time.Date(year, time.December, 25, 0, 0, 0, 0, time.UTC)
		at = christmas.AddDate(0, 0, -21-(int(christmas.Weekday())+6)%7-1)
	default:
		if !strings.Contains(base, ".") {
			at = time.Date(year, time.Month(number(name)), number(minus), 0, 0, 0, 0, time.UTC)
			break
		}
		at = nth(base, year)
	}
	return []time.Time{at.AddDate(0, 0, offset)}
}

// nth returns the date of a rule such as 5.2sun or 5.-1mon in a year.
func nth(rule string, year int) time.Time {
	month, rest, _ := strings.Cut(rule, ".")
	n, weekday := number(rest[:len(rest)-3]), strings.Index("sunmontuewedthufrisat", rest[len(rest)-3:])/3
	if n > 0 {
		first := time.Date(year, time.Month(number(month)), 1, 0, 0, 0, 0, time.UTC)
		return first.AddDate(0, 0, (weekday-int(first.Weekday())+7)%7+7*(n-1))
	}
	last := time.Date(year, time.Month(number(month)+1), 0, 0, 0, 0, 0, time.UTC)
	return last.AddDate(0, 0, -(int(last.Weekday())-weekday+7)%7)
}

// number reads a number of a rule, or 0 where there is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil && text != "" {
		panic(fmt.Sprintf("calendar: %q is no number", text)) // the tables are part of the program
	}
	return n
}

// southern are the countries whose seasons are those of the southern hemisphere.
const southern = " AR AU BO BR CL MZ NA NZ PE PY UY ZA "

// spoken are the countries of languages that are mostly spoken in one.
var spoken = map[string]string{"bg": "BG", "cs": "CZ", "da": "DK", "de": "DE", "el": "GR", "fi": "FI", "fr": "FR",
	"he": "IL", "hi": "IN", "hr": "HR", "hu": "HU", "id": "ID", "it": "IT", "ja": "JP", "kk": "KZ", "ko": "KR",
	"nb": "NO",
	"nl": "NL", "no": "NO", "pl": "PL", "ro": "RO", "ru": "RU", "sv": "SE", "th": "TH", "tr": "TR", "uk": "UA",
	"et": "EE", "is": "IS", "lt": "LT", "lv": "LV", "ms": "MY", "sk": "SK", "sl": "SI", "sr": "RS",
	"vi": "VN", "zh": "CN"}

// Country returns the country of a factory: the one that its settings name, or that of its language, or of its time
// zone. It is empty if none of them names one, as en does not.
func Country(region, tag, zone string) string {
	if region != "" {
		return strings.ToUpper(region)
	}
	parsed, err := language.Parse(tag)
	if err == nil {
		if found, confidence := parsed.Region(); confidence == language.Exact {
			return found.String()
		}
	}
	for country, names := range zonesOf() {
		if slices.Contains(names, zone) {
			return country
		}
	}
	base, _ := parsed.Base()
	return spoken[base.String()]
}

// Zone returns the time zone of most people of a country, or nothing if the country is not known.
func Zone(country string) string {
	if names := zonesOf()[country]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// Countries returns the countries whose days are known.
func Countries() (all []string) {
	for country := range zonesOf() {
		all = append(all, country)
	}
	slices.Sort(all)
	return all
}

// orthodoxEaster returns the Easter Sunday of the eastern churches by the Julian computus, in the Gregorian calendar
// until 2099.
func orthodoxEaster(year int) time.Time {
	d := (19*(year%19) + 15) % 30
	e := (2*(year%4) + 4*(year%7) - d + 34) % 7
	return time.Date(year, time.Month((d+e+114)/31), (d+e+114)%31+1+13, 0, 0, 0, 0, time.UTC)
}

// easterSunday returns the Easter Sunday of the western churches by the Gregorian computus.
func easterSunday(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 19*l) / 433
	n := h + l - 7*m
	month := (n + 90) / 25
	return time.Date(year, time.Month(month), (n+33*month+19)%32, 0, 0, 0, 0, time.UTC)
}

// Season returns the season of a date in a country.
func Season(date time.Time, country string) string {
	quarter := int(date.Month()) % 12 / 3
	if country != "" && strings.Contains(southern, " "+country+" ") {
		quarter = (quarter + 2) % 4
	}
	return [...]string{"winter", "spring", "summer", "autumn"}[quarter]
}
