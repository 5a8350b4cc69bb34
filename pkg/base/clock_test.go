package base_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"00:00": 0, "09:05": 9*time.Hour + 5*time.Minute, "23:59": 24*time.Hour - time.Minute,
	} {
		if got, err := clock.Parse(text); err != nil || got != want || !clock.Valid(text) {
			t.Errorf("%s is read as %v: %v", text, got, err)
		}
	}
	for _, text := range []string{"", "24:00", "12:60", "12:00:00", " 9:05", "noon"} {
		if _, err := clock.Parse(text); err == nil || clock.Valid(text) {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestValid(t *testing.T) {
	if at, err := clock.Parse("9:05"); err != nil || at != 9*time.Hour+5*time.Minute || clock.Valid("9:05") {
		t.Errorf("9:05 is read as %v: %v", at, err)
	}
}

// The days on which clocks are changed: a time that they skip moves on, of one that they show twice the first counts,
// and the day stays.
func TestOn(t *testing.T) {
	for _, c := range []struct{ zone, day, of, want string }{
		{"Europe/Berlin", "2026-03-29", "09:30", "2026-03-29T09:30:00+02:00"},
		{"Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T03:30:00+02:00"},
		{"Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T02:30:00+02:00"},
		{"America/New_York", "2026-03-08", "02:30", "2026-03-08T03:30:00-04:00"},
		{"America/New_York", "2026-11-01", "01:30", "2026-11-01T01:30:00-04:00"},
		{"Africa/Cairo", "2026-04-24", "00:00", "2026-04-24T01:00:00+03:00"},
		{"Africa/Cairo", "2026-10-29", "23:30", "2026-10-29T23:30:00+03:00"},
		{"America/Santiago", "2026-09-06", "00:00", "2026-09-06T01:00:00-03:00"},
		{"America/Havana", "2026-03-08", "00:15", "2026-03-08T01:15:00-04:00"},
		{"Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-04T02:45:00+11:00"},
		{"America/Nuuk", "2026-03-28", "23:30", "2026-03-28T22:30:00-02:00"}, // it ends an hour early
		{"Pacific/Apia", "2011-12-29", "09:30", "2011-12-29T09:30:00-10:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		of, err := clock.Parse(c.of)
		if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		noon := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, zone)
		before := noon.AddDate(0, 0, -1)
		for _, at := range []time.Time{clock.On(noon, of), clock.On(before, of+24*time.Hour),
			clock.Instant(day.Add(of), zone)} {
			if got := at.Format(time.RFC3339); got != c.want {
				t.Errorf("%s %s %s is %s, want %s", c.zone, c.day, c.of, got, c.want)
			}
		}
	}
}

func TestInstantKeepsSeconds(t *testing.T) {
	wall := time.Date(2026, 5, 1, 9, 0, 1, 2, time.FixedZone("", 3600))
	if got := clock.Instant(wall, time.UTC); !got.Equal(time.Date(2026, 5, 1, 9, 0, 1, 2, time.UTC)) {
		t.Error(got)
	}
}
