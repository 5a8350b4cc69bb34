package clock_test

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

func TestOn(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	// The clock is put forward on that day.
	day := time.Date(2026, 3, 29, 23, 0, 0, 0, berlin)
	if got := clock.On(day, 9*time.Hour+30*time.Minute).Format(time.RFC3339); got != "2026-03-29T09:30:00+02:00" {
		t.Error(got)
	}
}
