package theme

import (
	"encoding/json"
	"strings"
	"testing"
)

// Each theme of the service is a file that a customer may begin with.
func TestTheOwnThemesAreValid(t *testing.T) {
	for _, name := range Names {
		own, ok := Own(name)
		again, err := Parse(Source(name))
		if !ok || err != nil || own.Font != again.Font {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
	if first, _ := Own(""); first == nil || first.Band != Main {
		t.Error("the empty name is not the first theme")
	}
	if _, ok := Own("loud"); ok {
		t.Error("there is a theme loud")
	}
}

// A fault names its member.
func TestAFaultNamesItsMember(t *testing.T) {
	for member, change := range map[string]func(*Theme){
		"/font":                  func(t *Theme) { t.Font = "comic_sans" },
		"/motion":                func(t *Theme) { t.Motion = "spin" },
		"/round":                 func(t *Theme) { t.Round = 300 },
		"/band":                  func(t *Theme) { t.Band = "pink" },
		"/slides":                func(t *Theme) { t.Slides = nil },
		"/slides/1/text/width":   func(t *Theme) { t.Slides[1].Text.X = 60 },
		"/post/text/height":      func(t *Theme) { t.Post.Text.Height = 2 },
		"/post/heading":          func(t *Theme) { t.Post.Heading = 20 },
		"/post/body":             func(t *Theme) { t.Post.Body = 20 },
		"/post/plate_color":      func(t *Theme) { t.Post.PlateColor = "" },
		"/last/ground":           func(t *Theme) { t.Last.Ground = "#12345" },
		"/story/anchor":          func(t *Theme) { t.Story.Anchor = "left" },
		"/product/picture/width": func(t *Theme) { t.Product.Picture.Width = 60 },
		"/sticker/shape":         func(t *Theme) { t.Sticker.Shape = "heart" },
		"/captions/color":        func(t *Theme) { t.Captions.Color = "" },
		"/end_card/size":         func(t *Theme) { t.EndCard.Size = 12 },
		"/music/accent":          func(t *Theme) { t.Music.Accent = "loud" },
	} {
		one, err := Parse(Source("calm"))
		if err != nil {
			t.Fatal(err)
		}
		change(one)
		content, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(content)
		if f, ok := err.(*Fault); !ok || f.Member != member || f.Message == "" {
			t.Errorf("%s: %v", member, err)
		}
	}
	if _, err := Parse([]byte("[]")); err == nil {
		t.Error("a list is a design")
	}
	if _, err := Parse([]byte(strings.Repeat(" ", maxBytes+1))); err == nil {
		t.Error("a design may have any length")
	}
}

// Where text lies over a picture, models of pictures leave calm room.
func TestTheRoomOfATextIsNamed(t *testing.T) {
	for plate, want := range map[string]string{"": "", "none": "", "box": "lower", "fade": "lower"} {
		if got := (Layout{Plate: plate, Anchor: "bottom"}).Over(); got != want {
			t.Errorf("%q: %q, not %q", plate, got, want)
		}
	}
	if got := (Layout{Plate: "box", Anchor: "top"}).Over(); got != "upper" {
		t.Errorf("a box at the top lies over the %s part", got)
	}
}
