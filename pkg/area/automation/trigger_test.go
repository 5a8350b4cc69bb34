package automation

import (
	"strings"
	"testing"
)

// The library reads a time zone before the fields, and panics if nothing follows it.
func TestACronExpressionNeverPanics(t *testing.T) {
	starts := []string{"TZ=0", "TZ=", "CRON_TZ=UTC", "CRON_TZ=", "=", "@", "@every", "@every 1s", "*/0", "1-", "-", ",", "/",
		"*/", "1/2/3", "99999999999999999999", "\u0661", "?", "L", "MON-SUN", "\x00", "\xff", " ", ""}
	for _, start := range starts {
		for _, rest := range []string{"", " ", " *", " * * * *", " 0 9 * * *", "\t0 9 * * *", strings.Repeat(" *", 40)} {
			for _, text := range []string{start + rest, rest + start} {
				times, err := Trigger{Kind: OfTime, Cron: text}.times()
				if (err == nil) != (times != nil) || err == nil && strings.Contains(text, "=") {
					t.Errorf("%q: %v, %v", text, times, err)
				}
			}
		}
	}
}

func FuzzCron(f *testing.F) {
	f.Add("TZ=0")
	f.Add("30 9 * * 1-5")
	f.Fuzz(func(t *testing.T, text string) {
		if times, err := (Trigger{Kind: OfTime, Cron: text}).times(); (err == nil) != (times != nil) {
			t.Errorf("%q: %v, %v", text, times, err)
		}
	})
}
