package text

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
)

//go:embed thai.txt.gz
var thaiFile []byte

// thaiWords are words of Thai, sorted. infra/tools/words/thai.py writes them, from a list in the public domain.
var thaiWords = sync.OnceValue(func() []string {
	r, err := gzip.NewReader(bytes.NewReader(thaiFile))
	if err == nil {
		var words []byte
		if words, err = io.ReadAll(r); err == nil {
			return strings.Split(string(words), "\n")
		}
	}
	panic("text: thai.txt.gz: " + err.Error()) // the file is part of the program
})

// longestThai is the length of the longest word of the list, in characters.
const longestThai = 20

// The costs of a division into words: of a word, and of a letter that is in none. Of divisions into as many words, that
// with the longest word wins.
const (
	thaiWord   = 1 << 16
	thaiLetter = 1 << 24
)

// repeats reports whether a mark belongs to the word before it: the sign of repetition, and that of an abbreviation.
func repeats(r rune) bool { return r == 'ๆ' || r == 'ฯ' }

// isThai reports whether a character is a letter, a vowel or a mark of Thai.
func isThai(r rune) bool { return 'ก' <= r && r <= '\u0e3a' || 'เ' <= r && r <= '\u0e4e' }

// thaiBegins reports whether a word can begin at a letter: not at a vowel or a mark that follows a consonant, and not
// after a vowel that precedes one.
func thaiBegins(chars []rune, at int) bool {
	r := chars[at]
	follows := 'ฯ' <= r && r <= '\u0e3a' || '\u0e45' <= r
	return !follows && (at == 0 || chars[at-1] < 'เ' || chars[at-1] > 'ไ')
}

// thaiBreaks returns the offsets at which words of Thai begin that follow others, in characters. Thai has no spaces
// between words: a text is divided into the fewest words of the list, with the fewest letters that are in none.
func thaiBreaks(chars []rune) (all []int) {
	for begin := 0; begin < len(chars); begin++ {
		end := begin
		for end < len(chars) && isThai(chars[end]) {
			end++
		}
		for _, at := range thaiDivision(chars[begin:end]) {
			all = append(all, begin+at)
		}
		begin = end
	}
	return all
}

// thaiDivision is thaiBreaks for letters of Thai alone.
func thaiDivision(chars []rune) (all []int) {
	type way struct {
		cost  int
		from  int
		known bool
	}
	best := make([]way, len(chars)+1) // to divide the letters before an offset
	for i := range chars {
		best[i+1].cost = math.MaxInt
	}
	ends := func(at int) bool { return at == len(chars) || thaiBegins(chars, at) }
	for from := range chars {
		if best[from].cost == math.MaxInt {
			continue
		}
		reach := func(to, cost int, known bool) {
			if cost += best[from].cost + thaiWord; cost < best[to].cost {
				best[to] = way{cost, from, known}
			}
		}
		for to := from + 1; to <= min(from+longestThai, len(chars)); to++ {
			if _, known := slices.BinarySearch(thaiWords(), string(chars[from:to])); known {
				end := to
				for end < len(chars) && repeats(chars[end]) {
					end++
				}
				if ends(end) {
					reach(end, -(to-from)*(to-from), true)
				}
			}
		}
		to := from + 1
		for !ends(to) {
			to++
		}
		reach(to, (to-from)*thaiLetter, false)
	}
	// Letters that are in no word stay together, and a few of them with the word before.
	for to := len(chars); to > 0; {
		from, known := best[to].from, best[to].known
		for !known && from > 0 && !best[from].known {
			from = best[from].from
		}
		if from > 0 && (known || to-from > 3) {
			all = append(all, from)
		}
		to = from
	}
	return all
}
