package compose

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// The measures of letters are taken from pixels. What is composed with hollow fonts, whose letters have the same widths
// but no shape, differs from what readers see by the letters alone.

// hollowed returns a folder of hollow fonts. That of emoji, which are drawn as shapes, is as it was.
func hollowed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(tools, "fonts", "*.ttf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d fonts, %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(file, "ColorEmoji") {
			hollow(content)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hollow sets all entries of the table of the places of glyphs (loca) to one place: each glyph is empty.
func hollow(font []byte) {
	for n := range int(binary.BigEndian.Uint16(font[4:])) {
		entry := font[12+16*n:]
		if string(entry[:4]) == "loca" {
			at, size := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
			clear(font[at : at+size])
		}
	}
}

// inked is a frame with its letters.
type inked struct {
	seen, bare *image.RGBA
	// mask has the pixels of letters.
	mask    []bool
	lines   []inkLine
	letters []letter
}

// letter is a letter, with its color and that of what is behind it.
type letter struct {
	at            image.Rectangle
	color, ground canvas.Color
}

// inkLine is a row of letters of about one size.
type inkLine struct {
	at image.Rectangle
	// tall is the height of the tallest letter, and contrast the least of a letter with what is around it.
	tall     int
	contrast float64
	letters  int
}

func (l inkLine) String() string {
	return fmt.Sprintf("%d letters of %d pixels at %v, contrast %.1f", l.letters, l.tall, l.at, l.contrast)
}

// leastInk is the sum of the differences of a pixel from which it is one of a letter.
const leastInk = 64

// inkOf compares a frame with the one that has no letters.
func inkOf(seen, bare image.Image) *inked {
	k := &inked{seen: flatRGBA(seen), bare: flatRGBA(bare)}
	size := k.seen.Rect.Size()
	k.mask = make([]bool, size.X*size.Y)
	for i := range k.mask {
		p, q := k.seen.Pix[4*i:][:3], k.bare.Pix[4*i:][:3]
		d := 0
		for c := range 3 {
			d += int(max(p[c], q[c]) - min(p[c], q[c]))
		}
		k.mask[i] = d > leastInk
	}
	k.read()
	return k
}

func flatRGBA(img image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

// blot is a letter, or a part of one.
type blot struct {
	at     image.Rectangle
	pixels []int
}

// blots returns the connected parts of the mask. A line through a text, which both frames have, does not divide them.
func (k *inked) blots() (all []blot) {
	size := k.seen.Rect.Size()
	joined := slices.Clone(k.mask)
	const across = 6
	for x := range size.X {
		last := -across - 1
		for y := range size.Y {
			if !k.mask[y*size.X+x] {
				continue
			}
			for ; y-last <= across && last < y; last++ {
				joined[max(last, 0)*size.X+x] = true
			}
			last = y
		}
	}
	var next []int
	for begin := range joined {
		if !joined[begin] {
			continue
		}
		joined[begin] = false
		next = append(next[:0], begin)
		var b blot
		for len(next) > 0 {
			i := next[len(next)-1]
			next = next[:len(next)-1]
			b.pixels = append(b.pixels, i)
			x, y := i%size.X, i/size.X
			b.at = b.at.Union(image.Rect(x, y, x+1, y+1))
			for dy := max(y-1, 0); dy <= min(y+1, size.Y-1); dy++ {
				for dx := max(x-1, 0); dx <= min(x+1, size.X-1); dx++ {
					if n := dy*size.X + dx; joined[n] {
						joined[n] = false
						next = append(next, n)
					}
				}
			}
		}
		if len(b.pixels) >= 40 && b.at.Dy() >= 5 {
			all = append(all, b)
		}
	}
	return all
}

// read finds the lines: letters beside each other, of which the gaps are small.
func (k *inked) read() {
	all := k.blots()
	of := make([]int, len(all))
	for i := range of {
		of[i] = i
	}
	var root func(int) int
	root = func(i int) int {
		if of[i] != i {
			of[i] = root(of[i])
		}
		return of[i]
	}
	for i, a := range all {
		for j := range i {
			b := all[j]
			least := min(a.at.Dy(), b.at.Dy())
			shared := min(a.at.Max.Y, b.at.Max.Y) - max(a.at.Min.Y, b.at.Min.Y)
			gap := max(a.at.Min.X, b.at.Min.X) - min(a.at.Max.X, b.at.Max.X)
			// Words of low letters have a space between them that is nearly as wide.
			alike := max(a.at.Dy(), b.at.Dy())*4 <= least*5
			if shared*10 >= least*6 && (gap*10 <= least*7 || alike && gap*10 <= least*12) {
				of[root(i)] = root(j)
			}
		}
	}
	lines := map[int]*inkLine{}
	for i, b := range all {
		l := lines[root(i)]
		if l == nil {
			l = &inkLine{contrast: 21}
			lines[root(i)] = l
		}
		l.at, l.tall, l.letters = l.at.Union(b.at), max(l.tall, b.at.Dy()), l.letters+1
		if c, ok := k.contrast(b); ok {
			l.contrast = min(l.contrast, c)
		}
	}
	for _, l := range lines {
		if !k.mark(*l, lines) {
			k.lines = append(k.lines, *l)
		}
	}
	slices.SortFunc(k.lines, func(a, b inkLine) int { return a.at.Min.Y - b.at.Min.Y })
}

// mark reports whether what was found is no line of text but a dot, a dash or the mark of a larger letter beside it.
func (k *inked) mark(l inkLine, all map[int]*inkLine) bool {
	if l.letters > 2 {
		return false
	}
	for _, other := range all {
		if near := other.at.Inset(-other.tall); other.tall*2 > l.tall*3 && l.at.In(near) {
			return true
		}
	}
	return l.tall < 17
}

// contrast returns the contrast of a letter with what is behind it, or of its color with that of its outline. It
// reports whether the letter is large enough to tell.
func (k *inked) contrast(b blot) (float64, bool) {
	size := k.seen.Rect.Size()
	var color, ground []float64
	var middles []int
	for _, i := range b.pixels {
		if x, y := i%size.X, i/size.X; x == 0 || y == 0 || x == size.X-1 || y == size.Y-1 || !k.mask[i] ||
			!k.mask[i-1] || !k.mask[i+1] || !k.mask[i-size.X] || !k.mask[i+size.X] {
			continue
		}
		color, ground = append(color, lightAt(k.seen, i)), append(ground, lightAt(k.bare, i))
		middles = append(middles, i)
	}
	if len(color) < 24 {
		return 0, false
	}
	// Most of the letter: its ends may lie on the line of a box.
	slices.SortFunc(middles, func(i, j int) int { return cmp.Compare(lightAt(k.bare, i), lightAt(k.bare, j)) })
	middle := middles[len(middles)/2]
	k.letters = append(k.letters, letter{b.at, pixelAt(k.seen, middle), pixelAt(k.bare, middle)})
	slices.Sort(color)
	slices.Sort(ground)
	at := func(all []float64, part int) float64 { return all[len(all)*part/100] }
	return max(canvas.Contrast(at(color, 50), at(ground, 50)), canvas.Contrast(at(color, 10), at(color, 90))), true
}

func lightAt(img *image.RGBA, i int) float64 { return pixelAt(img, i).Luminance() }

func pixelAt(img *image.RGBA, i int) canvas.Color {
	p := img.Pix[4*i:]
	return canvas.Color{R: p[0], G: p[1], B: p[2]}
}

// apartBy returns the sum of the differences of two colors.
func apartBy(a, b canvas.Color) int {
	off := func(x, y uint8) int { return int(max(x, y) - min(x, y)) }
	return off(a.R, b.R) + off(a.G, b.G) + off(a.B, b.B)
}

// sameGround is the contrast below which two grounds are one: a decoration, or what encoding has left of a color.
const sameGround = 2

// spoken returns the contrast of the box of the spoken word of the captions, which end below a row, with what is around
// it, and whether a box is seen: letters that have another ground than their neighbors, or a ground that ends above
// them.
func (k *inked) spoken(below int) (least float64, found bool) {
	var grounds []letter
	for _, l := range k.letters {
		if l.at.Max.Y >= below && l.at.Dy() >= 20 &&
			!slices.ContainsFunc(grounds, func(g letter) bool { return contrast(g.ground, l.ground) < sameGround }) {
			grounds = append(grounds, l)
		}
	}
	if len(grounds) == 1 { // a single word
		least = k.beyond(grounds[0])
		return max(least, k.border(grounds[0])), least >= sameGround
	}
	if len(grounds) != 2 {
		return 0, false
	}
	least = contrast(grounds[0].ground, grounds[1].ground)
	for _, g := range grounds {
		least = max(least, k.border(g))
	}
	return least, true
}

// beyond returns the contrast of the ground of a letter with what is above its end, or above the line around it.
func (k *inked) beyond(l letter) float64 {
	const line = 12
	x := (l.at.Min.X + l.at.Max.X) / 2
	for y := l.at.Min.Y; y > max(l.at.Min.Y-l.at.Dy(), line); y-- {
		if contrast(pixelAt(k.bare, y*k.bare.Rect.Dx()+x), l.ground) >= sameGround {
			return contrast(pixelAt(k.bare, (y-line)*k.bare.Rect.Dx()+x), l.ground)
		}
	}
	return 1
}

// border returns the contrast of the ground of a letter with its dark line, if it has one.
func (k *inked) border(l letter) float64 {
	x := (l.at.Min.X + l.at.Max.X) / 2
	for y := l.at.Min.Y; y > l.at.Min.Y-l.at.Dy(); y-- {
		c := pixelAt(k.bare, y*k.bare.Rect.Dx()+x)
		if apartBy(c, l.ground) > 60 {
			dark := pixelAt(k.bare, (y-3)*k.bare.Rect.Dx()+x)
			if dark.Luminance() > 0.02 {
				return 1
			}
			return contrast(dark, l.ground)
		}
	}
	return 1
}

// tallest are the heights of the tallest letters of a line in each script, in ems: capital letters, digits, or the
// lowest full letters of a script without them. They are a little less than those of the fonts, for words of low ones.
var tallest = map[string]float64{"en": 0.69, "ru": 0.69, "ar": 0.6, "he": 0.55, "hi": 0.7, "th": 0.56, "ja": 0.62,
	"zh": 0.62}

// leastLetters is the least size of letters, in pixels of a frame that is 1080 wide.
const leastLetters = 32

// low reports whether a line belongs to a text of letters that are large enough, but has only low ones of them.
func (k *inked) low(l inkLine, least int) bool {
	return slices.ContainsFunc(k.lines, func(o inkLine) bool {
		apart := max(o.at.Min.Y, l.at.Min.Y) - min(o.at.Max.Y, l.at.Max.Y)
		beside := max(o.at.Min.X, l.at.Min.X) - min(o.at.Max.X, l.at.Max.X)
		return o.tall >= least && o.tall*2 <= l.tall*3 && apart < l.tall && beside < l.tall
	})
}

// faults returns what cannot be read: letters that are too small, too weak, or outside of an area.
func (k *inked) faults(lang string, area image.Rectangle) (all []string) {
	if len(k.lines) == 0 {
		return []string{"there are no letters"}
	}
	for _, l := range k.lines {
		switch least := int(leastLetters*tallest[lang]) - 1; {
		case l.tall < least && !k.low(l, least):
			all = append(all, fmt.Sprintf("letters are small, below %d: %v", least, l))
		case l.contrast < 3:
			all = append(all, fmt.Sprintf("letters are weak: %v", l))
		case !l.at.In(area):
			all = append(all, fmt.Sprintf("letters are outside of %v: %v", area, l))
		}
	}
	return all
}
