package guard

import (
	"strings"
	"unicode"
)

// tongues are the languages of scripts that one of the languages of the guards has alone.
var tongues = []struct {
	table *unicode.RangeTable
	code  string
}{
	{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"}, {unicode.Han, "zh"}, {unicode.Thai, "th"},
	{unicode.Hebrew, "he"}, {unicode.Arabic, "ar"}, {unicode.Devanagari, "hi"},
}

// tongue returns the language of an input, as far as the guards have words for it, or nothing.
func tongue(text string) string {
	for _, t := range tongues {
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(t.table, r) }) {
			return t.code
		}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
		if strings.ContainsAny(strings.ToLower(text), "іїєґ") {
			return "uk"
		}
		return "ru"
	}
	lower := strings.ToLower(text)
	if strings.ContainsAny(lower, "ơưđạảấầẩậắằẵặẹẻẽếềểễệịỉọỏốồổỗộớờởợụủứừửữựỳỷỹ") {
		return "vi"
	}
	best, most := "", 0
	for code, n := range frequent(lower) {
		if n > most || n == most && code < best {
			best, most = code, n
		}
	}
	return best
}

// frequent returns the number of frequent words of each language with words for the guards in a text of Latin letters.
func frequent(text string) map[string]int {
	all := map[string]int{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, code := range []string{"de", "en", "es", "fr", "it", "pl", "pt", "tr"} {
			if common()[code][word] {
				all[code]++
			}
			for _, p := range lexiconOf(code).patterns["warranty"] {
				for _, one := range p[0].phrases {
					if one.text == word {
						all[code]++
					}
				}
			}
		}
	}
	return all
}
