package webhook

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/infra/verify/harness/apitest"
)

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
		{429, "1.5", 1500 * time.Millisecond}, // some servers send parts of a second
		{429, "86400", 24 * time.Hour},
		{429, "86401", 24 * time.Hour},
		{429, "9223372036854775807", 24 * time.Hour},
		{429, "99999999999999999999", 24 * time.Hour},
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
		{"a\x00b", "ab"},
	} {
		if got := text([]byte(c.in)); got != c.want {
			t.Errorf("text(%q) = %q", c.in, got)
		}
	}
	// Each broken byte becomes three: still no more than the bound.
	if got := text([]byte(strings.Repeat("\xffa", keptBody/2))); len(got) > keptBody || len(got) < keptBody-3 ||
		!utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// SQS refuses U+FFFE and U+FFFF, which JSON takes.
func TestCharactersThatQueuesRefuse(t *testing.T) {
	const text = "a\uFFFEb\uFFFFc\uFFFDü😀"
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	escaped := withoutNoncharacters(raw)
	var back string
	if err := json.Unmarshal(escaped, &back); err != nil || back != text ||
		strings.ContainsAny(string(escaped), "\uFFFE\uFFFF") {
		t.Errorf("%s became %s, %v", raw, escaped, err)
	}
}
