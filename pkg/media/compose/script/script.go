// Package script knows the writing systems that finished media can show, without the fonts: so areas can refuse a text
// that could not be drawn later. Covers reports which fonts show a text.
package script

import (
	"slices"
	"unicode"

	"golang.org/x/text/language"
)

// tables are the writing systems of the fonts of pkg/media/compose/text.
var tables = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Thai,
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
	unicode.Common, unicode.Inherited,
}

// codes are the ISO 15924 codes of the writing systems.
var codes = []string{
	"Latn", "Cyrl", "Grek", "Arab", "Hebr", "Deva", "Thai", "Hans", "Hant", "Hani", "Jpan", "Hrkt", "Hira", "Kana",
	"Bopo", "Kore", "Hang",
}

// Fonts are the families that a brand can choose. The first is the default.
var Fonts = []string{"noto_sans", "montserrat", "lora", "oswald"}

// Names lists the writing systems for messages.
const Names = "Latin, Cyrillic, Greek, Arabic, Hebrew, Devanagari, Thai, Chinese, Japanese and Korean"

// maxMissing is the greatest fraction of a text's letters that may be of other writing systems. These are not shown.
const maxMissing = 0.1

// Covers reports whether a text can be shown.
func Covers(text string) bool {
	letters, missing := 0, 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if !unicode.In(r, tables...) {
			missing++
		}
	}
	return float64(missing) <= maxMissing*float64(letters)
}

// CoversLanguage reports whether texts in a language (BCP 47) can be shown, by its usual writing system. It reports
// true if that is not known.
func CoversLanguage(tag string) bool {
	parsed, err := language.Parse(tag)
	if err != nil {
		return true
	}
	code, confidence := parsed.Script()
	return confidence == language.No || slices.Contains(codes, code.String())
}
