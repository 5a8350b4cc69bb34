package craft_test

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

// Public holidays are those of an independent list: each of its days has a name here, in 59 countries. Days of the law
// are in the list.
func TestPublicHolidaysAgreeWithAList(t *testing.T) {
	raw, err := os.ReadFile("testdata/calendar/holidays.tsv")
	if err != nil {
		t.Fatal(err)
	}
	listed, countries := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		listed[cells[0]+cells[1]], countries[cells[0]] = true, true
		if names := calendar.Days(date(t, cells[1]), calendar.Place{Country: cells[0]}); len(names) == 0 {
			t.Errorf("%s has no day on %s: %s", cells[0], cells[1], cells[2])
		}
	}
	if len(countries) != 59 || len(listed) < 3300 {
		t.Fatalf("the list has %d days of %d countries", len(listed), len(countries))
	}
	for at := date(t, "2026-01-01"); at.Year() <= 2030; at = at.AddDate(0, 0, 1) {
		for country := range countries {
			names := calendar.Days(at, calendar.Place{Country: country})
			if day := at.Format(time.DateOnly); !listed[country+day] && len(names) > 0 && calendar.Public(at, country) {
				t.Errorf("%s has %v on %s, and the list has not", country, names, day)
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
		if names := calendar.Days(date(t, c.date), calendar.Place{Country: c.country, Trade: c.trade}); len(names) > 0 {
			got = names[0]
		}
		if got != c.want {
			t.Errorf("%s in %q for %q is %q, want %q", c.date, c.country, c.trade, got, c.want)
		}
	}
	if names := calendar.Days(date(t, "2026-11-28"), calendar.Place{Country: "US", Trade: "seller"}); !slices.Equal(names,
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
				if !slices.Contains(calendar.Days(at, calendar.Place{Country: country}), feast) {
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
	if all := calendar.Countries(); len(all) < 60 {
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

// A day concerns the kinds of business that it is for, and a region has days of its own.
func TestDaysOfBusinessesAndRegions(t *testing.T) {
	for _, c := range []struct {
		date string
		calendar.Place
		want string
		has  bool
	}{
		{"2026-11-30", calendar.Place{Country: "PL", Trade: "expert", Business: "law"}, "Cyber Monday", false},
		{"2026-11-30", calendar.Place{Country: "FR", Trade: "brand", Business: "bakery"}, "Cyber Monday", false},
		{"2026-11-30", calendar.Place{Country: "FR", Trade: "seller"}, "Cyber Monday", true},
		{"2026-11-30", calendar.Place{Country: "US", Trade: "brand", Business: "fashion"}, "Cyber Monday", true},
		{"2026-12-01", calendar.Place{Country: "FR", Trade: "brand", Business: "bakery"}, "Giving Tuesday", false},
		{"2026-12-01", calendar.Place{Country: "KR", Trade: "brand", Business: "games"}, "Giving Tuesday", false},
		{"2026-12-01", calendar.Place{Country: "US", Trade: "brand"}, "Giving Tuesday", true},
		{"2026-12-06", calendar.Place{Country: "PL", Trade: "expert", Business: "law"}, "St. Nicholas Day", true},
		{"2026-12-24", calendar.Place{Country: "KR", Trade: "entertainment", Business: "games"}, "Christmas Eve", true},
		{"2026-11-29", calendar.Place{Country: "FR", Trade: "brand"}, "First Sunday of Advent", true},
		{"2027-12-12", calendar.Place{Country: "PL", Trade: "brand"}, "Third Sunday of Advent", true},
		{"2026-12-08", calendar.Place{Country: "FR", Region: "FR-69", Trade: "brand"}, "Festival of Lights", true},
		{"2026-12-08", calendar.Place{Country: "FR", Trade: "brand"}, "Festival of Lights", false},
		{"2026-08-15", calendar.Place{Country: "DE", Region: "DE-BY", Trade: "brand"}, "Assumption", false},
		{"2027-01-06", calendar.Place{Country: "DE", Region: "DE-BY", Trade: "brand"}, "Epiphany", true},
		{"2027-01-06", calendar.Place{Country: "DE", Region: "DE-NW", Trade: "brand"}, "Epiphany", false},
		{"2027-02-14", calendar.Place{Country: "DE", Trade: "expert", Business: "law"}, "Valentine's Day", false},
		{"2027-02-14", calendar.Place{Country: "DE", Trade: "brand", Business: "cafe"}, "Valentine's Day", true},
		{"2027-02-04", calendar.Place{Country: "PL", Trade: "brand", Business: "bakery"}, "Fat Thursday", true},
		{"2026-10-16", calendar.Place{Country: "IT", Trade: "brand", Business: "bakery"}, "World Bread Day", true},
		{"2026-10-16", calendar.Place{Country: "IT", Trade: "brand", Business: "fashion"}, "World Bread Day", false},
	} {
		if names := calendar.Days(date(t, c.date), c.Place); slices.Contains(names, c.want) != c.has {
			t.Errorf("%s of %+v: %v, %s is to be %t", c.date, c.Place, names, c.want, c.has)
		}
	}
}

func TestRegionsAreToldByTheirCities(t *testing.T) {
	for _, c := range [][3]string{{"FR", "Boulangerie Marchetti, Lyon", "FR-69"}, {"DE", "Käse aus München.", "DE-BY"},
		{"DE", "Essen und Trinken in Köln", "DE-NW"}, {"GB", "A workshop in Edinburgh", "GB-SCT"},
		{"FR", "Lyonnaise", ""},
		{"DE", "Lyon", ""}, {"", "Lyon", ""}} {
		if got := calendar.Region(c[0], c[1]); got != c[2] {
			t.Errorf("%q of %s is in %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

// moonlit are the countries with days that move by one with the sight of the moon.
const moonlit = "AE EG ID KZ MA MY PH SA SG TR"

// A second list, of another author, agrees on 24 of 25 of its days.
func TestPublicHolidaysAgreeWithASecondList(t *testing.T) {
	raw, err := os.ReadFile("testdata/calendar/second.tsv")
	if err != nil {
		t.Fatal(err)
	}
	all, countries, lacking := 0, map[string]bool{}, []string{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		countries[cells[0]] = true
		found := false
		for shift := -1; shift <= 1; shift++ {
			at := date(t, cells[1]).AddDate(0, 0, shift)
			found = found || (shift == 0 || strings.Contains(moonlit, cells[0])) &&
				len(calendar.Days(at, calendar.Place{Country: cells[0]})) > 0
		}
		if all++; !found {
			lacking = append(lacking, line)
		}
	}
	if len(countries) < 55 || all < 2500 || 25*len(lacking) > all {
		t.Errorf("%d of %d days of %d countries have no name here:\n%s", len(lacking), all, len(countries),
			strings.Join(lacking, ""))
	}
}
