package item

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

// Prompts of pictures ask for calm room where the layout of the design draws text, and name the framing of each scene.
func TestPicturesLeaveRoomForTheirTexts(t *testing.T) {
	t.Parallel()
	fades := func(y, height float64, anchor string) *theme.Theme {
		own, _ := theme.Own("calm")
		d := *own
		d.Post.Text.Y, d.Post.Text.Height, d.Post.Anchor, d.Post.Plate = y, height, anchor, "fade"
		return &d
	}
	for _, c := range []struct {
		theme  string
		design *theme.Theme
		kind   Kind
		shape  string
		number int
		want   string
	}{
		{"", nil, Story, "story", 1, "lower half"}, {"calm", nil, Carousel, "carousel", 1, "lower half"},
		{"calm", nil, Carousel, "carousel", 2, ""}, {"calm", nil, Carousel, "carousel", 3, "lower half"},
		{"bold", nil, Carousel, "carousel", 1, ""}, {"bold", nil, Story, "story", 1, ""},
		{"playful", nil, Carousel, "carousel", 3, "upper half"},
		{"editorial", nil, Video, "short video", 1, "upper quarter and the lower third"},
		{"calm", nil, Post, "headline", 1, "lower half"}, {"calm", nil, Post, "", 1, ""},
		// A story that is a clip has its title at the top, in every design.
		{"minimal", nil, Story, "story clip", 1, "upper quarter"},
		{"calm", nil, Story, "story clip", 1, "upper quarter"},
		// In designs of customers, the area of the text says where it is, and not its anchor alone.
		{"", fades(6, 30, "bottom"), Post, "headline", 1, "upper half"},
		{"", fades(62, 30, "top"), Post, "headline", 1, "lower half"},
		{"", fades(62, 30, ""), Carousel, "carousel", 1, "lower half"},
		{"", fades(30, 40, "middle"), Post, "headline", 1, "middle half"},
		{"", fades(60, 36, "middle"), Post, "headline", 1, "lower half"},
		{"", fades(0, 100, "top"), Post, "headline", 1, "upper half"},
	} {
		r := writerOf(&Record{Item: Item{Kind: c.kind, Slides: make([]Slide, 5)}, Headlined: c.shape == "headline",
			Brief: Brief{Brand: &generate.Brand{Theme: c.theme, Design: c.design}}, Attempt: Attempt{Shape: c.shape}})
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

// Videos end with the address of the website as people write it.
func TestTheAddressOfABrandHasNoScheme(t *testing.T) {
	t.Parallel()
	for website, want := range map[string]string{"https://www.acme.example/": "acme.example",
		"http://acme.example/shop": "acme.example/shop", "acme.example": "acme.example", "": ""} {
		b := brandOf(map[string]any{"brand_name": "Acme", "website": website}, nil, nil)
		if b == nil || b.Address != want {
			t.Errorf("%q: %+v, not %q", website, b, want)
		}
	}
}
