package item

import (
	"slices"
	"strings"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
)

// sentence returns a sentence with the value of something, or "" if the value is blank.
func sentence(what, value string) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	return what + ": " + strings.TrimRight(value, ".") + "."
}

// words returns a setting as text.
func words(setting any) string {
	switch setting {
	case true:
		return "yes"
	case false:
		return "no"
	}
	return prompt.Words(setting)
}

// sentences joins the sentences that are not empty.
func sentences(separator string, all ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" }), separator)
}

// lines returns a setting that is a list of texts.
func lines(setting any) (all []string) {
	listed, _ := setting.([]any)
	for _, one := range listed {
		all = append(all, words(one))
	}
	return all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// sameLanguage reports whether two tags name the same language, in whatever country.
func sameLanguage(a, b string) bool {
	a, _, _ = strings.Cut(a, "-")
	b, _, _ = strings.Cut(b, "-")
	return strings.EqualFold(a, b)
}

// clipBytes shortens a text to at most n bytes.
func clipBytes(text string, n int) string {
	for len(text) > n {
		text = provider.Clip(text, len([]rune(text))*n/len(text)-1)
	}
	return text
}

// sentenceEnds are the signs at which a script is preferably divided.
const sentenceEnds = ".!?…。！？؟।"

// sentencesOf returns the sentences of a text in one line.
func sentencesOf(text string) (all []string) {
	from := 0
	for i, r := range text {
		next := i + len(string(r))
		if strings.ContainsRune(sentenceEnds, r) && (next == len(text) || text[next] == ' ' || r > 0x7f) {
			all, from = append(all, strings.TrimSpace(text[from:next])), next
		}
	}
	return slices.DeleteFunc(append(all, strings.TrimSpace(text[from:])), func(s string) bool { return s == "" })
}

// wordEnds returns the offsets at which words end, or characters in scripts without spaces.
func wordEnds(script string) (ends []int) {
	for i, r := range script {
		if i > 0 && breaks(r) {
			ends = append(ends, i)
		}
	}
	return append(ends, len(script))
}

// breaks reports whether a word ends before a character: a space, or a character of a script without spaces.
func breaks(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func abs(n int) int { return max(n, -n) }
