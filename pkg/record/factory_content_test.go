package record_test

import (
	"testing"

	"github.com/content-automation/api/pkg/record/factory"
)

func TestFactoriesMakeTheFormatsOfTheirContentTypes(t *testing.T) {
	for _, c := range []struct {
		types        []string
		kind, format string
		makes        bool
	}{
		{[]string{"video"}, "video", "long", true},
		{[]string{"video"}, "video", "", true},
		{[]string{"short_video"}, "video", "", true},
		{[]string{"short_video"}, "video", "short", true},
		{[]string{"short_video"}, "video", "long", false},
		{[]string{"post", "long_video"}, "video", "long", true},
		{[]string{"post"}, "video", "", false},
		{[]string{"music_clip"}, "music_clip", "", true},
	} {
		if got := factory.Makes(c.types, c.kind, c.format); got != c.makes {
			t.Errorf("%v makes a %s of the format %q: %v", c.types, c.kind, c.format, got)
		}
	}
}
