package architect

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

//go:embed words
var files embed.FS

// lexicon has the words of a language. Those of Detect are whole words, and the others as fits takes them.
type lexicon struct {
	language string

	Detect, Make, Factory, Plan, Change, Improve, Pause []string
	Resume, Figures, Proposals, Models, Factories       []string

	Types, Kinds, Members, Languages map[string][]string
	Numbers                          []string
	// These are parts of regular expressions.
	About, To, Daily, Day, Week, Month string
	Say                                map[string]string

	about, to, perDay, duration *regexp.Regexp
}

// lexicons are the words of all languages, in the order of samples.Languages.
var lexicons = sync.OnceValue(func() (all []*lexicon) {
	for _, language := range samples.Languages {
		l := &lexicon{language: language}
		raw, err := files.ReadFile("words/" + language + ".json")
		if err == nil {
			err = json.Unmarshal(raw, l)
		}
		if err != nil {
			panic(fmt.Sprintf("sample: %s: %v", language, err)) // the file is part of the program
		}
		var named []string
		for _, names := range l.Languages {
			named = append(named, names...)
		}
		numbers := strings.Join(l.Numbers[1:], "|")
		l.about = regexp.MustCompile(`(?i)(?:^|\s)(?:` + l.About + `)\s+([^.;:!?\n]+?)(?:\s+\pL+\s+(?:` +
			strings.Join(named, "|") + `).*)?(?:,\s|[,.;:!?\n]|$)`)
		l.to = regexp.MustCompile(`(?i)(?:\s(?:` + l.To + `)\s+|[:=]\s*)(.+?)[.!]?\s*$`)
		l.perDay = regexp.MustCompile(`(?i)([0-9]{1,3}|\pL+)\s+(?:\pL+\s+){0,2}(?:` + l.Daily + `)`)
		l.duration = regexp.MustCompile(`(?i)(?:^|[^\pL0-9])(?:(?:` + l.About + `)\s+)?(?:([0-9]{1,3}|` + numbers +
			`)\pL{0,2}\s+)?(?:(` + l.Day + `)|(` + l.Week + `)|(` + l.Month + `))\pL*`)
		all = append(all, l)
	}
	return all
})

// lexiconOf returns the words of the language in which a message is written: the one that knows most of its words.
func lexiconOf(words []string) (best *lexicon) {
	most := -1
	for _, l := range lexicons() {
		known := 0
		for _, word := range words {
			if slices.Contains(l.Detect, word) || l.language == "ru" && strings.ContainsFunc(word,
				func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
				known += 2
			}
		}
		for _, list := range [][]string{l.Make, l.Factory, l.Plan, l.Change, l.Improve, l.Figures, l.Proposals,
			l.Models, l.Kinds["carousel"], l.Kinds["post"], l.Pause} {
			if fits(words, list) {
				known++
			}
		}
		if known > most {
			best, most = l, known
		}
	}
	return best
}

// fits reports whether one of the words begins with one of the list, or ends with one that has a hyphen before it. A
// text of several words fits as a whole.
func fits(words, list []string) bool {
	return slices.ContainsFunc(list, func(known string) bool {
		if strings.Contains(known, " ") {
			return strings.Contains(" "+strings.Join(words, " ")+" ", " "+known+" ")
		}
		if end, ok := strings.CutPrefix(known, "-"); ok {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, end) })
		}
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, known) })
	})
}

// named returns the first name in the order given whose list fits, or "".
func named(words []string, lists map[string][]string, order ...string) string {
	for _, name := range order {
		if fits(words, lists[name]) {
			return name
		}
	}
	return ""
}

// value returns the number that a word stands for, 0 if it stands for none.
func (l *lexicon) value(word string) int {
	word = strings.ToLower(word)
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	for n := len(l.Numbers) - 1; n > 0; n-- {
		for one := range strings.SplitSeq(l.Numbers[n], "|") {
			if rest, ok := strings.CutPrefix(word, one); ok && len(rest) <= 2 {
				return n
			}
		}
	}
	return 0
}
