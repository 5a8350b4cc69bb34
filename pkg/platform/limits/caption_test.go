package limits

import (
	"strings"
	"testing"
)

func TestCaptionsAreCountedAsThePlatformCounts(t *testing.T) {
	text := "Läuft 🏃" // the runner is one character, and two UTF-16 units
	for _, c := range Captions {
		want := 7
		if c.Platform == "tiktok" {
			want = 8
		}
		if got := c.Length(text); got != want {
			t.Errorf("%s counts %d", c.Platform, got)
		}
		if c.Most < 1000 || c.Length(strings.Repeat("ü", c.Most)) != c.Most {
			t.Errorf("%+v", c)
		}
	}
}
