package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/content-automation/api/clients/go"
)

// Refused calls have the colour of errors, and a name has the same colour in every chart.
func TestRefusedCallsAreRed(t *testing.T) {
	v := &view{Language: "en"}
	d := chartOfKey(key{APIKeyDetails: client.APIKeyDetails{UsageByDay: []client.APIKeyDay{{Day: "2026-11-26",
		Calls: 9, Refused: 2}}}}, v)
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

func keyNamed(id, name string) key {
	return key{APIKeyDetails: client.APIKeyDetails{ID: id, Name: name}}
}

// Names of keys have different colours, and keep them if a key is added.
func TestKeysHaveTheirColours(t *testing.T) {
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	u := readUsage{Keys: []key{keyNamed("key_03", "Nightly import"), keyNamed("key_01", "CRM integration"),
		keyNamed("key_02", "Shop")}}
	one, two := newChart(at, 1, "Requests"), newChart(at, 1, "Credits")
	u.paint(one, "key")
	u.Keys = append(u.Keys, keyNamed("key_04", "Acme"))
	u.paint(two, "key")
	for name, want := range map[string]string{"CRM integration": "c1", "Shop": "c2", "Nightly import": "c3"} {
		if a, b := one.classOf(name), two.classOf(name); a != want || b != want {
			t.Errorf("%s has the colours %s and %s, want %s", name, a, b, want)
		}
	}
}

func TestTheForecastOfAMonth(t *testing.T) {
	for at, want := range map[string]int64{"2026-11-16T00:00:00Z": 200, "2026-11-01T01:00:00Z": 3000} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := forecastOf(100, now); got != want {
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

// forecastOf returns the forecast of a month that has cost some credits.
func forecastOf(spent int64, now time.Time) int64 {
	m := newMonth(now, 0)
	m.add(now, spent)
	return m.end()
}

func TestTheChartOfAMonthHasItsForecastAndItsLimit(t *testing.T) {
	now := time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	m := newMonth(now, 500)
	m.add(now.AddDate(0, 0, -1), 90)
	m.add(now.AddDate(0, -1, 0), 1000)
	m.add(now.AddDate(1, 0, 0), 1000)
	d := m.done(&view{Language: "en"})
	if m.end() != 300 || d.Total != 90 || d.Series[2].Total != 590 ||
		!strings.Contains(string(d.SVG), `class="limit"`) ||
		!strings.Contains(string(d.SVG), `class="dotted"`) || len(d.Rows) != 11 {
		t.Errorf("%d %+v", m.end(), d)
	}
	if d := newMonth(now, 1_000_000).done(&view{}); strings.Contains(string(d.SVG), `class="limit"`) {
		t.Error("a limit that is far away flattens the lines")
	}
}

// A page of some of many clients repeats no colour.
func TestFacesOfAPageDoNotRepeat(t *testing.T) {
	var n names
	for i := range 30 {
		n.Profiles = append(n.Profiles, named{ID: fmt.Sprintf("prf_%02d", i), Name: "Client"})
	}
	var faces []*face
	for i := range colours {
		f := faceIn(n.Profiles, fmt.Sprintf("prf_%02d", i*2), "Client")
		faces = append(faces, &f, &face{ID: f.ID, Class: f.Class})
	}
	distinct(faces)
	seen := map[string]string{}
	for _, f := range faces {
		if other := seen[f.Class]; other != "" && other != f.ID {
			t.Errorf("%s and %s have the colour %s", other, f.ID, f.Class)
		}
		seen[f.Class] = f.ID
	}
	if len(seen) != colours {
		t.Errorf("%d colours", len(seen))
	}
}
