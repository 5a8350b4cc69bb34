// Package text lays out headings and captions: it chooses a font for each character, measures text as HarfBuzz shapes
// it, breaks it into lines, reduces its size until it fits, and writes it as a script of libass (Advanced SubStation
// Alpha) in which every line has its position. Start with Fonts.Fit.
package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// family is a font of the set.
type family struct {
	name string
	// leading is the line spacing in ems: marks above and below need room.
	leading float64
	// capHeight is the height of a capital letter in ems. 0 is that of Noto Sans.
	capHeight float64
}

// families are the fonts of the set, whose files package script lists.
var families = [script.Families]family{
	script.Latin:       {"Noto Sans", 1.22, 0},
	script.Arabic:      {"Noto Sans Arabic", 1.5, 0},
	script.Hebrew:      {"Noto Sans Hebrew", 1.25, 0},
	script.Devanagari:  {"Noto Sans Devanagari", 1.5, 0},
	script.Thai:        {"Noto Sans Thai", 1.5, 0},
	script.Chinese:     {"Noto Sans SC", 1.3, 0},
	script.Traditional: {"Noto Sans TC", 1.3, 0},
	script.HongKong:    {"Noto Sans HK", 1.3, 0},
	script.Japanese:    {"Noto Sans JP", 1.3, 0},
	script.Korean:      {"Noto Sans KR", 1.3, 0},
	script.Symbols:     {"Noto Sans Symbols", 1.3, 0},
	script.MoreSymbols: {"Noto Sans Symbols 2", 1.3, 0},
	script.Emoji:       {"Noto Emoji", 1.3, 0},
	script.Montserrat:  {"Montserrat", 1.22, 0.7},
	script.Lora:        {"Lora", 1.25, 0.7},
	script.Oswald:      {"Oswald", 1.4, 0.81},
	script.Colored:     {"Noto Color Emoji", 1.3, 0},
}

// brands are the families of brands, by their names in package script.
var brands = map[string]script.Family{"": script.Latin, "noto_sans": script.Latin, "montserrat": script.Montserrat,
	"lora": script.Lora, "oswald": script.Oswald}

type face struct {
	family
	path string
	*font.Face
	// The ascent and descent with which libass places a line of the font, in ems.
	ascent, descent float64
}

// Fonts is the set of fonts. It is safe for concurrent use.
type Fonts struct {
	*set
	// first is the family of texts, where it has all their letters.
	first script.Family
}

// set has the fonts that were read.
type set struct {
	dir    string
	mu     sync.Mutex
	faces  [script.Families]*face
	shaper shaping.HarfbuzzShaper
	arts   map[string]art // the drawings of emoji, by their characters
}

// Open opens the fonts in a folder. A font is read when a text needs it.
func Open(dir string) (*Fonts, error) {
	for _, file := range script.Files {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return nil, fmt.Errorf("text: the font %s is missing: %w", file, err)
		}
	}
	return &Fonts{set: &set{dir: dir}, first: script.Latin}, nil
}

// In returns the set for texts in a family of script.Fonts, or reports that there is no such family. A text is in Noto
// if the family lacks one of its letters.
func (f *Fonts) In(family string) (*Fonts, bool) {
	first, ok := brands[family]
	return &Fonts{set: f.set, first: first}, ok
}

// has reports whether a font has all letters of a text.
func has(f script.Family, text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsMark(r)) && !script.Unseen(r) && !f.Has(r)
	})
}

// face returns a font, read on first use.
func (f *Fonts) face(n script.Family) (*face, error) {
	if f.faces[n] != nil {
		return f.faces[n], nil
	}
	path := filepath.Join(f.dir, script.Files[n])
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	loader, err := opentype.NewLoader(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("text: %s: %w", path, err)
	}
	parsed, err := font.NewFont(loader)
	if err != nil {
		return nil, fmt.Errorf("text: %s: %w", path, err)
	}
	// libass scales a font by usWinAscent and usWinDescent.
	os2, err := loader.RawTable(opentype.MustNewTag("OS/2"))
	if err != nil || len(os2) < 78 {
		return nil, fmt.Errorf("text: %s has no usable OS/2 table: %w", path, err)
	}
	em := float64(parsed.Upem())
	f.faces[n] = &face{
		family: families[n], path: path, Face: font.NewFace(parsed),
		ascent:  float64(binary.BigEndian.Uint16(os2[74:])) / em,
		descent: float64(binary.BigEndian.Uint16(os2[76:])) / em,
	}
	return f.faces[n], nil
}

// cluster returns a character as it is drawn, of a size in bytes. It fails if no font has it.
func (f *Fonts) cluster(chars []rune, order script.Order, size int) (c cluster, err error) {
	family, drawn, ok := order.Draw(chars)
	if !ok {
		return c, fmt.Errorf("%w: %q (%U)", ErrScript, string(chars), chars)
	}
	if c.face, err = f.face(family); err != nil {
		return c, err
	}
	c.size = size
	if family == script.Emoji && !script.Plain(chars) {
		if c.art, err = f.artOf(chars); err != nil {
			return c, err
		}
	}
	drawn = slices.DeleteFunc(slices.Clone(drawn), func(r rune) bool {
		return r == softHyphen || !family.Has(r) && !shapes(r) // it is unseen, or a tag or skin tone of a picture
	})
	if c.text = string(drawn); len(drawn) > 0 {
		c.width = f.width(c.face, drawn)
	}
	return c, nil
}

// shapes reports whether an unseen character changes how its neighbors are joined or ordered, also where the font
// lacks it.
func shapes(r rune) bool {
	return r >= '\u200c' && r <= '\u200f' || unicode.Is(unicode.Bidi_Control, r)
}

// scale is the size at which text is measured, in 1/64 pixel.
const scale = 1000 << 6

// width returns the width of characters in one font, in ems.
func (f *Fonts) width(of *face, chars []rune) float64 {
	script := language.Common
	for _, r := range chars {
		if s := language.LookupScript(r); s != language.Common && s != language.Inherited {
			script = s
			break
		}
	}
	direction := di.DirectionLTR
	if script == language.Arabic || script == language.Hebrew {
		direction = di.DirectionRTL
	}
	out := f.shaper.ShapeNoExtents(shaping.Input{
		Text: chars, RunEnd: len(chars), Direction: direction, Face: of.Face, Size: fixed.Int26_6(scale),
		Script: script, Language: language.NewLanguage("und"),
	})
	return float64(out.Advance) / scale
}
