package provider

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// paces are the times to speak a character, by script. They are slower than measured speech, because the price of an
// avatar is derived from them before it speaks. The excess is measured on the result.
//
// Syllables a second are from Pellegrino, Coupé and Marsico, "A cross-language perspective on speech information rate",
// Language 87 (2011), and Coupé et al., "Different languages, similar encoding efficiency", Science Advances 5 (2019):
// Mandarin 5.2, Thai 4.7, Cantonese 5.6, Korean 7.0, Japanese 7.8 (morae), Hindi and Arabic about 6, English 6.2.
var paces = []struct {
	script *unicode.RangeTable
	pace   time.Duration
}{
	// A Chinese character is a syllable; in Japanese it has two morae.
	{unicode.Han, 250 * time.Millisecond},
	{unicode.Bopomofo, 120 * time.Millisecond},
	// A kana is a mora, a block of Hangul a syllable.
	{unicode.Hiragana, 140 * time.Millisecond},
	{unicode.Katakana, 140 * time.Millisecond},
	{unicode.Hangul, 190 * time.Millisecond},
	// Their characters are syllables, too.
	{unicode.Ethiopic, 180 * time.Millisecond},
	{unicode.Yi, 200 * time.Millisecond},
	{unicode.Cherokee, 180 * time.Millisecond},
	{unicode.Canadian_Aboriginal, 180 * time.Millisecond},
	// Short vowels are spoken, but not written.
	{unicode.Arabic, 100 * time.Millisecond},
	{unicode.Hebrew, 100 * time.Millisecond},
	{unicode.Syriac, 100 * time.Millisecond},
	{unicode.Thaana, 90 * time.Millisecond},
	// A syllable takes two characters or more: consonants and signs of vowels.
	{unicode.Devanagari, 90 * time.Millisecond},
	{unicode.Bengali, 90 * time.Millisecond},
	{unicode.Gujarati, 90 * time.Millisecond},
	{unicode.Gurmukhi, 90 * time.Millisecond},
	{unicode.Kannada, 90 * time.Millisecond},
	{unicode.Malayalam, 90 * time.Millisecond},
	{unicode.Oriya, 90 * time.Millisecond},
	{unicode.Sinhala, 90 * time.Millisecond},
	{unicode.Tamil, 90 * time.Millisecond},
	{unicode.Telugu, 90 * time.Millisecond},
	{unicode.Thai, 90 * time.Millisecond},
	{unicode.Lao, 90 * time.Millisecond},
	{unicode.Khmer, 90 * time.Millisecond},
	{unicode.Myanmar, 90 * time.Millisecond},
	{unicode.Tibetan, 90 * time.Millisecond},
}

// The paces of all other characters.
const (
	// paceLetter is that of alphabets, with the pauses between words and sentences: 12
	// characters a second are 144 English words a minute.
	paceLetter = time.Second / 12
	// paceDigit is that of digits, which are spoken as words: "seven", and 70 as
	// "seventy", but 1,234,567 takes ten words.
	paceDigit = 500 * time.Millisecond
	// paceSpelled is that of a capital of an abbreviation, which is spelled.
	paceSpelled = 300 * time.Millisecond
	// paceSign is that of signs that are spoken as words: %, €, +, @.
	paceSign = 500 * time.Millisecond
	// paceEmoji is that of pictographs, whose names are read out: "red heart".
	paceEmoji = time.Second
)

// spokenSigns are the signs outside the categories of symbols that are read out.
const spokenSigns = "%‰@#&*/\\§"

// longestAbbreviation is the largest number of capitals in a row that are spelled. More are a word in capitals.
const longestAbbreviation = 5

// SpokenLength estimates the time to speak a text, by the scripts of its characters. It is at least a second.
func SpokenLength(text string) (length time.Duration) {
	inWord := false
	for at := 0; at < len(text); {
		if n := abbreviation(text[at:]); n > 0 && !inWord {
			length += time.Duration(n) * paceSpelled
			at += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[at:])
		length += paceOf(r)
		inWord = unicode.IsLetter(r)
		at += n
	}
	return max(length, time.Second)
}

// abbreviation returns the number of capitals of an abbreviation at the beginning of a text: two to five of A to Z that
// no other letter follows.
func abbreviation(text string) int {
	n := 0
	for n < len(text) && text[n] >= 'A' && text[n] <= 'Z' {
		n++
	}
	if next, _ := utf8.DecodeRuneInString(text[n:]); n < 2 || n > longestAbbreviation || unicode.IsLetter(next) {
		return 0
	}
	return n
}

// paceOf returns the time to speak a character.
func paceOf(r rune) time.Duration {
	switch {
	case unicode.IsDigit(r) || unicode.Is(unicode.No, r) || unicode.Is(unicode.Nl, r):
		return paceDigit
	case r < 0x300 && unicode.IsLetter(r):
		return paceLetter
	case strings.ContainsRune(spokenSigns, r) || unicode.In(r, unicode.Sm, unicode.Sc):
		return paceSign
	case r >= 0x1F3FB && r <= 0x1F3FF: // the color of the skin of the emoji before it
		return 0
	case unicode.Is(unicode.So, r):
		return paceEmoji
	}
	for _, p := range paces {
		if unicode.Is(p.script, r) {
			return p.pace
		}
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0 // accents, and characters that join or direct others
	}
	return paceLetter
}
