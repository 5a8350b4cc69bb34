package plan

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// nearDuplicate is the similarity from which on two topics count as the same.
const nearDuplicate = 0.55

// gram is the number of characters of a word that are compared together. Scripts that put
// no spaces between words say more with each character.
const (
	gram      = 3
	gramDense = 2
)

// dense are the scripts without spaces between words.
var dense = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}

// shape is the set of short pieces of words by which topics are compared. The order of the
// words, their case, accents' encoding, punctuation and spaces do not count.
type shape map[string]bool

func shapeOf(topic string) shape {
	s := shape{}
	words := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(topic)), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	})
	for _, word := range words {
		runes, n := []rune(word), gram
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, dense...) }) {
			n = gramDense
		} else {
			runes = []rune(" " + word + " ")
		}
		for i := 0; i+n <= len(runes); i++ {
			s[string(runes[i:i+n])] = true
		}
		if len(runes) < n {
			s[word] = true
		}
	}
	return s
}

// similarity is the Jaccard index of two shapes: the share of their pieces that both have, from 0 to 1.
func similarity(a, b shape) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if float64(len(a)) < nearDuplicate*float64(len(b)) {
		return 0 // not worth a closer look
	}
	common := 0
	for piece := range a {
		if b[piece] {
			common++
		}
	}
	if all := len(a) + len(b) - common; all > 0 {
		return float64(common) / float64(all)
	}
	return 0
}

// known are the topics that a new one must differ from.
type known []shape

// has reports whether a topic is nearly one of them, or says nothing at all.
func (k known) has(s shape) bool {
	if len(s) == 0 {
		return true
	}
	for _, other := range k {
		if similarity(s, other) >= nearDuplicate {
			return true
		}
	}
	return false
}
