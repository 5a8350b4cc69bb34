package base_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
)

func TestCron(t *testing.T) {
	for text, want := range map[string]string{ // the first times after Wednesday, 30 December 2026, 12:00
		"30 9 * * 1-5":         "2026-12-31T09:30 2027-01-01T09:30 2027-01-04T09:30",
		"30 9 ? * MON-fri":     "2026-12-31T09:30 2027-01-01T09:30 2027-01-04T09:30",
		"0 12 * * *":           "2026-12-31T12:00 2027-01-01T12:00",
		"1 12 * * *":           "2026-12-30T12:01 2026-12-31T12:01",
		"*/25 12 * * *":        "2026-12-30T12:25 2026-12-30T12:50 2026-12-31T12:00",
		"50/5 12 30 * *":       "2026-12-30T12:50 2026-12-30T12:55 2027-01-30T12:50",
		"10-20/5,59 12 30 * *": "2026-12-30T12:10 2026-12-30T12:15 2026-12-30T12:20 2026-12-30T12:59 2027-01-30T12:10",
		"0 0 31 * *":           "2026-12-31T00:00 2027-01-31T00:00 2027-03-31T00:00",
		"0 0 29 feb ?":         "2028-02-29T00:00",
		"0 0 1 JAN,jul *":      "2027-01-01T00:00 2027-07-01T00:00",
		"0 0 1 1/6 *":          "2027-01-01T00:00 2027-07-01T00:00",
		"0 8 1 * MON":          "2027-01-01T08:00 2027-01-04T08:00", // one of the two is enough
		"0 8 */10 * MON":       "2026-12-31T08:00 2027-01-01T08:00 2027-01-04T08:00",
		"0 8 */1 * MON":        "2027-01-04T08:00 2027-01-11T08:00", // each day is no restriction
		"0 8 1,* * MON":        "2027-01-04T08:00",
		"0 8 1 * 0-6":          "2026-12-31T08:00 2027-01-01T08:00",
		"0 8 1 * */99":         "2027-01-01T08:00 2027-01-03T08:00",
		" 5\t4  * * sun ":      "2027-01-03T04:05",
		"0 0 30 2 *":           "",
		"0 0 31 4,6,9,11 *":    "",
	} {
		times, err := clock.ParseCron(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		at := time.Date(2026, 12, 30, 12, 0, 0, 0, time.UTC)
		for wanted := range strings.FieldsSeq(want) {
			at = times.Next(at)
			if got := at.Format("2006-01-02T15:04"); got != wanted {
				t.Errorf("%s is due at %s, want %s", text, got, wanted)
			}
		}
		if want == "" && !times.Next(at).IsZero() {
			t.Errorf("%s is due at %s", text, times.Next(at))
		}
	}
}

func TestExpressionsThatAreNotCronAreRefused(t *testing.T) {
	for _, text := range []string{"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *",
		"* * * 0 *", "* * * 13 *", "* * * * 7", "* * * * fri-mon", "30-20 * * * *", "*/0 * * * *", "*/-1 * * * *",
		"1,,2 * * * *", ", * * * *", "1- * * * *", "- * * * *", "/5 * * * *", "1/2/3 * * * *", "1-2-3 * * * *",
		"*-5 * * * *", "jan * * * *", "* * * mon *", "* * L * *", "* * * * 1#2", "@daily", "@every 1m", "TZ=UTC 0 9 * * *",
		"CRON_TZ=UTC 0 9 * *", "99999999999999999999 * * * *", "\u0661 * * * *"} {
		if times, err := clock.ParseCron(text); err == nil || times != nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// The times of a day that a zone left out as a whole are on the next one, once.
func TestADayThatAZoneLeavesOut(t *testing.T) {
	apia, err := time.LoadLocation("Pacific/Apia")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"0 9,12 30 12 *", "0 9,12 30-31 12 *"} {
		times, err := clock.ParseCron(text)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2011, 12, 29, 18, 0, 0, 0, apia)
		for _, want := range []string{"2011-12-31T09:00", "2011-12-31T12:00", "2012-12-30T09:00"} {
			if at = times.Next(at); at.Format("2006-01-02T15:04") != want {
				t.Errorf("%s is due at %s, want %s", text, at, want)
			}
		}
	}
}
