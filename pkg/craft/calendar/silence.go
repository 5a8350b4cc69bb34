package calendar

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Weekdays are the names of the days of the week, from Monday on.
var Weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// Holidays stands for the public holidays of a country among the days of a Silence.
const Holidays = "holidays"

// Silence is when nothing is published.
type Silence struct {
	// Weekdays are the days of the week on which something is published. Empty: all.
	Weekdays []string
	// Days are dates such as 2026-12-24, days of each year such as 12-24, or Holidays.
	Days []string
	// Country is that whose public holidays count (ISO 3166-1).
	Country string
}

// Open reports whether something is published on a date.
func (s Silence) Open(date time.Time) bool {
	if len(s.Weekdays) > 0 && !slices.Contains(s.Weekdays, strings.ToLower(date.Weekday().String())) {
		return false
	}
	for _, day := range s.Days {
		switch {
		case day == Holidays:
			if Public(date, s.Country) {
				return false
			}
		case day == date.Format(time.DateOnly), day == date.Format("01-02"):
			return false
		}
	}
	return true
}

// ValidDay reports whether a text is one of the days that a Silence may have.
func ValidDay(text string) bool {
	if text == Holidays {
		return true
	}
	if len(text) == len("12-24") {
		text = "2024-" + text // a leap year, so that 29 February is a day
	}
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// WorkingDays returns the days of the week on which offices of a country are open.
func WorkingDays(country string) []string {
	switch country {
	case "BD", "BH", "DZ", "EG", "IL", "IQ", "JO", "KW", "LY", "MV", "OM", "PS", "QA", "SA", "SD", "SY", "YE":
		return slices.Concat(Weekdays[6:], Weekdays[:4])
	}
	return slices.Clone(Weekdays[:5])
}

// publicDays are the lines of public.tsv.
var publicDays = sync.OnceValue(func() (all []day) {
	for line := range strings.Lines(public) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		all = append(all, day{places: strings.Fields(cells[0]), rule: cells[1], name: cells[2]})
	}
	return all
})

// Public reports whether a date is a public holiday in a country.
func Public(date time.Time, country string) bool {
	for _, d := range publicDays() {
		if !d.in(Place{Country: country}) {
			continue
		}
		for _, at := range dates(d.rule, date.Year()) {
			if at.Format(time.DateOnly) == date.Format(time.DateOnly) {
				return true
			}
		}
	}
	return false
}
