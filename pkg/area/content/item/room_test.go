package item

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/generate"
)

// Prompts of pictures ask for calm room where the layout of the design draws text, and name the framing of each scene.
func TestPicturesLeaveRoomForTheirTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		theme  string
		kind   Kind
		number int
		want   string
	}{
		{"", Story, 1, "lower half"}, {"calm", Carousel, 1, "lower half"}, {"calm", Carousel, 2, ""},
		{"calm", Carousel, 3, "lower half"}, {"bold", Carousel, 1, ""}, {"bold", Story, 1, ""},
		{"playful", Carousel, 3, "upper half"}, {"editorial", Video, 1, "upper quarter and the lower third"},
		{"calm", Post, 1, ""},
	} {
		r := &writer{item: &Item{Kind: c.kind, Slides: make([]Slide, 5)},
			brief: &Brief{Brand: &generate.Brand{Theme: c.theme}}}
		got := r.room(part{Number: c.number})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s %d: %q, not the %s", c.theme, c.kind, c.number, got, c.want)
		}
	}
	r := &writer{item: &Item{Kind: Video}}
	seen := map[string]bool{}
	for n := 1; n <= 4; n++ {
		seen[r.framing(part{Number: n})] = true
	}
	if len(seen) != 4 || seen[""] {
		t.Errorf("four scenes have the framings %v", seen)
	}
}
