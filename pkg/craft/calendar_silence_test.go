package craft_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/craft/calendar"
)

// A day is silent by its weekday, by its date, each year, or as a public holiday.
func TestSilence(t *testing.T) {
	s := calendar.Silence{Weekdays: []string{"monday", "friday"}, Days: []string{"2026-12-07", "12-28", calendar.Holidays}, Country: "FR"}
	for date, want := range map[string]bool{"2026-12-04": true, "2026-12-05": false, "2026-12-07": false,
		"2026-12-14": true, "2026-12-25": false, "2026-12-28": false, "2027-12-27": true} {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Open(at); got != want {
			t.Errorf("%s: %v", date, got)
		}
	}
	for text, want := range map[string]bool{"02-29": true, "2027-02-29": false, "13-01": false, "holidays": true,
		"12-24": true, "2026-12-24": true, "": false} {
		if calendar.ValidDay(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if days := calendar.WorkingDays("IL"); days[0] != "sunday" || len(days) != 5 {
		t.Errorf("Israel works on %v", days)
	}
	if days := calendar.WorkingDays("BD"); days[0] != "sunday" || len(days) != 5 {
		t.Errorf("Bangladesh works on %v", days)
	}
}
