package automation

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
)

// A day on which midnight does not exist has its run at the first time that does, in the zone of the factory.
func TestADailyRunAtAMidnightThatIsSkipped(t *testing.T) {
	for zone, want := range map[string]string{
		"Africa/Cairo":     "2026-04-23T00:00 2026-04-24T01:00 2026-04-25T00:00",
		"America/Santiago": "2026-04-23T00:00 2026-04-24T00:00 2026-04-25T00:00",
	} {
		f := factory.Factory{}
		f.Schedule = &factory.Schedule{Timezone: zone}
		at := time.Date(2026, 4, 22, 12, 0, 0, 0, time.UTC)
		var got []string
		for range 3 {
			var err error
			if at, err = (Trigger{Kind: OfTime, Cron: "0 0 * * *"}).next(f, at); err != nil {
				t.Fatal(err)
			}
			got = append(got, occurrence(at).key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", zone, got, want)
		}
	}
}

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
