package calendar_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/craft/calendar"
)

func TestOccasions(t *testing.T) {
	for _, c := range []struct{ date, country, want string }{
		// Easter Sunday is on 2026-04-05, 2027-03-28 and 2038-04-25, the latest possible day.
		{"2026-04-05", "DE", "Easter Sunday"}, {"2027-03-28", "FR", "Easter Sunday"}, {"2038-04-25", "IT", "Easter Sunday"},
		{"2026-04-03", "DE", "Good Friday"}, {"2026-05-14", "AT", "Ascension Day"}, {"2026-05-25", "DE", "Whit Monday"},
		{"2026-02-17", "BR", "Carnival"}, {"2026-11-26", "US", "Thanksgiving"}, {"2026-11-27", "US", "Black Friday"},
		{"2026-11-30", "", "Cyber Monday"}, {"2026-05-10", "DE", "Mother's Day"}, {"2026-05-31", "FR", "Mother's Day"},
		{"2026-03-15", "GB", "Mother's Day"}, {"2026-08-31", "GB", "Summer bank holiday"},
		{"2026-05-25", "US", "Memorial Day"}, {"2026-05-08", "DE", "Mother's Day (in 2 days)"},
		{"2026-12-30", "", "New Year's Eve (tomorrow)"}, {"2026-12-29", "", "New Year's Eve (in 2 days)"},
		{"2027-01-01", "DE", "New Year's Day"}, {"2026-07-14", "DE", ""}, {"2026-07-14", "FR", "Bastille Day"},
		{"2026-12-26", "DE", "Second Day of Christmas"}, {"2027-12-26", "IT", "St. Stephen's Day"},
		{"2028-06-15", "PT", "Corpus Christi"}, {"2026-12-08", "PT", "Immaculate Conception"},
		{"2027-11-02", "BR", "All Souls' Day"}, {"2028-03-20", "MX", "Benito Juárez's Birthday"},
		{"2027-10-11", "US", "Columbus Day"}, {"2026-10-04", "IT", "St. Francis of Assisi"},
		{"2028-11-05", "IT", "National Unity Day"},
	} {
		at, err := time.Parse(time.DateOnly, c.date)
		if err != nil {
			t.Fatal(err)
		}
		if got := calendar.Occasion(at, c.country); got != c.want {
			t.Errorf("%s in %q is %q, want %q", c.date, c.country, got, c.want)
		}
	}
}

func TestCountriesAndSeasons(t *testing.T) {
	for _, c := range []struct{ region, tag, want string }{
		{"", "de-AT", "AT"}, {"", "de", "DE"}, {"us", "de", "US"}, {"", "en", ""}, {"", "es-MX", "MX"}, {"", "?", ""},
		{"", "pt-BR", "BR"}, {"", "ar", ""},
	} {
		if got := calendar.Country(c.region, c.tag); got != c.want {
			t.Errorf("%q and %q are of %q, want %q", c.region, c.tag, got, c.want)
		}
	}
	for month, want := range map[time.Month][2]string{time.January: {"winter", "summer"}, time.April: {"spring", "autumn"},
		time.July: {"summer", "winter"}, time.October: {"autumn", "spring"}, time.December: {"winter", "summer"}} {
		at := time.Date(2026, month, 15, 0, 0, 0, 0, time.UTC)
		if got := [2]string{calendar.Season(at, "DE"), calendar.Season(at, "BR")}; got != want {
			t.Errorf("%s is %v, want %v", month, got, want)
		}
	}
}
