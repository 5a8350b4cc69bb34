package compose

import (
	"image"
	"image/color"
	"strings"
	"testing"
	"time"
)

// dark reports whether the pixel of a frame of a video of the reduced size is dark.
func dark(raw []byte, width, x, y int) bool {
	at := (y*width + x) * 3
	return int(raw[at])+int(raw[at+1])+int(raw[at+2]) < 3*70
}

// A notice is at the top of pictures, and of all parts of a video from its first frame on.
func TestANoticeIsSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	light := b.plain("light", color.RGBA{230, 230, 230, 255})
	for name, w := range map[string]func(notice string) Work{
		"post": func(n string) Work {
			return Picture{Use: Post, Path: light, Text: "Nets", Language: "de", Notice: n}
		},
		"story": func(n string) Work { return Picture{Use: Story, Path: light, Language: "de", Notice: n} },
		"slides": func(n string) Work {
			return Carousel{Language: "de", Notice: n, Slides: []Slide{{Path: light, Heading: "A"}, {Path: light}}}
		},
	} {
		area := image.Rect(slideInset, slideInset, wide-slideInset, slideTall-slideInset)
		if name == "story" {
			area = SafeStory
		}
		plate := func(notice string) bool {
			all := true
			for _, f := range b.compose(w(notice)).Files {
				at := area.Min.Add(image.Pt(8, 24))
				all = all && colorAt(b.image(f), at.X, at.Y).Luminance() < 0.05
			}
			return all
		}
		if !plate("Реклама · KI-generiert") || plate("") {
			t.Errorf("%s: with a notice %t, without %t", name, plate("Реклама · KI-generiert"), plate(""))
		}
	}
	v := Video{Format: Portrait, Quality: Draft, scale: small, Language: "de", Notice: "KI-generiert",
		Intro:  Bumper{Clip: b.colored("intro", "white", "270x480", 1500*time.Millisecond, "")},
		Scenes: []Scene{{Picture: light, Length: 2 * time.Second}}}
	res := b.compose(v)
	width, height := 1080/small, 1920/small
	x, y := (SafePortrait.Min.X+8)/small, (SafePortrait.Min.Y+24)/small
	for _, frame := range []int{0, 30} {
		if !dark(b.pixels(res.Files[0].Path, frame, width, height), width, x, y) {
			t.Errorf("frame %d has no notice", frame)
		}
	}
	e := b.fails(Picture{Use: Post, Path: light, Language: "de", Notice: strings.Repeat("Werbung ", 90)})
	if e.About != "/notice" {
		t.Errorf("a notice that is too long: %+v", e)
	}
}
