package calendar_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/craft/calendar"
)

func date(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Public holidays are those of an independent list: each of its days has a name here, in 46 countries. Days of the law
// are in the list.
func TestPublicHolidaysAgreeWithAList(t *testing.T) {
	raw, err := os.ReadFile("testdata/holidays.tsv")
	if err != nil {
		t.Fatal(err)
	}
	listed, countries := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		listed[cells[0]+cells[1]], countries[cells[0]] = true, true
		if names := calendar.Days(date(t, cells[1]), cells[0], ""); len(names) == 0 {
			t.Errorf("%s has no day on %s: %s", cells[0], cells[1], cells[2])
		}
	}
	if len(countries) != 46 || len(listed) < 2500 {
		t.Fatalf("the list has %d days of %d countries", len(listed), len(countries))
	}
	for _, d := range calendar.PublicDays() {
		for year := 2026; year <= 2030; year++ {
			for _, at := range d.In(year) {
				for _, country := range d.Countries {
					if !listed[country+at.Format(time.DateOnly)] {
						t.Errorf("%s has %s on %s, and the list has not", country, d.Name, at.Format(time.DateOnly))
					}
				}
			}
		}
	}
}

func TestDays(t *testing.T) {
	for _, c := range []struct{ date, country, trade, want string }{
		// Easter Sunday is on 2026-04-05, 2027-03-28 and 2038-04-25, the latest possible day.
		{"2026-04-05", "DE", "", "Easter Sunday"}, {"2027-03-28", "FR", "", "Easter Sunday"},
		{"2038-04-25", "FR", "", "Easter Sunday"}, {"2026-04-12", "GR", "", "Easter Sunday"},
		{"2027-05-02", "RU", "", "Orthodox Easter"}, {"2028-04-16", "BG", "", "Easter"},
		{"2026-05-14", "AT", "", "Ascension Day"}, {"2026-02-17", "BR", "", "Carnival"},
		{"2026-11-26", "US", "", "Thanksgiving"}, {"2026-11-27", "", "", "Black Friday"},
		{"2026-11-30", "", "", "Cyber Monday"}, {"2026-05-10", "DE", "", "Mother's Day"},
		{"2026-05-31", "FR", "", "Mother's Day"}, {"2026-03-15", "GB", "", "Mother's Day"},
		{"2026-05-26", "PL", "", "Mother's Day"}, {"2026-03-21", "EG", "", "Mother's Day"},
		{"2026-08-31", "GB", "", "Summer Bank Holiday"}, {"2026-12-25", "", "", "Christmas Day"},
		{"2026-12-25", "SA", "", ""}, {"2026-12-25", "RU", "", ""}, {"2027-01-07", "RU", "", "Christmas Day"},
		{"2026-11-29", "DE", "", "First Sunday of Advent"}, {"2028-12-24", "DE", "", "Christmas Eve"},
		{"2027-11-28", "AT", "", "First Sunday of Advent"}, {"2033-11-27", "CH", "", "First Sunday of Advent"},
		{"2026-02-18", "SA", "", "First day of Ramadan"}, {"2027-03-09", "TR", "", "Eid al-Fitr"},
		{"2026-11-08", "IN", "", "Diwali"}, {"2026-02-17", "CN", "", "Chinese New Year"},
		{"2027-02-06", "VN", "", "Lunar New Year"}, {"2026-12-05", "IL", "", "Hanukkah"},
		{"2026-06-21", "", "musician", "World Music Day"}, {"2026-04-18", "US", "musician", "Record Store Day"},
		{"2026-05-03", "GB", "news", "World Press Freedom Day"}, {"2026-07-14", "DE", "", ""},
		{"2028-02-29", "DE", "seller", ""},
	} {
		got := ""
		if names := calendar.Days(date(t, c.date), c.country, c.trade); len(names) > 0 {
			got = names[0]
		}
		if got != c.want {
			t.Errorf("%s in %q for %q is %q, want %q", c.date, c.country, c.trade, got, c.want)
		}
	}
	if names := calendar.Days(date(t, "2026-11-28"), "US", "seller"); !slices.Equal(names,
		[]string{"Small Business Saturday"}) {
		t.Errorf("%v", names)
	}
}

// Feasts of other calendars agree with what their calendars are: the new moon, and lunar years.
func TestMovableFeastsFollowTheMoon(t *testing.T) {
	const month = 29.530588861
	epoch := time.Date(2000, time.January, 6, 18, 14, 0, 0, time.UTC) // a new moon
	for country, feast := range map[string]string{"CN": "Chinese New Year", "IN": "Diwali", "TR": "Eid al-Fitr",
		"SA": "First day of Ramadan"} {
		for year := 2026; year <= 2035; year++ {
			found := 0
			for at := date(t, "2026-01-01").AddDate(year-2026, 0, 0); at.Year() == year; at = at.AddDate(0, 0, 1) {
				if !slices.Contains(calendar.Days(at, country, ""), feast) {
					continue
				}
				found++
				months := at.Add(12*time.Hour).Sub(epoch).Hours() / 24 / month
				if age := (months - float64(int(months))) * month; age > 3.5 && age < month-1.5 {
					t.Errorf("%s of %s: the moon is %.1f days old", feast, at.Format(time.DateOnly), age)
				}
			}
			if found == 0 {
				t.Errorf("%d has no %s", year, feast)
			}
		}
	}
}

func TestCountriesZonesAndSeasons(t *testing.T) {
	for _, c := range []struct{ region, tag, zone, want string }{
		{"", "de-AT", "", "AT"}, {"", "de", "", "DE"}, {"us", "de", "", "US"}, {"", "en", "", ""}, {"", "?", "", ""},
		{"", "es-MX", "", "MX"}, {"", "pt-BR", "", "BR"}, {"", "ar", "", ""}, {"", "ja", "", "JP"},
		{"", "en", "America/Chicago", "US"}, {"", "en", "Europe/London", "GB"}, {"", "en", "UTC", ""},
		{"", "de", "Europe/Zurich", "CH"},
	} {
		if got := calendar.Country(c.region, c.tag, c.zone); got != c.want {
			t.Errorf("%q, %q and %q are of %q, want %q", c.region, c.tag, c.zone, got, c.want)
		}
	}
	if all := calendar.Countries(); len(all) < 45 {
		t.Errorf("only %d countries", len(all))
	}
	for _, country := range calendar.Countries() {
		if _, err := time.LoadLocation(calendar.Zone(country)); err != nil || calendar.Zone(country) == "" {
			t.Errorf("the zone of %s: %v", country, err)
		}
	}
	if got := calendar.Zone("XX"); got != "" {
		t.Errorf("the zone of no country is %q", got)
	}
	for month, want := range map[time.Month][2]string{time.January: {"winter", "summer"}, time.April: {"spring", "autumn"},
		time.July: {"summer", "winter"}, time.October: {"autumn", "spring"}, time.December: {"winter", "summer"}} {
		at := time.Date(2026, month, 15, 0, 0, 0, 0, time.UTC)
		if got := [2]string{calendar.Season(at, "DE"), calendar.Season(at, "BR")}; got != want {
			t.Errorf("%s is %v, want %v", month, got, want)
		}
	}
}
