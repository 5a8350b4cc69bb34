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
	"strings"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
)

// family is a font of the set.
type family struct {
	name, file string
	// leading is the line spacing in ems: marks above and below need room.
	leading float64
	// capHeight is the height of a capital letter in ems. 0 is that of Noto Sans.
	capHeight float64
}

const (
	latin = iota
	arabic
	hebrew
	devanagari
	thai
	chinese
	japanese
	korean
	emoji
	montserrat
	lora
	oswald
	colored
	count // of the families
)

// families are the fonts of the set; infra/tools/media-tools.mjs installs them.
var families = []family{
	latin:      {"Noto Sans", "NotoSans-Bold.ttf", 1.22, 0},
	arabic:     {"Noto Sans Arabic", "NotoSansArabic-Bold.ttf", 1.5, 0},
	hebrew:     {"Noto Sans Hebrew", "NotoSansHebrew-Bold.ttf", 1.25, 0},
	devanagari: {"Noto Sans Devanagari", "NotoSansDevanagari-Bold.ttf", 1.5, 0},
	thai:       {"Noto Sans Thai", "NotoSansThai-Bold.ttf", 1.5, 0},
	chinese:    {"Noto Sans SC", "NotoSansSC-Bold.ttf", 1.3, 0},
	japanese:   {"Noto Sans JP", "NotoSansJP-Bold.ttf", 1.3, 0},
	korean:     {"Noto Sans KR", "NotoSansKR-Bold.ttf", 1.3, 0},
	emoji:      {"Noto Emoji", "NotoEmoji-Bold.ttf", 1.3, 0},
	montserrat: {"Montserrat", "Montserrat-Bold.ttf", 1.22, 0.7},
	lora:       {"Lora", "Lora-Bold.ttf", 1.25, 0.7},
	oswald:     {"Oswald", "Oswald-Bold.ttf", 1.4, 0.81},
	colored:    {"Noto Color Emoji", "NotoColorEmoji-Regular.ttf", 1.3, 0},
}

// brands are the families of brands, by their names in package script.
var brands = map[string]int{
	"": latin, "noto_sans": latin, "montserrat": montserrat, "lora": lora, "oswald": oswald,
}

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
	first int
}

// set has the fonts that were read.
type set struct {
	dir    string
	mu     sync.Mutex
	faces  [count]*face
	shaper shaping.HarfbuzzShaper
	arts   map[string]art // the drawings of emoji, by their characters
}

// Open opens the fonts in a folder. A font is read when a text needs it.
func Open(dir string) (*Fonts, error) {
	for _, f := range families {
		if _, err := os.Stat(filepath.Join(dir, f.file)); err != nil {
			return nil, fmt.Errorf("text: the font %s is missing: %w", f.name, err)
		}
	}
	return &Fonts{set: &set{dir: dir}, first: latin}, nil
}

// In returns the set for texts in a family of script.Fonts, or reports that there is no such family. A text is in Noto
// if the family lacks one of its letters.
func (f *Fonts) In(family string) (*Fonts, bool) {
	first, ok := brands[family]
	return &Fonts{set: f.set, first: first}, ok
}

// has reports whether a font has all letters of a text.
func (f *Fonts) has(n int, text string) (bool, error) {
	of, err := f.face(n)
	if err != nil {
		return false, err
	}
	for _, r := range text {
		if _, ok := of.NominalGlyph(r); !ok && !unseen(r) && (unicode.IsLetter(r) || unicode.IsMark(r)) {
			return false, nil
		}
	}
	return true, nil
}

// face returns a font, read on first use.
func (f *Fonts) face(n int) (*face, error) {
	if f.faces[n] != nil {
		return f.faces[n], nil
	}
	path := filepath.Join(f.dir, families[n].file)
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

// order returns the order in which fonts are tried for a text's characters. A Chinese character has a different form in
// Japanese and Korean text.
func order(first int, text, lang string) []int {
	han := []int{chinese, japanese, korean}
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	switch {
	case lang == "ja" || lang != "zh" && lang != "ko" &&
		strings.IndexFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }) >= 0:
		han = []int{japanese, chinese, korean}
	case lang == "ko" || lang != "zh" &&
		strings.IndexFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hangul) }) >= 0:
		han = []int{korean, chinese, japanese}
	}
	return append([]int{first, latin, arabic, hebrew, devanagari, thai}, append(han, emoji)...)
}

// choose returns the font of a cluster, or nil if none has it.
func (f *Fonts) choose(cluster []rune, order []int) (*face, error) {
	switch {
	case pictorial(cluster):
		order = []int{emoji}
	case unicode.Is(unicode.Devanagari, cluster[0]): // Noto Sans has some of it, too
		order = []int{devanagari}
	}
	for _, n := range order {
		candidate, err := f.face(n)
		if err != nil {
			return nil, err
		}
		if covers(candidate, cluster) {
			return candidate, nil
		}
	}
	return nil, nil
}

// covers reports whether a font has all visible characters of a cluster.
func covers(f *face, cluster []rune) bool {
	for _, r := range cluster {
		if _, ok := f.NominalGlyph(r); !ok && !unseen(r) {
			return false
		}
	}
	return true
}

// unseen reports whether a character only changes the form of others.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r >= 0x1f3fb && r <= 0x1f3ff
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
