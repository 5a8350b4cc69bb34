package compose

import (
	"context"
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/media/picture"
)

// The least size of a product: it takes this part of the width, or of the height. That is a little more than 80 and 55
// %, since scenes of videos make room for their motion. It never takes more than the greatest part of the width.
const (
	heroWide = 0.82
	heroMost = 0.93
	heroTall = 0.565
	// columnTall is the part of the height of a product beside its texts.
	columnTall = 0.575
	heroGap    = 24 // between a product and the texts above and below it
	// heroScale is the factor of the heading and the sticker on heroScale pictures, which have more room.
	heroScale = 1.2
	// columnLeast is the least width of the texts beside a tall product.
	columnLeast = 330
)

// show is what a picture of a product has to show, in pixels of a picture that is not scaled.
type show struct {
	object canvas.Object
	size   image.Point
	// area is the area in which texts may be, and stage that in which the product may be.
	area, stage image.Rectangle
	layout      theme.Layout
	// column is the area of the texts beside a tall product, and top the highest place of a product above its texts. It
	// is 0 if there is none. If the area is marked, the mark of the brand is above it.
	column     image.Rectangle
	top        int
	marked     bool
	text, lang string
	// stickers are the forms of the sticker, and sticker the one that is tried.
	stickers map[cut]sticker
	sticker  sticker
	rtl      bool
	// whole divides no words. low puts the heading below the product, where that leaves it large enough.
	whole, low bool
}

// stickers lays out the forms of a sticker.
func (r *run) stickers(o *Offer, lang string, b *Brand, ground canvas.Color, k float64) (map[cut]sticker, error) {
	all := map[cut]sticker{}
	for _, form := range []cut{roomy, thin, flat, compact} {
		one, err := r.sticker(o, lang, b, ground, form, k)
		if err != nil {
			return nil, err
		}
		all[form] = one
	}
	return all, nil
}

// arranged is where it lies.
type arranged struct {
	object, sticker image.Rectangle
	heading         text.Block
	// words is the place of the heading.
	words image.Rectangle
	align text.Align
	form  cut // of the sticker
}

// enough reports whether the product is large enough.
func (s arranged) enough(size image.Point) bool {
	return float64(s.object.Dx()) >= heroWide*float64(size.X) || float64(s.object.Dy()) >= heroTall*float64(size.Y)
}

// arrange places a product with its texts: the heading above it, as large as leaves it enough room, or beside it if it
// is tall, and the sticker where it covers nothing.
func (r *run) arrange(in show) (arranged, error) {
	in.whole = true
	first, err := r.arrangeWords(in)
	if err == nil && (first.enough(in.size) || in.size.X > in.size.Y) {
		return first, nil
	}
	in.whole = false
	second, failed := r.arrangeWords(in)
	if err == nil && !(failed == nil && second.enough(in.size)) {
		return first, nil
	}
	return second, failed
}

// arrangeWords is arrange with words that may be divided, or not.
func (r *run) arrangeWords(in show) (best arranged, err error) {
	if in.size.X > in.size.Y {
		return r.beside(in, roomy)
	}
	sizes := []float64{1, 0.8, 0.64, 0.52, 0.44}
	if in.text == "" {
		sizes = sizes[:1]
	}
	forms := []cut{roomy, flat}
	if in.low = in.low && in.text != ""; in.low {
		forms = []cut{roomy, flat, roomy, flat}
	}
	for i, form := range forms {
		if in.sticker = in.stickers[form]; form == flat && in.sticker.empty() {
			continue
		}
		put := r.stacked
		if in.low && i < 2 {
			put = r.lowered
		}
		for _, part := range sizes {
			em, most := max(part*float64(in.layout.Heading), minEm+8), 4
			if part < 0.6 || form == flat {
				most = 2
			}
			one, failed := put(in, em, most)
			if failed != nil {
				err = failed
				continue
			}
			if one.form = form; best.object.Empty() || larger(one.object, best.object) {
				best = one
			}
			if best.enough(in.size) {
				return best, nil
			}
		}
	}
	for _, form := range []cut{flat, compact} {
		low, failed := r.under(in, form)
		if failed == nil && low.enough(in.size) {
			return low, nil
		}
		if failed == nil && low.object.Dx() > best.object.Dx() && !best.object.Empty() {
			best = low
		}
	}
	for _, form := range []cut{roomy, thin} {
		column, failed := r.beside(in, form)
		if failed == nil && (best.object.Empty() || column.enough(in.size)) {
			return column, nil
		}
	}
	if !best.object.Empty() {
		return best, nil
	}
	// The text takes what room it needs: that of the sticker, too.
	in.sticker = sticker{}
	return r.stacked(in, minEm, maxLines)
}

// larger reports whether a rectangle has a tenth more of an area than another.
func larger(a, b image.Rectangle) bool { return a.Dx()*a.Dy()*10 > b.Dx()*b.Dy()*11 }

// stacked places a product below its heading.
func (r *run) stacked(in show, em float64, lines int) (out arranged, err error) {
	out.words = in.columns()
	if in.layout.Align == "center" {
		out.align = text.Center
	}
	free := in.stage
	fit := func(width int) error {
		if in.text == "" {
			out.words.Max.Y = out.words.Min.Y
			return nil
		}
		box := text.Box{Width: float64(width), Height: float64(in.area.Dy()) * 0.3, MaxEm: em, MinEm: minEm,
			MaxLines: lines, Whole: in.whole}
		if lines == maxLines {
			box.Height = float64(in.area.Dy())
		}
		out.heading, err = r.fonts.Fit(in.text, in.lang, box)
		if err != nil {
			return err
		}
		out.words.Max.Y = out.words.Min.Y + int(out.heading.Height)
		return nil
	}
	if err := fit(out.words.Dx()); err != nil {
		return out, err
	}
	if free.Min.Y = max(free.Min.Y, out.words.Max.Y+heroGap); in.text == "" {
		free.Min.Y = max(in.stage.Min.Y, in.area.Min.Y)
	}
	out.object = in.object.Fit(limited(free, in.size))
	if in.sticker.empty() || in.pasted(&out, free) {
		return out, nil
	}
	// The product gives way to the sticker: downwards, to a row of its own, or to one that the heading shares.
	middle := out.object
	out.object = out.object.Add(image.Pt(0, free.Max.Y-out.object.Max.Y))
	if in.pasted(&out, free) {
		return out, nil
	}
	out.object = middle
	if in.ownRow(&out, free) {
		return out, nil
	}
	out.align = text.Start
	wide := out.words.Dx() - in.sticker.wide - heroGap
	at := image.Pt(out.words.Max.X-in.sticker.wide, in.area.Min.Y)
	if in.rtl {
		at.X = out.words.Min.X
	}
	if err := fit(wide); err != nil {
		return out, err
	}
	if in.rtl {
		out.words.Min.X = out.words.Max.X - wide
	} else {
		out.words.Max.X = out.words.Min.X + wide
	}
	out.sticker = in.sticker.at(at)
	free.Min.Y = max(in.stage.Min.Y, out.words.Max.Y+heroGap, out.sticker.Max.Y+heroGap/2)
	out.object = in.object.Fit(limited(free, in.size))
	return out, nil
}

// lowered places a product above its heading.
func (r *run) lowered(in show, em float64, lines int) (out arranged, err error) {
	out.words = in.columns()
	if in.layout.Align == "center" {
		out.align = text.Center
	}
	out.heading, err = r.fonts.Fit(in.text, in.lang, text.Box{Width: float64(out.words.Dx()),
		Height: float64(in.area.Dy()) * 0.3, MaxEm: em, MinEm: minEm, MaxLines: lines,
		Whole: in.whole})
	if err != nil {
		return out, err
	}
	out.words.Min.Y = in.area.Max.Y - int(out.heading.Height)
	free := in.stage
	free.Min.Y, free.Max.Y = max(free.Min.Y, in.area.Min.Y), min(free.Max.Y, out.words.Min.Y-heroGap)
	out.words.Max.Y, in.area.Max.Y = in.area.Max.Y, free.Max.Y
	out.object = in.object.Fit(limited(free, in.size))
	if in.sticker.empty() || in.pasted(&out, free) || in.ownRow(&out, free) {
		return out, nil
	}
	return out, text.ErrTooLong
}

// columns returns the area of texts that has the columns of the layout, if they have room for words.
func (in show) columns() image.Rectangle {
	words := place(in.layout.Text, in.size).Intersect(in.area)
	if words.Dx() < in.area.Dx()/2 {
		words = in.area
	}
	words.Min.Y, words.Max.Y = in.area.Min.Y, in.area.Max.Y
	return words
}

// ownRow puts the sticker between the heading and the product, if that leaves the product large enough.
func (in show) ownRow(out *arranged, free image.Rectangle) bool {
	at := in.sticker.at(image.Pt(in.area.Max.X-in.sticker.wide, free.Min.Y))
	if in.rtl {
		at = in.sticker.at(image.Pt(in.area.Min.X, free.Min.Y))
	}
	free.Min.Y = at.Max.Y + heroGap/2
	moved := *out
	moved.object, moved.sticker = in.object.Fit(limited(free, in.size)), at
	if free.Dy() < 1 || !moved.enough(in.size) {
		return false
	}
	*out = moved
	return true
}

// under places a product above its heading and its sticker, which share a row: there it has more room.
func (r *run) under(in show, form cut) (out arranged, err error) {
	if in.top == 0 {
		return out, text.ErrTooLong
	}
	in.sticker, out.form, out.words = in.stickers[form], form, in.area
	wide := in.area.Dx()
	if !in.sticker.empty() {
		wide -= in.sticker.wide + heroGap
	}
	tall := in.sticker.tall
	if in.text != "" {
		box := text.Box{Width: float64(wide), Height: max(float64(in.sticker.tall), 120),
			MaxEm: float64(in.layout.Heading) * 0.8, MinEm: minEm, MaxLines: 3, Whole: in.whole}
		if out.heading, err = r.fonts.Fit(in.text, in.lang, box); err != nil {
			return out, err
		}
		tall = max(tall, int(out.heading.Height))
	}
	row := image.Rect(in.area.Min.X, in.stage.Max.Y-tall, in.area.Max.X, in.stage.Max.Y)
	out.words, out.sticker = row, in.sticker.at(image.Pt(row.Max.X-in.sticker.wide, row.Min.Y+(tall-in.sticker.tall)/2))
	if out.words.Max.X = row.Min.X + wide; in.rtl {
		out.words = image.Rect(row.Max.X-wide, row.Min.Y, row.Max.X, row.Max.Y)
		out.sticker = in.sticker.at(image.Pt(row.Min.X, out.sticker.Min.Y))
	}
	out.words.Min.Y += (tall - int(out.heading.Height)) / 2
	free := image.Rect(in.stage.Min.X, in.top, in.stage.Max.X, row.Min.Y-heroGap)
	out.object = in.object.Fit(limited(free, in.size))
	if in.marked && out.object.Min.Y < in.area.Min.Y { // it would lie under the mark
		free.Min.Y = in.area.Min.Y
		out.object = in.object.Fit(limited(free, in.size))
	}
	return out, nil
}

// limited returns a box that is at most as wide as a product may be.
func limited(box image.Rectangle, size image.Point) image.Rectangle {
	if over := box.Dx() - int(heroMost*float64(size.X)); over > 0 && size.X < size.Y {
		box.Min.X, box.Max.X = box.Min.X+over/2, box.Max.X-over+over/2
	}
	return box
}

// pasted puts the sticker into a corner of the product's room where it covers nothing of the product, which may move
// aside for it. It reports whether there is one.
func (in show) pasted(out *arranged, free image.Rectangle) bool {
	wide := in.sticker.wide
	area := in.area.Intersect(image.Rect(0, free.Min.Y, in.size.X, in.area.Max.Y))
	left, right := area.Min.X, area.Max.X-wide
	first, last := right, left
	if in.rtl {
		first, last = left, right
	}
	for _, x := range []int{first, last} {
		for _, down := range []bool{true, false} {
			if at, ok := in.near(out.object, area, x, down); ok {
				out.sticker = at
				return true
			}
		}
	}
	// A narrow product moves aside.
	if room := area.Dx() - out.object.Dx(); room >= wide+heroGap {
		x, at := area.Min.X, image.Pt(right, out.object.Min.Y+out.object.Dy()/8)
		if in.rtl {
			x, at.X = area.Max.X-out.object.Dx(), left
		}
		x += (room - wide - heroGap) / 4
		out.object = out.object.Add(image.Pt(x-out.object.Min.X, 0))
		out.sticker = in.sticker.at(at)
		return out.sticker.In(in.area)
	}
	return false
}

// near returns the place of the sticker above or below a product that is nearest to its middle, if there is one.
func (in show) near(object, area image.Rectangle, x int, above bool) (best image.Rectangle, ok bool) {
	const step = 12
	y, by := area.Min.Y, step
	if !above {
		y, by = area.Max.Y-in.sticker.tall, -step
	}
	for ; ; y += by {
		at := in.sticker.at(image.Pt(x, y))
		if !at.In(area) || in.object.Covers(object, at.Inset(-10)) || at.Min.Y > object.Min.Y+object.Dy()/3 == above &&
			at.Max.Y < object.Max.Y-object.Dy()/3 == !above {
			return best, ok
		}
		best, ok = at, true
	}
}

// beside places a product at the end of the lines, with its heading and its sticker in a column before it.
func (r *run) beside(in show, form cut) (out arranged, err error) {
	in.sticker, out.form, in.area = in.stickers[form], form, in.column
	free := in.stage
	tall := min(free.Dy(), max(int(columnTall*float64(in.size.Y)), free.Dy()*9/10))
	if in.size.X < in.size.Y {
		tall = min(free.Dy(), int(columnTall*float64(in.size.Y)))
	}
	wide := tall * in.object.Rect.Dx() / max(in.object.Rect.Dy(), 1)
	if in.text == "" && in.sticker.empty() {
		out.object = in.object.Fit(limited(free, in.size))
		return out, nil
	}
	least, edge, before := max(in.sticker.wide, columnLeast), in.size.X-20, in.area.Min.X
	if in.rtl {
		before = in.size.X - in.area.Max.X
	}
	if in.size.X > in.size.Y {
		edge = in.stage.Max.X
	}
	if most := edge - before - least - heroGap; wide > most {
		wide = most
		tall = wide * in.object.Rect.Dy() / max(in.object.Rect.Dx(), 1)
	}
	x := min(edge-wide, before+in.area.Dx()/2)
	if in.size.X < in.size.Y {
		x = edge - wide
	}
	y := free.Min.Y + (free.Dy()-tall)/2
	out.words = image.Rect(in.area.Min.X, y, x-heroGap, y)
	if in.rtl { // the lines begin on the other side
		x = in.size.X - x - wide
		out.words = image.Rect(x+wide+heroGap, y, in.area.Max.X, y)
	}
	out.object = image.Rect(x, y, x+wide, y+tall)
	if in.text != "" {
		box := text.Box{Width: float64(out.words.Dx()), Height: float64(in.area.Dy() - in.sticker.tall - heroGap),
			MaxEm: float64(in.layout.Heading), MinEm: minEm, MaxLines: 7, Whole: in.whole}
		if out.heading, err = r.fonts.Fit(in.text, in.lang, box); err != nil {
			return out, err
		}
	}
	all := int(out.heading.Height)
	if !in.sticker.empty() {
		all += in.sticker.tall + heroGap
	}
	out.words.Min.Y = max(in.area.Min.Y, y+(tall-all)/2)
	out.words.Max.Y = out.words.Min.Y + int(out.heading.Height)
	if !in.sticker.empty() {
		at := image.Pt(out.words.Min.X, out.words.Max.Y+heroGap)
		if in.rtl {
			at.X = out.words.Max.X - in.sticker.wide
		}
		out.sticker = in.sticker.at(at)
	}
	return out, nil
}

// product draws a picture of a product: it is the hero, with its heading, the price and the call to action around it.
func (r *run) product(ctx context.Context, path string, c card, s *text.Script) (*image.RGBA, error) {
	c.area.Max.Y -= c.acted()
	room := image.Rect(0, c.rest().Min.Y, c.size.X, c.area.Max.Y)
	var body text.Block
	var err error
	if c.body != "" {
		body, err = r.fonts.Fit(c.body, c.lang, text.Box{Width: float64(c.area.Dx()), Height: float64(c.area.Dy()) / 2,
			MaxEm: bodyEm, MinEm: minEm, MaxLines: mostBody})
		if err != nil {
			return nil, ofText(c.about+"/body", err)
		}
		room.Max.Y -= int(body.Height) + heroGap
	}
	object, err := r.object(ctx, path, c.about, room.Size())
	if err != nil {
		return nil, err
	}
	ground := grounded(object, c.layout, c.brand)
	letters := c.brand.letters(c.layout.Letters, ground)
	img := staged(c.size, c.bottom(), ground, c.layout.Decor, c.brand.decorated(ground, letters))
	if err := r.calls(s, c, ground); err != nil {
		return nil, err
	}
	if body.Height > 0 {
		align := text.Start
		if c.layout.Align == "center" {
			align = text.Center
		}
		s.Text(body, float64(c.area.Min.X), float64(c.area.Max.X), float64(c.area.Max.Y)-body.Height, align, letters,
			text.Always)
	}
	k := 1.0
	if c.size.Y == storyTall {
		k = heroScale
		c.layout.Heading = int(float64(c.layout.Heading) * heroScale)
	}
	sticks, err := r.stickers(c.offer, c.lang, c.brand, ground, k)
	if err != nil {
		return nil, err
	}
	area := c.rest()
	area.Max.Y = room.Max.Y
	out, err := r.placed(show{object: object, size: c.size, area: area, layout: c.layout, text: c.text, lang: c.lang,
		top: topOf(c), marked: area.Min.Y > c.area.Min.Y, stickers: sticks, rtl: text.RightToLeft(c.text, c.lang),
		low: c.layout.Words() > 58}, room)
	if err != nil {
		return nil, ofText(c.about, err)
	}
	object.Draw(img, out.object, c.layout.Round)
	left, right := float64(out.words.Min.X), float64(out.words.Max.X)
	if out.heading.Height > 0 {
		s.Text(out.heading, left, right, float64(out.words.Min.Y), out.align, letters, text.Always)
	}
	sticks[out.form].draw(s, out.sticker.Min, text.Always)
	return img, nil
}

// placed places a product in the area of the layout for pictures, or in all of its room if that is too small.
func (r *run) placed(in show, room image.Rectangle) (arranged, error) {
	whole := in
	in.stage = place(in.layout.Picture, in.size)
	in.stage.Min.Y, in.stage.Max.Y = max(in.stage.Min.Y, room.Min.Y), min(in.stage.Max.Y, room.Max.Y)
	if !in.low {
		in.area.Max.Y = min(in.area.Max.Y, in.stage.Max.Y)
	}
	in.column = in.area
	out, err := r.arrange(in)
	if err == nil && out.enough(in.size) {
		return out, nil
	}
	whole.stage, whole.column = room, whole.area
	other, failed := r.arrange(whole)
	if failed == nil && (err != nil || larger(other.object, out.object)) {
		return other, nil
	}
	return out, err
}

// topOf returns the highest place of a product above its texts: on upright pictures, platforms cover it hardly.
func topOf(c card) int {
	if c.size.Y != storyTall || c.notice != "" {
		return 0
	}
	return max(c.area.Min.Y-120, 140)
}

// object returns a product, cut out of its photo where that succeeds, large enough to fill a box.
func (r *run) object(ctx context.Context, path, about string, box image.Point) (canvas.Object, error) {
	img, err := r.drawPicture(ctx, path, about, func(d *picture.Decoded) (*image.NRGBA, error) {
		return d.Within(ctx, image.Pt(box.X*5/4, box.Y*5/4))
	})
	if err != nil {
		return canvas.Object{}, err
	}
	return canvas.ObjectOf(canvas.Trim(img)), nil
}

// behind returns a ground on which a product is seen, and whether it would be lost on another one.
func (b *Brand) behind(o canvas.Object, ground canvas.Color) (canvas.Color, bool) {
	const least = 1.25
	if o.Framed || contrast(o.Mean(), ground) >= least {
		return ground, false
	}
	return apart(o.Mean(), least, b.in(theme.Tint), canvas.White, b.in(theme.Deep)), true
}

// grounded returns the color of the ground of a product, in the colors of the brand. Without colors, it goes on with
// the ground of a photo that has one.
func grounded(o canvas.Object, l theme.Layout, b *Brand) canvas.Color {
	ground := b.in(l.Ground)
	if (b == nil || len(b.Colors) == 0) && o.Plain != nil {
		ground = *o.Plain
	}
	if other, lost := b.behind(o, ground); lost {
		ground = other
	}
	return ground
}

// staged returns a ground with a decoration of a color, which ends at a row.
func staged(size image.Point, bottom int, ground canvas.Color, decor string, of canvas.Color) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	canvas.Fill(img, img.Rect, ground)
	part := img.SubImage(image.Rect(0, 0, size.X, bottom)).(*image.RGBA)
	canvas.Decorate(part, decor, of)
	return img
}
