package media_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/theme"
)

// Each theme of the service is a file that a customer may begin with.
func TestTheOwnThemesAreValid(t *testing.T) {
	for _, name := range theme.Names {
		own, ok := theme.Own(name)
		again, err := theme.Parse(theme.Source(name))
		if !ok || err != nil || own.Font != again.Font {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
	if first, _ := theme.Own(""); first == nil || first.Band != theme.Main {
		t.Error("the empty name is not the first theme")
	}
	if _, ok := theme.Own("loud"); ok {
		t.Error("there is a theme loud")
	}
}

// A fault names its member.
func TestAFaultNamesItsMember(t *testing.T) {
	for member, change := range map[string]func(*theme.Theme){
		"/font":                  func(t *theme.Theme) { t.Font = "comic_sans" },
		"/motion":                func(t *theme.Theme) { t.Motion = "spin" },
		"/round":                 func(t *theme.Theme) { t.Round = 300 },
		"/band":                  func(t *theme.Theme) { t.Band = "pink" },
		"/slides":                func(t *theme.Theme) { t.Slides = nil },
		"/slides/1/text/width":   func(t *theme.Theme) { t.Slides[1].Text.X = 60 },
		"/post/text/height":      func(t *theme.Theme) { t.Post.Text.Height = 2 },
		"/post/heading":          func(t *theme.Theme) { t.Post.Heading = 20 },
		"/post/body":             func(t *theme.Theme) { t.Post.Body = 20 },
		"/post/plate_color":      func(t *theme.Theme) { t.Post.PlateColor = "" },
		"/last/ground":           func(t *theme.Theme) { t.Last.Ground = "#12345" },
		"/story/anchor":          func(t *theme.Theme) { t.Story.Anchor = "left" },
		"/product/picture/width": func(t *theme.Theme) { t.Product.Picture.Width = 60 },
		"/sticker/shape":         func(t *theme.Theme) { t.Sticker.Shape = "heart" },
		"/captions/color":        func(t *theme.Theme) { t.Captions.Color = "" },
		"/end_card/size":         func(t *theme.Theme) { t.EndCard.Size = 12 },
		"/music/accent":          func(t *theme.Theme) { t.Music.Accent = "loud" },
	} {
		one, err := theme.Parse(theme.Source("calm"))
		if err != nil {
			t.Fatal(err)
		}
		change(one)
		content, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		_, err = theme.Parse(content)
		if f, ok := err.(*theme.Fault); !ok || f.Member != member || f.Message == "" {
			t.Errorf("%s: %v", member, err)
		}
	}
	if _, err := theme.Parse([]byte("[]")); err == nil {
		t.Error("a list is a design")
	}
	if _, err := theme.Parse([]byte(strings.Repeat(" ", 20_000+1))); err == nil {
		t.Error("a design may have any length")
	}
}

// Where text lies over a picture, models of pictures leave calm room.
func TestTheRoomOfATextIsNamed(t *testing.T) {
	low, high := theme.Area{Y: 48, Height: 45}, theme.Area{Y: 4, Height: 40}
	for _, c := range []struct {
		plate, anchor string
		text          theme.Area
		want          string
	}{
		{"", "bottom", low, ""}, {"none", "bottom", low, ""},
		{"box", "bottom", low, "lower"}, {"fade", "", low, "lower"},
		{"box", "top", high, "upper"}, {"box", "middle", high, "upper"}, {"fade", "bottom", high, "upper"},
		{"fade", "bottom", theme.Area{Y: 10, Height: 50}, "middle"}, {"box", "top", low, "lower"},
	} {
		if got := (theme.Layout{Plate: c.plate, Anchor: c.anchor, Text: c.text}).Over(); got != c.want {
			t.Errorf("%s, %q in %v: %q, not %q", c.plate, c.anchor, c.text, got, c.want)
		}
	}
}
