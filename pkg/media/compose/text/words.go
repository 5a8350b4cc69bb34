package text

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed words
var wordFiles embed.FS

// lexicon has the words of a language that is written without spaces between them. infra/tools/words makes the lists.
type lexicon struct {
	// words returns the sorted words, and the length of the longest of them, in characters.
	words func() (words []string, longest int)
	// begins reports whether a word can begin at a character, and follows whether a mark belongs to the word before it.
	begins  func(chars []rune, at int) bool
	follows func(r rune) bool
}

var (
	thaiWords    = lexicon{load("th"), thaiBegins, repeats}
	chineseWords = lexicon{load("zh"), func([]rune, int) bool { return true }, func(rune) bool { return false }}
)

// load returns a function that reads the words of a language when they are needed.
func load(language string) func() ([]string, int) {
	return sync.OnceValues(func() (words []string, longest int) {
		file, err := wordFiles.ReadFile("words/" + language + ".txt.gz")
		if err == nil {
			var r io.Reader
			if r, err = gzip.NewReader(bytes.NewReader(file)); err == nil {
				file, err = io.ReadAll(r)
			}
		}
		if err != nil {
			panic("text: words of " + language + ": " + err.Error()) // the file is part of the program
		}
		words = strings.Split(string(file), "\n")
		for _, w := range words {
			longest = max(longest, utf8.RuneCountInString(w))
		}
		return words, longest
	})
}

// piece is a word of a text, or a character that is in no word with what belongs to it, between offsets in characters.
type piece struct {
	from, to int
	known    bool
}

// divide divides a text of the language into the fewest words, with the fewest characters that are in none. Of several
// such divisions, it is the one with the longest words at the beginning.
func (l lexicon) divide(chars []rune) (all []piece) {
	type way struct {
		piece
		unknown, pieces int
	}
	words, longest := l.words()
	best := make([]way, len(chars)+1) // to divide what is after an offset
	ends := func(at int) bool { return at == len(chars) || l.begins(chars, at) }
	for from := len(chars) - 1; from >= 0; from-- {
		if from > 0 && !ends(from) {
			continue
		}
		to := from + 1
		for !ends(to) {
			to++
		}
		after := best[to]
		best[from] = way{piece{from, to, false}, after.unknown + to - from, after.pieces + 1}
		for to := from + 1; to <= min(from+longest, len(chars)); to++ {
			if _, known := slices.BinarySearch(words, string(chars[from:to])); !known {
				continue
			}
			end := to
			for end < len(chars) && l.follows(chars[end]) {
				end++
			}
			if !ends(end) {
				continue
			}
			p := way{piece{from, end, true}, best[end].unknown, best[end].pieces + 1}
			if b := best[from]; p.unknown < b.unknown || p.unknown == b.unknown && p.pieces <= b.pieces {
				best[from] = p
			}
		}
	}
	for from := 0; from < len(chars); from = best[from].to {
		all = append(all, best[from].piece)
	}
	return all
}

// parts calls f for each part of a text that consists of characters of a kind, with its offset.
func parts(chars []rune, kind func(rune) bool, f func(begin int, part []rune)) {
	for begin := 0; begin < len(chars); begin++ {
		end := begin
		for end < len(chars) && kind(chars[end]) {
			end++
		}
		if end > begin {
			f(begin, chars[begin:end])
		}
		begin = end
	}
}

// repeats reports whether a mark of Thai belongs to the word before it: the sign of repetition, or of an abbreviation.
func repeats(r rune) bool { return r == 'ๆ' || r == 'ฯ' }

// isThai reports whether a character is a letter, a vowel or a mark of Thai.
func isThai(r rune) bool { return 'ก' <= r && r <= '\u0e3a' || 'เ' <= r && r <= '\u0e4e' }

// thaiBegins reports whether a word of Thai can begin at a letter: not at a vowel or a mark that follows a consonant,
// and not after a vowel that precedes one.
func thaiBegins(chars []rune, at int) bool {
	r := chars[at]
	follows := 'ฯ' <= r && r <= '\u0e3a' || '\u0e45' <= r
	return !follows && (at == 0 || chars[at-1] < 'เ' || chars[at-1] > 'ไ')
}

// mostUnknown is the number of letters in no word that stay with the words beside them.
const mostUnknown = 3

// thaiBreaks returns the offsets at which words of Thai begin that follow others, in characters. Letters that are in no
// word stay together, and a few of them with the words before and after: they are parts of a name.
func thaiBreaks(chars []rune) (all []int) {
	parts(chars, isThai, func(begin int, part []rune) {
		var words []piece
		for _, p := range thaiWords.divide(part) {
			if n := len(words); n > 0 && !p.known && !words[n-1].known {
				words[n-1].to = p.to
				continue
			}
			words = append(words, p)
		}
		whole := func(p piece) bool { return p.known || p.to-p.from > mostUnknown }
		for i, p := range words {
			if i > 0 && whole(words[i-1]) && whole(p) {
				all = append(all, begin+p.from)
			}
		}
	})
	return all
}

// withinChinese returns the offsets within words of Chinese, in characters.
func withinChinese(chars []rune) map[int]bool {
	all := map[int]bool{}
	parts(chars, func(r rune) bool { return unicode.Is(unicode.Han, r) }, func(begin int, part []rune) {
		for _, p := range chineseWords.divide(part) {
			for at := p.from + 1; at < p.to; at++ {
				all[begin+at] = true
			}
		}
	})
	return all
}
