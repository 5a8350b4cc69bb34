// Package script knows what finished media can show, without the fonts: a table has the characters of each. So areas
// can refuse a text that could not be drawn later, and the engine finds the font of a character without reading them
// all. Missing returns what no font has.
package script

import (
	"slices"

	"golang.org/x/text/language"
)

// codes are the ISO 15924 codes of the writing systems.
var codes = []string{
	"Latn", "Cyrl", "Grek", "Arab", "Hebr", "Deva", "Thai", "Hans", "Hant", "Hani", "Jpan", "Hrkt", "Hira", "Kana",
	"Bopo", "Kore", "Hang",
}

// Fonts are the families that a brand can choose. The first is the default.
var Fonts = []string{"noto_sans", "montserrat", "lora", "oswald"}

// Names lists the writing systems for messages.
const Names = "Latin, Cyrillic, Greek, Arabic, Hebrew, Devanagari, Thai, Chinese, Japanese and Korean"

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
