package text

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// sampled are the scripts of the sample.
var sampled = []string{"Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Syriac", "Thaana", "Nko", "Devanagari",
	"Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao",
	"Tibetan", "Myanmar", "Georgian", "Hangul", "Ethiopic", "Cherokee", "Canadian_Aboriginal", "Ogham", "Runic", "Khmer",
	"Mongolian", "Hiragana", "Katakana", "Bopomofo", "Han", "Yi", "Old_Italic", "Gothic", "Deseret", "Tagalog", "Limbu",
	"Tai_Le", "Linear_B", "Ugaritic", "Shavian", "Osmanya", "Braille", "Coptic", "Glagolitic", "Tifinagh", "Phoenician",
	"Balinese", "Javanese", "Cuneiform", "Egyptian_Hieroglyphs", "Adlam", "Common", "Inherited", "Vai", "Cham", "Lisu"}

// wide are those of which more is taken, since fonts have much of them.
var wide = []string{"Latin", "Greek", "Cyrillic", "Hebrew", "Arabic", "Devanagari", "Thai", "Hangul", "Han", "Common"}

// graphemes returns characters as readers see them, of every script: its letters and signs at even distances, alone and
// with the marks of the script.
func graphemes() (all []string) {
	for _, name := range sampled {
		var letters, marks []rune
		for r := rune(0x21); r <= unicode.MaxRune; r++ {
			switch {
			case !unicode.Is(unicode.Scripts[name], r), r >= 0xe0000 && r < 0xe1000:
			case unicode.IsMark(r):
				marks = append(marks, r)
			case unicode.IsPrint(r):
				letters = append(letters, r)
			}
		}
		n := 60
		if slices.Contains(wide, name) {
			n = 400
		}
		for i := range n {
			if len(letters) > 0 {
				letter := letters[i*len(letters)/n]
				if all = append(all, string(letter)); len(marks) > 0 && i%4 == 0 {
					all = append(all, string([]rune{letter, marks[i*len(marks)/n]}))
				}
			} else if len(marks) > 0 {
				all = append(all, string([]rune{'o', marks[i*len(marks)/n]}))
			}
		}
	}
	return all
}

// noGlyph is what libass says of a character that its fonts lack.
var noGlyph = regexp.MustCompile(`(?i)glyph 0x[0-9a-f]+ not found`)

// Each of 5,000 characters of 60 scripts is either refused or drawn by a glyph of a font: nothing is left out, and no
// box stands for it.
func TestEveryGraphemeIsDrawnOrRefused(t *testing.T) {
	f := fonts(t)
	all := graphemes()
	drawn, refused := 0, 0
	const width, height = 1800, 13500
	s := NewScript(width, height)
	for n, g := range all {
		_, missing := script.Missing(g)
		b, err := f.Fit(g, "", heading)
		if missing != (err != nil) {
			t.Errorf("%q (%U): refused %t, laid out: %v", g, []rune(g), missing, err)
		}
		if err != nil {
			refused++
			continue
		}
		drawn++
		for _, r := range b.lines[0].runs {
			// A mark without a letter, and what joins others, take no room; all else has a glyph of the font.
			for _, c := range r.text {
				if _, ok := r.face.NominalGlyph(c); !ok && !shapes(c) {
					t.Errorf("%q (%U) has no glyph in %s", g, []rune(g), r.face.name)
				}
			}
		}
		if strings.Join(b.Lines(), "") == "" && !blank(g) {
			t.Errorf("%q (%U) is left out", g, []rune(g))
		}
		small, err := f.Fit(g, "", Box{Width: 60, Height: 60, MaxEm: 20, MinEm: 4, MaxLines: 3})
		if err == nil {
			s.Text(small, float64(n%40*45), float64(n%40*45+45), float64(n/40*60), Start, canvas.White, Always)
		}
	}
	if len(all) < 5000 || drawn < 2000 || refused < 1000 {
		t.Errorf("of %d characters, %d are drawn and %d refused", len(all), drawn, refused)
	}
	if _, said := rendered(t, s, width, height); noGlyph.MatchString(said) {
		t.Errorf("libass says %q", noGlyph.FindAllString(said, 20))
	}
	wrong, err := f.Fit("a", "", heading)
	if err != nil {
		t.Fatal(err)
	}
	wrong.lines[0].parts[0].runs[0].text = "ক"
	s = NewScript(300, 300)
	s.Text(wrong, 0, 300, 0, Start, canvas.White, Always)
	if _, said := rendered(t, s, 300, 300); !noGlyph.MatchString(said) {
		t.Errorf("of a character without a glyph, libass says %s", said)
	}
	t.Logf("of %d characters, %d are drawn and %d refused", len(all), drawn, refused)
}

// blank reports whether a text has only characters that are never seen.
func blank(g string) bool { return strings.TrimFunc(g, script.Unseen) == "" }
