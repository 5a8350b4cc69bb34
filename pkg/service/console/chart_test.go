package console

import (
	"strings"
	"testing"
	"time"
)

// Refused calls have the colour of errors, and a name has the same colour in every chart.
func TestRefusedCallsAreRed(t *testing.T) {
	v := &view{Language: "en"}
	d := chartOfKey(key{Days: []dayOfKey{{"2026-11-26", calls{9, 2}}}}, v)
	for _, s := range d.Series {
		if want := map[string]string{"Accepted": "cgood", "Refused": "cbad"}[s.Name]; s.Class != want {
			t.Errorf("%s has the colour %s", s.Name, s.Class)
		}
	}
	if len(d.Rows) != 1 || d.Rows[0].Day != "26 Nov" || len(d.Rows[0].Values) != 2 {
		t.Errorf("the table is %+v", d.Rows)
	}
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	one, two := newChart(at, 1, "Requests"), newChart(at, 1, "Requests")
	one.add("CRM", at, 1)
	two.add("CRM", at, 1)
	two.add("Nightly", at, 50)
	two.add("Shop", at, 70)
	if a, b := one.classOf("CRM"), two.classOf("CRM"); a != b {
		t.Errorf("one name has the colours %s and %s", a, b)
	}
}

func TestTheForecastOfAMonth(t *testing.T) {
	for at, want := range map[string]int64{"2026-11-16T00:00:00Z": 200, "2026-11-01T01:00:00Z": 3000} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := forecast(100, now); got != want {
			t.Errorf("%s: %d, want %d", at, got, want)
		}
	}
}

// The rule of the buttons of the person's menu reaches them: they are in forms.
func TestTheMenuReachesItsButtons(t *testing.T) {
	style, err := assets.ReadFile("assets/console.css")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(style), ".menu>div>form>button") {
		t.Error("the style has no rule for the buttons of the menu")
	}
}
