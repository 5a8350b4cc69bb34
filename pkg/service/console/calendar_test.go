package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/clock"
)

func date(t *testing.T, text string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheWeeksOfACalendar(t *testing.T) {
	for _, c := range []struct {
		anchor         string
		week           bool
		from, to       string
		earlier, later string
	}{
		{"2026-11-23", true, "2026-11-23", "2026-11-30", "2026-11-16", "2026-11-30"},
		{"2026-11-22", true, "2026-11-16", "2026-11-23", "2026-11-15", "2026-11-29"},
		{"2026-11-23", false, "2026-10-26", "2026-12-07", "2026-10-01", "2026-12-01"},
		{"2027-02-10", false, "2027-02-01", "2027-03-01", "2027-01-01", "2027-03-01"},
		{"2027-01-31", false, "2026-12-28", "2027-02-01", "2026-12-01", "2027-02-01"},
	} {
		s := spanOf(date(t, c.anchor), c.week)
		for name, pair := range map[string][2]string{"from": {s.From.Format(time.DateOnly), c.from},
			"to": {s.To.Format(time.DateOnly), c.to}, "earlier": {s.step(-1).Format(time.DateOnly), c.earlier},
			"later": {s.step(1).Format(time.DateOnly), c.later}} {
			if pair[0] != pair[1] {
				t.Errorf("%s, week %v: %s is %s, want %s", c.anchor, c.week, name, pair[0], pair[1])
			}
		}
	}
}

// Clocks that are set forward at midnight and back in the night lose no entry and no day.
func TestTheDaysOfACalendarInZones(t *testing.T) {
	for zone, c := range map[string]struct{ anchor, at, want string }{
		"Europe/Berlin":    {"2026-10-25", "2026-10-24T22:30:00Z", "2026-10-25"}, // 25 hours
		"Africa/Cairo":     {"2026-04-24", "2026-04-23T22:30:00Z", "2026-04-24"}, // begins at 01:00
		"Pacific/Auckland": {"2026-11-23", "2026-11-22T11:30:00Z", "2026-11-23"},
		"UTC":              {"2026-11-23", "2026-11-29T23:59:59Z", "2026-11-29"},
	} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		s := spanOf(date(t, c.anchor), true)
		if from, to := s.bounds(place); at.Before(from) || !at.Before(to) {
			t.Errorf("%s: %v is not between %v and %v", zone, at, from, to)
		}
		days, found := s.days(at, place, []planned{{PlannedAt: at}, {PlannedAt: at.AddDate(0, 0, 30)}}), ""
		for _, d := range days {
			if len(d.Entries) == 1 && d.Today {
				found = d.At.Format(time.DateOnly)
			}
		}
		if len(days) != 7 || found != c.want {
			t.Errorf("%s: %d days, the entry is on %q, want %s", zone, len(days), found, c.want)
		}
	}
}

// A time that is chosen in the calendar follows the rule of all plans: one that the clocks skip is later by what they
// skip, and of one that they show twice it is the first.
func TestATimeOfTheNightOfAChange(t *testing.T) {
	for _, c := range []struct{ zone, at, want string }{
		{"America/New_York", "2027-03-14T02:30", "2027-03-14T07:30:00Z"}, // 03:30
		{"Europe/Berlin", "2027-03-28T02:30", "2027-03-28T01:30:00Z"},    // 03:30
		{"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z"},    // the first
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"}, // the first
		{"America/Havana", "2027-03-14T00:15", "2027-03-14T05:15:00Z"},   // 01:15
	} {
		post := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("at="+c.at))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		body, err := movedTo(&request{Request: post, session: &session.Session{Zone: c.zone}})
		if got, _ := body.(map[string]any); err != nil || got["publish_at"] != c.want {
			t.Errorf("%s in %s is %v, want %s: %v", c.at, c.zone, body, c.want, err)
		}
	}
}

// A day that begins at 01:00 is one of the next days, and what is due before it is due today.
func TestADayWithoutMidnight(t *testing.T) {
	zone, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	eve := time.Date(2026, 9, 5, 12, 0, 0, 0, zone)
	days, _, _ := today{}.days(&view{}, clock.On(eve, 0))
	for n, d := range days {
		if want := eve.AddDate(0, 0, n).Format(time.DateOnly); d.Day.Format(time.DateOnly) != want {
			t.Errorf("day %d is %v, want %s", n, d.Day, want)
		}
	}
	late := time.Date(2026, 9, 5, 23, 30, 0, 0, zone)
	if q := (&queue{now: eve}); !q.in(dueToday, content{ContentItem: client.ContentItem{PublishAt: &late}}) {
		t.Error("an item of 23:30 is not due today")
	}
}

func TestADayOfAMonthTellsWhatItLeavesOut(t *testing.T) {
	at := date(t, "2026-11-23").Add(9 * time.Hour)
	all := make([]planned, mostOfDay+3)
	for i := range all {
		all[i].PlannedAt = at.Add(time.Duration(i) * time.Minute)
	}
	for week, want := range map[bool][2]int{false: {mostOfDay, 3}, true: {mostOfDay + 3, 0}} {
		for _, d := range spanOf(at.Truncate(24*time.Hour), week).days(at, time.UTC, all) {
			if d.Today && (len(d.Entries) != want[0] || d.More != want[1]) {
				t.Errorf("week %v: %d entries and %d more", week, len(d.Entries), d.More)
			}
		}
	}
}

// Only the hosts of the files of a page are added to its policy.
func TestThePolicyOfPagesWithMedia(t *testing.T) {
	w := httptest.NewRecorder()
	setHeaders(w.Header())
	r := &request{Request: httptest.NewRequest(http.MethodGet, "/", http.NoBody), w: w}
	r.permitMedia()
	if got := w.Header().Get("Content-Security-Policy"); got != policy {
		t.Errorf("without files: %s", got)
	}
	r.permitMedia(mediaFile{URL: "https://media.example.com/a.png?x=1"}, mediaFile{URL: "https://media.example.com/b.mp4"},
		mediaFile{URL: "https://evil.example; script-src *"}, mediaFile{URL: "/relative"}, mediaFile{URL: "javascript:1"})
	got := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"media-src https://media.example.com;", "img-src 'self' https://media.example.com data:;",
		"default-src 'none'; script-src 'self';"} {
		if !strings.Contains(got, want) {
			t.Errorf("the policy lacks %q: %s", want, got)
		}
	}
	if strings.Contains(got, "evil") || strings.Contains(got, "javascript") {
		t.Errorf("the policy has a host that is none: %s", got)
	}
}

// Lists show the thumbnail of a picture or a video, and a picture without one whole. A video without one has no
// picture.
func TestListsShowThumbnails(t *testing.T) {
	small := "https://media.example.com/small.jpg"
	for name, test := range map[string]struct {
		files []mediaFile
		want  string
	}{
		"a picture":             {[]mediaFile{{Role: "final", Type: "image", URL: "whole", Thumbnail: &small}}, small},
		"a picture from before": {[]mediaFile{{Role: "final", Type: "image", URL: "whole"}}, "whole"},
		"a video":               {[]mediaFile{{Role: "final", Type: "video", URL: "film", Thumbnail: &small}}, small},
		"a video with its poster": {[]mediaFile{{Role: "final", Type: "video"},
			{Role: "poster", Type: "image", URL: "poster"}}, "poster"},
		"a video from before": {[]mediaFile{{Role: "final", Type: "video", URL: "film"}}, ""},
	} {
		c, got := content{ID: "cnt_1", Media: test.files}, ""
		if p := c.Picture(); p != nil {
			got = p.Small()
		}
		if got != test.want {
			t.Errorf("%s: %q, not %q", name, got, test.want)
		}
		var out strings.Builder
		err := screens()["approvals"].render(&out, &view{Dialog: true, Data: map[string]any{"Waiting": 1, "Queue": "",
			"Groups": byClient([]content{c}, names{}, nil), "Filters": map[string]string{}, "Names": names{}}})
		if want := `src="` + test.want + `"`; err != nil || test.want != "" && !strings.Contains(out.String(), want) ||
			test.want == "" && strings.Contains(out.String(), "<img") {
			t.Errorf("%s: %v, %s", name, err, out.String())
		}
	}
}
