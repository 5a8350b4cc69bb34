package webhook

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/httpapi/apitest"
)

func TestWaitsSpreadRoundTheSchedule(t *testing.T) {
	for i, scheduled := range schedule {
		low, high := wait(i, 0, 0), wait(i, 0, 1)
		if low >= scheduled || high <= scheduled || low < scheduled*8/10 || high > scheduled*12/10 {
			t.Errorf("wait %d: %v to %v, want round %v", i, low, high, scheduled)
		}
	}
	if got := wait(len(schedule), time.Hour, 0.5); got != 0 {
		t.Errorf("after the last attempt: %v", got)
	}
}

func TestNoWaitIsShorterThanTheReceiverAsks(t *testing.T) {
	for _, chance := range []float64{0, 0.3, 1} {
		for i := range schedule {
			for _, asked := range []time.Duration{0, time.Second, time.Minute, 3 * time.Hour, 24 * time.Hour} {
				if got := wait(i, asked, chance); got < asked || got < wait(i, 0, chance) {
					t.Errorf("wait(%d, %v, %v) = %v", i, asked, chance, got)
				}
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := apitest.NewClock().Now()
	for _, c := range []struct {
		status int
		value  string
		want   time.Duration
	}{
		{429, "120", 2 * time.Minute},
		{503, "120", 2 * time.Minute},
		{500, "120", 0},
		{200, "120", 0},
		{429, "", 0},
		{429, "0", 0},
		{429, "-5", 0},
		{429, "soon", 0},
		{429, "1.5", 0},
		{429, "86400", 24 * time.Hour},
		{429, "86401", 24 * time.Hour},
		{429, "9223372036854775807", 24 * time.Hour},
		{429, "99999999999999999999", 0},
		{503, now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{503, now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{503, now.Add(1000 * time.Hour).Format(http.TimeFormat), 24 * time.Hour},
		{503, now.Add(time.Hour).Format(time.RFC850), time.Hour},
		{503, now.Add(time.Hour).Format(time.RFC3339), 0},
	} {
		if got := retryAfter(c.status, http.Header{"Retry-After": {c.value}}, now); got != c.want {
			t.Errorf("%d %q: %v, want %v", c.status, c.value, got, c.want)
		}
	}
}

func TestTextIsValidAndBounded(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{strings.Repeat("a", keptBody), strings.Repeat("a", keptBody)},
		{strings.Repeat("a", keptBody-1) + "\xc3", strings.Repeat("a", keptBody-1)},         // ü cut in two
		{strings.Repeat("a", keptBody-3) + "\xf0\x9f\x98", strings.Repeat("a", keptBody-3)}, // an emoji cut
		{strings.Repeat("a", keptBody-2) + "ü", strings.Repeat("a", keptBody-2) + "ü"},
		{"a\xffb", "a\uFFFDb"},
		{"\xff\xff\xffb", "\uFFFDb"},
		{"a\x00b", "a\x00b"},
	} {
		if got := text([]byte(c.in)); got != c.want {
			t.Errorf("text(%q) = %q", c.in, got)
		}
	}
	// Each broken byte becomes three: still no more than the bound.
	if got := text([]byte(strings.Repeat("\xffa", keptBody/2))); len(got) > keptBody || len(got) < keptBody-3 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
