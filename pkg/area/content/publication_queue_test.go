package content_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/publication"
)

// On days on which clocks are changed, each time of a schedule is there once, and on its day.
func TestSlotsOnDaysOnWhichClocksAreChanged(t *testing.T) {
	for _, c := range []struct {
		zone, from, to string
		clock          []string
		want           []string
	}{
		{"Europe/Berlin", "2026-03-28T12:00", "2026-03-30T12:00", []string{"02:30"},
			[]string{"2026-03-29T03:30", "2026-03-30T02:30"}},
		{"Europe/Berlin", "2026-03-29T00:00", "2026-03-30T00:00", []string{"01:30", "02:30", "03:30"},
			[]string{"2026-03-29T01:30", "2026-03-29T03:30"}},
		{"Europe/Berlin", "2026-10-24T12:00", "2026-10-25T12:00", []string{"02:30"}, []string{"2026-10-25T02:30"}},
		{"America/New_York", "2027-03-14T00:00", "2027-03-15T00:00", []string{"01:30", "02:30"},
			[]string{"2027-03-14T01:30", "2027-03-14T03:30"}},
		{"America/Havana", "2026-03-06T00:15", "2026-03-10T00:15", []string{"00:15"},
			[]string{"2026-03-06T00:15", "2026-03-07T00:15", "2026-03-08T01:15", "2026-03-09T00:15"}},
		{"Africa/Cairo", "2026-04-23T12:00", "2026-04-25T12:00", []string{"00:00", "23:59"},
			[]string{"2026-04-23T23:59", "2026-04-24T01:00", "2026-04-24T23:59", "2026-04-25T00:00"}},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at := func(text string) time.Time {
			at, err := time.ParseInLocation("2006-01-02T15:04", text, zone)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		var got []string
		for _, slot := range (publication.Times{Zone: zone, Clock: c.clock}).Between(at(c.from), at(c.to)) {
			got = append(got, slot.In(zone).Format("2006-01-02T15:04"))
			if _, offset := slot.In(zone).Zone(); c.zone == "Europe/Berlin" && slot.Month() == time.October && offset != 7200 {
				t.Errorf("%s: %s is the second time", c.zone, slot)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s from %s to %s: %v, want %v", c.zone, c.from, c.to, got, c.want)
		}
	}
}
