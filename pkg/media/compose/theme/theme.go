// Package theme has the designs of finished media as data: where a picture and its texts lie, in which letters and
// colors, and what is drawn around them. Own are the designs of the service, and Parse reads one of a customer.
package theme

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Theme is a design of media.
type Theme struct {
	// Font of all texts, unless a factory has another.
	//
	// It is a family of script.Fonts.
	Font string `json:"font" enum:"noto_sans,montserrat,lora,oswald"`
	// Motion with which the texts of videos appear.
	Motion string `json:"motion" enum:"none,fade,slide,unveil,rise"`
	// Radius of the corners of plates, in pixels of a picture that is 1080 wide, as are all sizes.
	Round int `json:"round" minimum:"0" maximum:"120"`
	// Color of the band with the brand's name and the button.
	Band Color `json:"band"`
	// Layout of posts, and of the first slides of carousels.
	Post Layout `json:"post"`
	// Slides between the first and the last one, in turn.
	Slides []Layout `json:"slides" minItems:"1" maxItems:"4"`
	// Layout of the last slides of carousels.
	Last Layout `json:"last"`
	// Layout of stories, and of the covers of videos.
	Story Layout `json:"story"`
	// Layout of pictures and scenes of products.
	Product Layout `json:"product"`
	// Plate of the price of a product.
	Sticker Plate `json:"sticker"`
	// Plate of the texts of scenes of videos.
	Scene Plate `json:"scene"`
	// Captions of videos. Its accent is behind the spoken word.
	Captions Plate `json:"captions"`
	// End of videos. Its shape is that of the button.
	EndCard Plate `json:"end_card"`
	// Ground of music clips. Its accent is the waveform.
	Music Plate `json:"music"`
}

// Layout is the arrangement of a picture and its text.
type Layout struct {
	// Color behind the picture and the text.
	Ground Color `json:"ground"`
	// What is drawn on the ground, behind picture and text.
	Decor string `json:"decor,omitempty" enum:"none,circle,frame,dots,stripe"`
	// Area of the picture. Text that lies on the ground takes its room from it.
	Picture Area `json:"picture"`
	// Radius of the corners of the picture, in pixels.
	Round int `json:"round,omitempty" minimum:"0" maximum:"540"`
	// Area of the texts. Only the part that no platform covers is used.
	Text Area `json:"text"`
	// Alignment: start is the left, or the right in languages from right to left.
	Align string `json:"align,omitempty" enum:"start,center"`
	// Edge of its area at which the text lies.
	Anchor string `json:"anchor,omitempty" enum:"top,middle,bottom"`
	// Greatest size of the letters of the heading, in pixels. The largest that fit are used, from 32 on.
	Heading int `json:"heading" minimum:"48" maximum:"240"`
	// Greatest size of the letters of the body, in pixels.
	Body int `json:"body,omitempty" minimum:"32" maximum:"96"`
	// What lies between picture and text: nothing, as the text lies on the ground, a box or a fade.
	Plate string `json:"plate,omitempty" enum:"none,box,fade"`
	// Color of the box or the fade.
	PlateColor Color `json:"plate_color,omitempty"`
	// Color of the text where it can be read. Absent: black or white.
	Letters Color `json:"letters,omitempty"`
	// Whether a short bar is drawn before the heading.
	Bar bool `json:"bar,omitempty"`
}

// Plate is a colored shape with a text on it.
type Plate struct {
	// Shape: none is the text alone.
	Shape string `json:"shape" enum:"none,box,pill,circle,burst,label"`
	// Color of the plate, behind the text on it.
	Color Color `json:"color"`
	// Color of what stands out on it.
	Accent Color `json:"accent,omitempty"`
	// Greatest size of the letters, in pixels.
	Size int `json:"size,omitempty" minimum:"32" maximum:"240"`
}

// Area is a rectangle, in percent of the width and height of the picture.
type Area struct {
	// Left edge, from the left edge of the picture.
	X float64 `json:"x" minimum:"0" maximum:"100"`
	// Upper edge, from the upper edge of the picture.
	Y float64 `json:"y" minimum:"0" maximum:"100"`
	// Together with x at most 100; of products at least 80.
	Width float64 `json:"width" minimum:"5" maximum:"100"`
	// Together with y at most 100.
	Height float64 `json:"height" minimum:"5" maximum:"100"`
}

// Color is a color of the brand, one that fits it, or one of its own as #RRGGBB.
type Color string

// The colors that are not of their own.
const (
	Main   Color = "main"   // the first color of the brand
	Second Color = "second" // the second one, or the first
	Tint   Color = "tint"   // a light one of the hue of the first
	Soft   Color = "soft"   // between tint and main
	Deep   Color = "deep"   // a dark one of the hue of the first
	Paper  Color = "paper"
	Ink    Color = "ink"
	White  Color = "white"
	Black  Color = "black"
)

var colors = []Color{Main, Second, Tint, Soft, Deep, Paper, Ink, White, Black}

// Over returns the part of a picture over which the layout draws its text: upper, middle or lower, or nothing if the
// text lies beside the picture.
func (l Layout) Over() string {
	if l.Plate != "box" && l.Plate != "fade" {
		return ""
	}
	switch at := l.Words(); {
	case at < 42:
		return "upper"
	case at > 58:
		return "lower"
	}
	return "middle"
}

// Words returns the height of the middle of a text of a usual length, in percent of the picture.
func (l Layout) Words() float64 {
	half := min(12, l.Text.Height/2)
	switch l.Anchor {
	case "top":
		return l.Text.Y + half
	case "middle":
		return l.Text.Y + l.Text.Height/2
	}
	return l.Text.Y + l.Text.Height - half
}

//go:embed themes/*.json
var files embed.FS

// Names are the names of the service's own themes, the default first.
var Names = []string{"calm", "bold", "editorial", "minimal", "playful"}

var own = sync.OnceValue(func() map[string]*Theme {
	all := map[string]*Theme{}
	for _, name := range Names {
		content, err := files.ReadFile(path.Join("themes", name+".json"))
		if err != nil {
			panic(err)
		}
		if all[name], err = Parse(content); err != nil {
			panic(fmt.Sprintf("theme %s: %v", name, err))
		}
	}
	return all
})

// Own returns a theme of the service by its name, of which the empty one is the default. It is not to be changed.
func Own(name string) (*Theme, bool) {
	if name == "" {
		name = Names[0]
	}
	t, ok := own()[name]
	return t, ok
}

// Source returns the file of a theme of the service, as customers may begin with it.
func Source(name string) []byte {
	content, err := files.ReadFile(path.Join("themes", name+".json"))
	if err != nil {
		return nil
	}
	return content
}

// Fault is what is wrong with a theme.
type Fault struct {
	// Member is the JSON pointer of the member, such as /post/text/width.
	Member string
	// Message says what the member must be. The member is its subject.
	Message string
}

// Error implements error.
func (f *Fault) Error() string { return f.Member + " " + f.Message }

// maxBytes is the greatest length of a theme.
const maxBytes = 20_000

// Parse reads a theme, and returns a *Fault for the first member that is wrong.
func Parse(content []byte) (*Theme, error) {
	if len(content) > maxBytes {
		return nil, &Fault{"", fmt.Sprintf("must have at most %d bytes", maxBytes)}
	}
	var t Theme
	if err := json.Unmarshal(content, &t); err != nil {
		return nil, &Fault{"", strings.TrimPrefix(err.Error(), "json: ")}
	}
	if faults := t.Check(); len(faults) > 0 {
		return nil, faults[0]
	}
	return &t, nil
}

// Check returns all that is wrong with a theme beyond the bounds of its single members.
func (t *Theme) Check() (all []*Fault) {
	c := checker{}
	c.oneOf("/font", t.Font, "noto_sans", "montserrat", "lora", "oswald")
	c.oneOf("/motion", t.Motion, "none", "fade", "slide", "unveil", "rise")
	c.within("/round", t.Round, 0, 120)
	c.color("/band", t.Band, true)
	if len(t.Slides) < 1 || len(t.Slides) > 4 {
		c.add("/slides", "must have from 1 to 4 layouts")
	}
	c.layout("/post", t.Post)
	for i, l := range t.Slides {
		c.layout(fmt.Sprintf("/slides/%d", i), l)
	}
	c.layout("/last", t.Last)
	c.layout("/story", t.Story)
	c.layout("/product", t.Product)
	if t.Product.Picture.Width < leastProduct {
		c.add("/product/picture/width", "must be at least %d percent, so that the product is large", leastProduct)
	}
	for _, p := range []struct {
		member string
		Plate
	}{{"/sticker", t.Sticker}, {"/scene", t.Scene}, {"/captions", t.Captions}, {"/end_card", t.EndCard},
		{"/music", t.Music}} {
		c.plate(p.member, p.Plate)
	}
	return c.all
}

// leastProduct is the least width of the area of a product, in percent.
const leastProduct = 80

type checker struct{ all []*Fault }

func (c *checker) add(member, format string, args ...any) {
	c.all = append(c.all, &Fault{member, fmt.Sprintf(format, args...)})
}

func (c *checker) oneOf(member, value string, of ...string) {
	if !slices.Contains(of, value) {
		c.add(member, "must be one of %s", strings.Join(of, ", "))
	}
}

func (c *checker) within(member string, value, least, most int) {
	if value < least || value > most {
		c.add(member, "must be from %d to %d", least, most)
	}
}

func (c *checker) color(member string, value Color, needed bool) {
	if value == "" && !needed || slices.Contains(colors, value) || hex(string(value)) {
		return
	}
	names := make([]string, len(colors))
	for i, n := range colors {
		names[i] = string(n)
	}
	c.add(member, "must be one of %s, or a color such as #0a7cff", strings.Join(names, ", "))
}

func hex(s string) bool {
	return len(s) == 7 && s[0] == '#' && strings.Trim(s[1:], "0123456789abcdefABCDEF") == ""
}

func (c *checker) area(member string, a Area) {
	if a == (Area{}) {
		c.add(member, "is required: x, y, width and height in percent of the picture")
		return
	}
	for _, side := range []struct {
		name   string
		at, by float64
	}{{"width", a.X, a.Width}, {"height", a.Y, a.Height}} {
		switch {
		case side.at < 0 || side.by < 5:
			c.add(member+"/"+side.name, "must be of an area that begins at 0 or more, and takes at least 5 percent")
		case side.at+side.by > 100:
			c.add(member+"/"+side.name, "ends outside of the picture: together with the beginning of the area, it "+
				"is %g percent", side.at+side.by)
		}
	}
}

func (c *checker) layout(member string, l Layout) {
	c.color(member+"/ground", l.Ground, true)
	c.oneOf(member+"/decor", l.Decor, "", "none", "circle", "frame", "dots", "stripe")
	c.area(member+"/picture", l.Picture)
	c.within(member+"/round", l.Round, 0, 540)
	c.area(member+"/text", l.Text)
	c.oneOf(member+"/align", l.Align, "", "start", "center")
	c.oneOf(member+"/anchor", l.Anchor, "", "top", "middle", "bottom")
	c.within(member+"/heading", l.Heading, 48, 240)
	if l.Body != 0 {
		c.within(member+"/body", l.Body, 32, 96)
	}
	c.oneOf(member+"/plate", l.Plate, "", "none", "box", "fade")
	c.color(member+"/plate_color", l.PlateColor, l.Plate == "box" || l.Plate == "fade")
	c.color(member+"/letters", l.Letters, false)
}

func (c *checker) plate(member string, p Plate) {
	c.oneOf(member+"/shape", p.Shape, "none", "box", "pill", "circle", "burst", "label")
	c.color(member+"/color", p.Color, true)
	c.color(member+"/accent", p.Accent, false)
	if p.Size != 0 {
		c.within(member+"/size", p.Size, 32, 240)
	}
}
