package compose

import (
	"image"
	"math"
	"strings"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

// Offer describes what a product costs, in texts of its market. It is written beside the pictures of the product. Any
// member may be empty.
type Offer struct {
	// Price is the price that applies, and Was the price before the promotion. Off is the part that it saves.
	Price, Was, Off string
	// Promotion is the name of the promotion, and Until its last day.
	Promotion, Until string
	// Shop is the shop's name, Action its call to action, and Address where it is found.
	Shop, Action, Address string
}

// priced reports whether an offer has a sticker.
func (o *Offer) priced() bool { return o != nil && (o.Price != "" || o.Was != "" || o.Promotion != "") }

// The measures of a sticker, in pixels of a picture that is 1080 wide.
const (
	stickerWide = 400
	stickerThin = 320
	stickerMost = 640 // of a sticker with a long price
	stickerGap  = 22  // between texts of a line
	stickerPad  = 30
	stickerLine = 5 // of the border of a label
)

// sticker shows the price of an offer, laid out.
type sticker struct {
	wide, tall int
	rows       []stickerRow
	shape      string
	back       canvas.Color
	letters    canvas.Color
	k          float64
	round      float64
}

// stickerRow is a line of a sticker: texts beside each other.
type stickerRow []stickerText

type stickerText struct {
	text.Block
	struck bool
	color  canvas.Color
}

// size returns the size of a row, with gaps between its texts.
func (r stickerRow) size(k float64) (width, height float64) {
	for i, t := range r {
		if i > 0 {
			width += stickerGap * k
		}
		width, height = width+t.Width, max(height, t.Height)
	}
	return width, height
}

func (t sticker) empty() bool { return len(t.rows) == 0 }

// at returns the rectangle of the sticker at a place.
func (t sticker) at(p image.Point) image.Rectangle {
	return image.Rectangle{Min: p, Max: p.Add(image.Pt(t.wide, t.tall))}
}

// cut is the form of a sticker.
type cut int

const (
	roomy   cut = iota // as the design has it
	thin               // in a column beside a product
	flat               // in a row with the heading, in two lines
	compact            // as flat, in smaller letters
)

// sticker lays out the price of an offer in the shape of the design. k is the factor of lengths. What does not fit is
// left out: the rest is still of use.
func (r *run) sticker(o *Offer, lang string, b *Brand, ground canvas.Color, form cut, k float64) (t sticker,
	err error) {
	if !o.priced() {
		return t, nil
	}
	design := b.look()
	plate := design.Sticker
	em := float64(max(plate.Size, 56))
	if form == compact {
		form, em = flat, 0.72*em
	}
	t.shape, t.k, t.round = plate.Shape, k, min(float64(design.Round), 40)*k
	if form == flat && (t.shape == "circle" || t.shape == "burst") {
		t.shape = "pill"
	}
	if t.back = b.in(plate.Color); t.shape == "none" {
		t.back = ground
	} else if t.shape != "label" && contrast(t.back, ground) < 1.4 {
		t.back = apart(ground, 1.4, b.second(), b.color(), ink)
	}
	t.letters = canvas.On(t.back)
	accent := t.letters
	if plate.Accent != "" {
		accent = apart(t.back, canvas.MinContrast, b.in(plate.Accent), t.letters)
	}
	width := map[cut]float64{roomy: stickerWide, thin: stickerThin, flat: stickerWide}[form] - 2*stickerPad
	long := script.Width(o.Price) * minEm
	if long > stickerMost-2*stickerPad {
		long = longest(o.Price) * minEm
	}
	if long > width && long <= stickerMost-2*stickerPad {
		if width = long; t.shape == "circle" || t.shape == "burst" {
			t.shape = "pill"
		}
	}
	add := func(words string, em float64, lines int, struck, beside bool, c canvas.Color) {
		if words == "" || err != nil || longest(words)*minEm > width {
			return
		}
		block, failed := r.fonts.Fit(words, lang, text.Box{Width: width * k, Height: 300 * k, MaxEm: max(em, minEm) * k,
			MinEm: minEm * k, MaxLines: lines})
		switch last := len(t.rows) - 1; {
		case unfit(failed):
		case failed != nil:
			err = ofText("/offer", failed)
		case beside:
			t.rows[last] = append(t.rows[last], stickerText{block, struck, c})
		default:
			t.rows = append(t.rows, stickerRow{{block, struck, c}})
		}
	}
	angular := form == roomy && t.shape != "circle" && t.shape != "burst"
	if o.Price == "" || angular {
		add(o.Promotion, 34, 2, false, false, t.letters)
	}
	before := len(t.rows)
	add(o.Price, em, 1, false, false, t.letters)
	if len(t.rows) > before {
		em = min(em, 1.4*t.rows[before][0].Em/k) // no other is larger than the price
	}
	if o.Price == "" || len(t.rows) > before {
		add(o.Was, 0.56*em, 1, true, false, t.letters)
	}
	add(o.Off, 0.62*em, 1, false, form == flat && o.Was != "" && len(t.rows) > 1, accent)
	t.measure()
	return t, err
}

// longest returns the width of the longest word, in ems.
func longest(words string) (most float64) {
	for word := range strings.FieldsSeq(words) {
		most = max(most, script.Width(word))
	}
	return most
}

// measure sets the size of the sticker: that of its shape around the rows.
func (t *sticker) measure() {
	if t.empty() {
		return
	}
	width, height := 0.0, t.height()
	for _, row := range t.rows {
		wide, _ := row.size(t.k)
		width = max(width, wide)
	}
	pad := stickerPad * t.k
	switch t.shape {
	case "circle", "burst":
		d := math.Hypot(width, height*0.8) + pad
		if t.shape == "burst" {
			d *= 1.14
		}
		width, height = d, d
	case "none":
		width, height = width+4*t.k, height+4*t.k
	default:
		width, height = width+2*pad, height+1.2*pad
	}
	t.wide, t.tall = int(width)+1, int(height)+1
}

func (t sticker) height() (sum float64) {
	for _, row := range t.rows {
		_, height := row.size(t.k)
		sum += height
	}
	return sum
}

// draw draws the sticker with its left upper corner at a point.
func (t sticker) draw(s *text.Script, at image.Point, when text.Span) {
	if t.empty() {
		return
	}
	left, top := float64(at.X), float64(at.Y)
	right, bottom := left+float64(t.wide), top+float64(t.tall)
	switch t.shape {
	case "circle":
		s.Box(left, top, right, bottom, float64(t.wide)/2, t.back, 1, when)
	case "burst":
		s.Burst((left+right)/2, (top+bottom)/2, float64(t.wide)/2, t.back, when)
	case "label":
		line := stickerLine * t.k
		s.Box(left, top, right, bottom, t.round, t.letters, 1, when)
		s.Box(left+line, top+line, right-line, bottom-line, max(t.round-line, 0), t.back, 1, when)
	case "pill":
		s.Box(left, top, right, bottom, min(float64(t.tall)/2, 60*t.k), t.back, 1, when)
	case "box":
		s.Box(left, top, right, bottom, t.round, t.back, 1, when)
	}
	y := top + (float64(t.tall)-t.height())/2
	for _, row := range t.rows {
		width, height := row.size(t.k)
		x := (left + right - width) / 2
		for _, one := range row {
			above := y + (height-one.Height)/2
			s.Text(one.Block, x, x+one.Width, above, text.Center, one.color, when)
			if middle, half := above+one.Height/2, 2*t.k; one.struck {
				s.Over(x-4*t.k, middle-half, x+one.Width+4*t.k, middle+half, half, one.color, 1, when)
			}
			x += one.Width + stickerGap*t.k
		}
		y += height
	}
}

// action draws the call to action of an offer, with the shop's name, on a ground: between two edges and above bottom.
func (r *run) action(s *text.Script, o *Offer, lang string, b *Brand, ground canvas.Color, left, right, bottom,
	k float64, when text.Span) error {
	words := o.Action
	if words == "" {
		words = o.Shop
	} else if o.Shop != "" {
		words += " · " + o.Shop
	}
	if words == "" {
		return nil
	}
	pad := 44 * k
	block, err := r.fonts.Fit(words, lang, text.Box{Width: right - left - 2*pad, Height: 120 * k, MaxEm: 52 * k,
		MinEm: minEm * k, MaxLines: 2})
	if unfit(err) {
		return nil
	}
	if err != nil {
		return ofText("/offer", err)
	}
	middle, top := (left+right)/2, bottom-block.Height-0.9*pad
	back := apart(ground, canvas.LogoContrast, b.in(theme.Main), b.in(theme.Second))
	b.buttoned(s, middle-block.Width/2-pad, top, middle+block.Width/2+pad, bottom, k, back, when)
	s.Text(block, left, right, top+0.45*pad, text.Center, canvas.On(back), when)
	return nil
}

// buttoned draws the plate of a button in the shape of the design.
func (b *Brand) buttoned(s *text.Script, left, top, right, bottom, k float64, c canvas.Color, when text.Span) {
	radius := 0.0
	switch design := b.look(); design.EndCard.Shape {
	case "pill", "circle", "burst":
		radius = (bottom - top) / 2
	case "box":
		radius = min(float64(design.Round)*k, (bottom-top)/2)
	}
	s.Box(left, top, right, bottom, radius, c, 1, when)
}
