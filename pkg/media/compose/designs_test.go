package compose

import (
	"image"
	"image/color"
	"maps"
	"slices"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/testdata/breadth"
)

// long is a text of words that are longer than narrow columns.
var long = said{lang: "en", headline: "Donaudampfschifffahrtsgesellschaft: Rechtsschutzversicherung für alle",
	script: "Grundstücksverkehrsgenehmigungszuständigkeit.", call: "Jetzt versichern", price: "1.234.567,89 €",
	was: "9.876.543,21 €", until: "bis 20.12."}

// layouts are those of a design in which a picture and a text lie beside each other or over each other.
func layouts(d *theme.Theme) []*theme.Layout {
	all := []*theme.Layout{&d.Post, &d.Last, &d.Story}
	for i := range d.Slides {
		all = append(all, &d.Slides[i])
	}
	return all
}

// customers are designs that customers write: what they do to their layouts, and the least part of a post that shows
// the photo.
var customers = map[string]struct {
	base   string
	photo  float64
	change func(l *theme.Layout)
}{
	"a fade at the top": {"calm", 0.4, func(l *theme.Layout) {
		l.Text, l.Anchor = theme.Area{X: 6, Y: 4, Width: 88, Height: 34}, "top"
		l.Plate, l.PlateColor = "fade", "main"
	}},
	"a fade at the top, by its area": {"calm", 0.4, func(l *theme.Layout) {
		l.Text, l.Anchor, l.Plate, l.PlateColor = theme.Area{X: 6, Y: 4, Width: 88, Height: 34}, "", "fade", "black"
	}},
	"a fade in the middle": {"bold", 0.15, func(l *theme.Layout) {
		l.Text, l.Anchor = theme.Area{X: 6, Y: 35, Width: 88, Height: 30}, "middle"
		l.Plate, l.PlateColor = "fade", "white"
	}},
	"a column": {"minimal", 0.35, func(l *theme.Layout) {
		l.Picture, l.Text = theme.Area{X: 50, Width: 50, Height: 100}, theme.Area{X: 6, Y: 12, Width: 40, Height: 78}
		l.Anchor, l.Heading = "top", 84
	}},
	"a narrow column": {"editorial", 0.2, func(l *theme.Layout) {
		l.Picture, l.Text = theme.Area{Width: 66, Height: 100}, theme.Area{X: 68, Y: 12, Width: 28, Height: 70}
		l.Anchor = "middle"
	}},
	"a small area in a corner": {"playful", 0.1, func(l *theme.Layout) {
		l.Text, l.Heading = theme.Area{X: 95, Y: 95, Width: 5, Height: 5}, 240
	}},
	"a narrow box": {"playful", 0.1, func(l *theme.Layout) {
		l.Text, l.Plate, l.PlateColor = theme.Area{X: 6, Y: 10, Width: 30, Height: 60}, "box", "deep"
	}},
	"letters in the color of their plate": {"playful", 0.1, func(l *theme.Layout) {
		l.Plate, l.PlateColor, l.Letters = "box", "#cc2200", "#cc2200"
	}},
	"letters of a little contrast": {"calm", 0.1, func(l *theme.Layout) {
		l.Plate, l.PlateColor, l.Letters = "fade", "#777777", "#8a8a8a"
	}},
	"dots on a middle gray": {"minimal", 0.1, func(l *theme.Layout) {
		l.Ground, l.Decor, l.Letters = "#757575", "dots", "white"
	}},
	"stripes on a middle gray": {"bold", 0.1, func(l *theme.Layout) {
		l.Ground, l.Decor, l.Letters = "#757575", "stripe", "white"
	}},
	"a circle on a light gray": {"calm", 0.1, func(l *theme.Layout) {
		l.Ground, l.Decor, l.Letters, l.Plate = "#f4f4f4", "circle", "#767676", "none"
	}},
	"one color": {"minimal", 0.1, func(l *theme.Layout) {
		l.Ground, l.Letters, l.PlateColor, l.Decor, l.Bar = "#808080", "#808080", "#808080", "frame", true
	}},
}

// shows returns the part of a picture that has about a color.
func shows(img *image.RGBA, want canvas.Color) float64 {
	n, all := 0, 0
	for i := 0; i < img.Rect.Dx()*img.Rect.Dy(); i += 7 {
		if all++; apartBy(pixelAt(img, i), want) < 24 {
			n++
		}
	}
	return float64(n) / float64(all)
}

// Whatever a customer writes, what is drawn in it can be read, is within the safe area, and shows the photo.
func TestDesignsOfCustomers(t *testing.T) {
	t.Parallel()
	hollow, safe := hollowed(t), freeOf(t, "story")
	for n, name := range slices.Sorted(maps.Keys(customers)) {
		c, words := customers[name], []said{scripts[0], long, scripts[1]}[n%3]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			own, _ := theme.Own(c.base)
			design := *own
			design.Slides = append([]theme.Layout{}, own.Slides...)
			for _, l := range layouts(&design) {
				c.change(l)
			}
			if faults := design.Check(); len(faults) > 0 {
				t.Fatal(faults[0])
			}
			p := pair{b, benchOf(t, hollow), framed{name, words, looks[0], 1}}
			brand := p.c.brand()
			brand.Design = &design
			cyan := p.plain("cyan", color.RGBA{0, 160, 160, 255})
			headed := Picture{Use: Post, Path: cyan, Text: words.headline, Language: words.lang, Brand: brand}
			post := p.stills("post", headed, image.Rectangle{})[0]
			if part := shows(post.seen, canvas.Color{G: 160, B: 160}); part < c.photo {
				t.Errorf("%.2f of the post show the photo", part)
			}
			if headed.Use = Story; breadth.All() || n%2 == 0 {
				p.stills("story", headed, safe.Inset(-2))
			}
			if !breadth.All() && n%4 != 1 {
				return
			}
			p.stills("slide", Carousel{Language: words.lang, Brand: brand, Slides: []Slide{
				{Path: cyan, Heading: words.headline}, {Path: cyan, Heading: words.call, Body: words.script},
				{Path: cyan, Heading: words.headline, Body: words.script}, {Path: cyan, Heading: words.call}}},
				image.Rectangle{})
		})
	}
}

// A text in a column stays beside the picture, on the other side from right to left.
func TestAColumnOfACustomer(t *testing.T) {
	t.Parallel()
	hollow := hollowed(t)
	for i, words := range []said{scripts[0], scripts[1], scripts[6]} {
		b := newBench(t)
		p := pair{b, benchOf(t, hollow), framed{"column", words, looks[0], 1}}
		own, _ := theme.Own("minimal")
		design := *own
		customers["a column"].change(&design.Post)
		brand := p.c.brand()
		brand.Design, brand.Name = &design, ""
		cyan := p.plain("cyan", color.RGBA{0, 160, 160, 255})
		k := p.stills("post", Picture{Use: Post, Path: cyan, Text: words.headline, Language: words.lang, Brand: brand},
			image.Rectangle{})[0]
		from, to := 0, wide/2
		if i == 1 {
			from, to = wide/2, wide
		}
		for _, l := range k.lines {
			if l.at.Min.X < from || l.at.Max.X > to {
				t.Errorf("%s: a line lies at %v, not from %d to %d", words.lang, l.at, from, to)
			}
		}
	}
}

// Products are large wherever a design puts them, and their heading is where its area is.
func TestProductsInDesignsOfCustomers(t *testing.T) {
	t.Parallel()
	hollow, safe := hollowed(t), freeOf(t, "story")
	area := func(x, y, width, height float64) theme.Area {
		return theme.Area{X: x, Y: y, Width: width, Height: height}
	}
	for name, c := range map[string]struct {
		picture, text theme.Area
		anchor        string
		low           bool
	}{
		"a small area":      {area(10, 70, 80, 20), area(5, 4, 90, 30), "top", false},
		"a low area":        {area(0, 40, 100, 60), area(5, 4, 90, 30), "top", false},
		"a heading below":   {area(4, 4, 92, 70), area(5, 74, 90, 22), "bottom", true},
		"without an anchor": {area(4, 4, 92, 92), area(5, 60, 90, 36), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for i, photo := range shapes() {
				if !breadth.All() && i%2 == 0 != c.low {
					continue
				}
				words := []said{scripts[0], scripts[1], long, scripts[5]}[i]
				own, _ := theme.Own(theme.Names[i])
				design := *own
				design.Product.Picture, design.Product.Text, design.Product.Anchor = c.picture, c.text, c.anchor
				p := pair{b, benchOf(t, hollow), framed{name, words, looks[0], 1}}
				brand := p.c.brand()
				brand.Design = &design
				sold := Picture{Use: Post, Path: p.part("product.png", photo), Text: words.headline,
					Language: words.lang, Brand: brand, Whole: true, Offer: p.c.offer()}
				p.hero("product post", p.stills("product post", sold, image.Rectangle{})[0])
				sold.Use = Story
				p.hero("product story", p.stills("product story", sold, safe)[0])
				brand.Name, sold.Use, sold.Offer = "", Post, nil
				k := p.stills("plain product", sold, image.Rectangle{})[0]
				p.hero("plain product", k)
				box, _ := seenProduct(k.seen)
				for _, l := range k.lines {
					if below := l.at.Min.Y >= box.Max.Y; below != c.low && products[i].X >= products[i].Y {
						t.Errorf("%v: the heading is at %v, the product at %v", products[i], l.at, box)
					}
				}
			}
		})
	}
}

// A picture in place of a music clip shows its ground, its bars, its title and its artist.
func TestAPictureOfAMusicClip(t *testing.T) {
	t.Parallel()
	hollow, free := hollowed(t), freeOf(t, "video")
	for i, words := range scripts[:3] {
		b := newBench(t)
		p := pair{b, benchOf(t, hollow), framed{theme.Names[i], words, looks[0], 1}}
		m := MusicClip{Cover: p.plain("gray", color.RGBA{127, 127, 127, 255}), Length: minMusic, Title: words.headline,
			Artist: "Acme", Language: words.lang, Brand: p.c.brand(), Quality: Draft, Frames: true}
		k := p.stills("music", m, free)[0]
		if len(k.lines) < 2 {
			t.Errorf("%s: the lines are %v", words.lang, k.lines)
		}
		ground, bars := m.colors()
		if c := colorAt(k.seen, barsAt.Min.X+4, (barsAt.Min.Y+barsAt.Max.Y)/2); apartBy(c, bars) > 40 {
			t.Errorf("%s: the bars are %v on %v, not %v", words.lang, c, ground, bars)
		}
	}
}

// A white product is seen on the end card of a white design.
func TestAWhiteProductIsSeenOnAWhiteEndCard(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	photo := image.NewNRGBA(image.Rect(0, 0, 600, 600))
	for i := range 600 * 600 {
		if x, y := i%600, i/600; x > 100 && x < 500 && y > 100 && y < 500 {
			photo.SetNRGBA(x, y, color.NRGBA{250, 250, 250, 255})
		}
	}
	words := scripts[0]
	v := Video{Format: Portrait, Quality: Draft, Language: "en", Frames: true, Headline: words.headline,
		Brand: &Brand{Name: "Acme", Theme: "minimal"}, Offer: &Offer{Price: "€79", Action: "Buy"},
		Scenes: []Scene{{Text: words.script, Whole: true, Picture: b.part("white.png", sample.PNG(photo))}}}
	res := b.compose(v)
	end := flatRGBA(b.image(res.Files[len(res.Files)-1]))
	longest := 0 // the most pixels below each other that are not white, which texts do not have
	for x := 100; x < wide/2; x++ {
		run := 0
		for y := 300; y < 1400; y++ {
			if run++; apartBy(colorAt(end, x, y), canvas.White) < 60 {
				run = 0
			}
			longest = max(longest, run)
		}
	}
	if longest < 300 {
		t.Errorf("there is no ground around the product: %d pixels", longest)
	}
}

// A price of many digits is seen beside a product that is still large.
func TestALongPriceIsSeen(t *testing.T) {
	t.Parallel()
	hollow := hollowed(t)
	for i, price := range []string{"9.999.999 €", "١٬٢٣٤٬٥٦٧٬٨٠٠ JP¥", "€123,456,789.50", "Rp 1.234.567.890"} {
		b := newBench(t)
		p := pair{b, benchOf(t, hollow), framed{theme.Names[i], scripts[i%2], looks[0], 1}}
		for _, n := range []int{1, 2} {
			w := Picture{Use: Post, Path: p.part("product.png", shapes()[n]), Text: "Acme", Language: p.c.lang,
				Brand: p.c.brand(), Whole: true, Offer: &Offer{Price: price}}
			with := p.stills("price", w, image.Rectangle{})[0]
			p.hero("price", with)
			w.Offer = &Offer{}
			without := p.stills("no price", w, image.Rectangle{})[0]
			if len(with.lines) <= len(without.lines) {
				t.Errorf("%s in %s beside %v is not seen", price, p.c.theme, products[n])
			}
		}
	}
}
