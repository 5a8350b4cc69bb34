// Package calendar knows the seasons, the public holidays and the commercial dates of countries, for plans of content.
//
// The public holidays are those that the whole country has by its law, as of 2026: of DE
// https://www.gesetze-im-internet.de, AT https://www.oesterreich.gv.at, CH https://www.bk.admin.ch, FR
// https://www.service-public.fr, ES https://www.boe.es, IT https://www.governo.it, PT https://dre.pt, BR
// https://www.gov.br, MX https://www.gob.mx, GB https://www.gov.uk/bank-holidays, US https://www.opm.gov, RU
// http://pravo.gov.ru. Of 2026 to 2028 they agree with the public holidays of the Python package holidays, version
// 0.109. Days off that only follow from another holiday, or from a decree of a year, are left out.
package calendar

import (
	"strings"
	"time"

	"golang.org/x/text/language"
)

// rule is a day of each year.
type rule struct {
	name string
	// month and day are a date. With weekday, it is the day-th weekday of the month, from its end if day is negative.
	month   time.Month
	day     int
	weekday *time.Weekday
	// plus is a number of days after that, or after Easter Sunday if month is 0.
	plus int
}

func on(name string, month time.Month, day int) rule { return rule{name: name, month: month, day: day} }

func easter(name string, plus int) rule { return rule{name: name, plus: plus} }

func nth(name string, month time.Month, n int, day time.Weekday, plus int) rule {
	return rule{name: name, month: month, day: n, weekday: &day, plus: plus}
}

// everywhere are days that channels of all countries have.
var everywhere = []rule{
	on("New Year's Day", time.January, 1), on("Valentine's Day", time.February, 14),
	on("International Women's Day", time.March, 8), on("Earth Day", time.April, 22),
	on("World Environment Day", time.June, 5), on("World Music Day", time.June, 21),
	on("Halloween", time.October, 31), nth("Black Friday", time.November, 4, time.Thursday, 1),
	nth("Cyber Monday", time.November, 4, time.Thursday, 4), on("New Year's Eve", time.December, 31),
}

// christmas is a holiday of most countries of Europe and America.
var christmas = on("Christmas Day", time.December, 25)

// stephen is the day after it, where it is a holiday, too.
var stephen = on("St. Stephen's Day", time.December, 26)

// holidays are the days of countries (ISO 3166-1), and days on which people give presents.
var holidays = map[string][]rule{
	"DE": {easter("Good Friday", -2), easter("Easter Sunday", 0), easter("Easter Monday", 1), on("Labor Day", time.May, 1),
		easter("Ascension Day", 39), easter("Whit Monday", 50), on("German Unity Day", time.October, 3),
		on("St. Nicholas Day", time.December, 6), on("Christmas Eve", time.December, 24), christmas,
		on("Second Day of Christmas", time.December, 26), nth("Mother's Day", time.May, 2, time.Sunday, 0)},
	"AT": {on("Epiphany", time.January, 6), easter("Easter Sunday", 0), easter("Easter Monday", 1),
		on("Labor Day", time.May, 1), easter("Ascension Day", 39), easter("Whit Monday", 50), easter("Corpus Christi", 60),
		on("Assumption Day", time.August, 15), on("National Day", time.October, 26), on("All Saints' Day", time.November, 1),
		on("Immaculate Conception", time.December, 8), on("Christmas Eve", time.December, 24), christmas, stephen,
		nth("Mother's Day", time.May, 2, time.Sunday, 0)},
	"CH": {easter("Easter Sunday", 0), easter("Ascension Day", 39), on("Swiss National Day", time.August, 1), christmas,
		nth("Mother's Day", time.May, 2, time.Sunday, 0)},
	"FR": {easter("Easter Sunday", 0), easter("Easter Monday", 1), on("Labor Day", time.May, 1),
		on("Victory Day", time.May, 8), easter("Ascension Day", 39), easter("Whit Monday", 50),
		on("Bastille Day", time.July, 14), on("Assumption Day", time.August, 15), on("All Saints' Day", time.November, 1),
		on("Armistice Day", time.November, 11), christmas, nth("Mother's Day", time.May, -1, time.Sunday, 0)},
	"ES": {on("Epiphany", time.January, 6), easter("Good Friday", -2), easter("Easter Sunday", 0),
		on("Labor Day", time.May, 1), on("Assumption Day", time.August, 15), on("National Day", time.October, 12),
		on("All Saints' Day", time.November, 1), on("Constitution Day", time.December, 6),
		on("Immaculate Conception", time.December, 8), christmas, nth("Mother's Day", time.May, 1, time.Sunday, 0)},
	"IT": {on("Epiphany", time.January, 6), easter("Easter Sunday", 0), easter("Easter Monday", 1),
		on("Liberation Day", time.April, 25), on("Labor Day", time.May, 1), on("Republic Day", time.June, 2),
		on("Ferragosto", time.August, 15), on("St. Francis of Assisi", time.October, 4),
		on("All Saints' Day", time.November, 1), nth("National Unity Day", time.November, 1, time.Sunday, 0),
		on("Immaculate Conception", time.December, 8), christmas, stephen,
		nth("Mother's Day", time.May, 2, time.Sunday, 0)},
	"PT": {easter("Good Friday", -2), easter("Easter Sunday", 0), on("Freedom Day", time.April, 25),
		on("Labor Day", time.May, 1), easter("Corpus Christi", 60), on("Portugal Day", time.June, 10),
		on("Assumption Day", time.August, 15), on("Republic Day", time.October, 5),
		on("All Saints' Day", time.November, 1), on("Restoration of Independence", time.December, 1),
		on("Immaculate Conception", time.December, 8), christmas, nth("Mother's Day", time.May, 1, time.Sunday, 0)},
	"BR": {easter("Carnival", -47), easter("Good Friday", -2), easter("Easter Sunday", 0), on("Tiradentes", time.April, 21),
		on("Labor Day", time.May, 1), on("Dia dos Namorados", time.June, 12), on("Independence Day", time.September, 7),
		on("Our Lady of Aparecida", time.October, 12), on("All Souls' Day", time.November, 2),
		on("Republic Day", time.November, 15),
		on("Black Consciousness Day", time.November, 20), christmas, nth("Mother's Day", time.May, 2, time.Sunday, 0)},
	"MX": {nth("Constitution Day", time.February, 1, time.Monday, 0),
		nth("Benito Juárez's Birthday", time.March, 3, time.Monday, 0), easter("Easter Sunday", 0),
		on("Labor Day", time.May, 1), on("Mother's Day", time.May, 10), on("Independence Day", time.September, 16),
		on("Day of the Dead", time.November, 2), nth("Revolution Day", time.November, 3, time.Monday, 0), christmas},
	"GB": {easter("Mother's Day", -21), easter("Good Friday", -2), easter("Easter Sunday", 0), easter("Easter Monday", 1),
		nth("Early May bank holiday", time.May, 1, time.Monday, 0), nth("Spring bank holiday", time.May, -1, time.Monday, 0),
		nth("Summer bank holiday", time.August, -1, time.Monday, 0), christmas, on("Boxing Day", time.December, 26)},
	"US": {nth("Martin Luther King Day", time.January, 3, time.Monday, 0),
		nth("Presidents' Day", time.February, 3, time.Monday, 0), easter("Easter Sunday", 0),
		nth("Mother's Day", time.May, 2, time.Sunday, 0), nth("Memorial Day", time.May, -1, time.Monday, 0),
		on("Juneteenth", time.June, 19), nth("Father's Day", time.June, 3, time.Sunday, 0),
		on("Independence Day", time.July, 4), nth("Labor Day", time.September, 1, time.Monday, 0),
		nth("Columbus Day", time.October, 2, time.Monday, 0), on("Veterans Day", time.November, 11),
		nth("Thanksgiving", time.November, 4, time.Thursday, 0), christmas},
	"RU": {on("Christmas Day", time.January, 7), on("Defender of the Fatherland Day", time.February, 23),
		on("Spring and Labor Day", time.May, 1), on("Victory Day", time.May, 9), on("Russia Day", time.June, 12),
		on("Knowledge Day", time.September, 1), on("Unity Day", time.November, 4)},
}

// southern are the countries whose seasons are those of the southern hemisphere.
const southern = " AR AU BO BR CL MZ NA NZ PE PY UY ZA "

// Country returns the country of a factory: the one that its settings name, or that of its language. It is empty if
// neither names one, as en does not.
func Country(region, tag string) string {
	if region != "" {
		return strings.ToUpper(region)
	}
	parsed, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	if found, confidence := parsed.Region(); confidence == language.Exact {
		return found.String()
	}
	base, _ := parsed.Base()
	return map[string]string{"de": "DE", "fr": "FR", "it": "IT", "ru": "RU"}[base.String()] // mostly spoken there
}

// ahead is the number of days before a day on which channels begin to speak of it.
const ahead = 3

// Occasion returns the day that is celebrated in a country on a date or within the next three days, such as Mother's
// Day (in 2 days). It is empty if there is none.
func Occasion(date time.Time, country string) string {
	for days := range ahead + 1 {
		at := date.AddDate(0, 0, days)
		for _, all := range [][]rule{holidays[country], everywhere} {
			for _, r := range all {
				if month, day := r.in(at.Year()); at.Month() == month && at.Day() == day {
					return r.name + [...]string{"", " (tomorrow)", " (in 2 days)", " (in 3 days)"}[days]
				}
			}
		}
	}
	return ""
}

// in returns the date of a day in a year.
func (r rule) in(year int) (time.Month, int) {
	at := easterSunday(year)
	switch {
	case r.month == 0:
	case r.weekday == nil:
		at = time.Date(year, r.month, r.day, 0, 0, 0, 0, time.UTC)
	case r.day > 0:
		first := time.Date(year, r.month, 1, 0, 0, 0, 0, time.UTC)
		at = first.AddDate(0, 0, (int(*r.weekday)-int(first.Weekday())+7)%7+7*(r.day-1))
	default:
		last := time.Date(year, r.month+1, 0, 0, 0, 0, 0, time.UTC)
		at = last.AddDate(0, 0, -(int(last.Weekday())-int(*r.weekday)+7)%7)
	}
	at = at.AddDate(0, 0, r.plus)
	return at.Month(), at.Day()
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
