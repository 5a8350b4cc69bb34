package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// assertions are the kinds of assertions that an input must make as well, with their names for callers. What an input
// says is compared by kind: a text may say in other words what is true.
var assertions = []struct{ kind, name string }{
	{"health", "health claim"}, {"study", "study"}, {"super", "superlative"}, {"promise", "promise"},
	{"scarce", "scarcity"}, {"deadline", "deadline"},
}

// inputs are the texts that the answer may draw on, divided into sentences, for the comparison of assertions. They are
// folded when an answer first needs them.
type inputs struct {
	own, english *lexicon
	facts        []string
	folded       []string
	english1     []string
}

func (r Rules) inputs() *inputs {
	return &inputs{own: lexiconOf(r.Language), english: lexiconOf("en"),
		facts: slices.Concat(r.Facts, r.Quoted, r.Unpriced)}
}

func (in *inputs) fold() {
	if in.folded != nil {
		return
	}
	in.folded = []string{""}
	for _, fact := range in.facts {
		for _, s := range sentences(normal(fact)) {
			in.folded = append(in.folded, in.own.fold(s))
			in.english1 = append(in.english1, strings.ToLower(s))
		}
	}
}

// assert reports whether an input makes an assertion of a kind.
func (in *inputs) assert(kind string) bool {
	in.fold()
	return slices.ContainsFunc(in.folded, func(s string) bool { return in.own.has(s, kind) }) ||
		slices.ContainsFunc(in.english1, func(s string) bool { return in.english.has(s, kind) })
}

// mention reports whether an input has a text.
func (in *inputs) mention(text string) bool {
	in.fold()
	return slices.ContainsFunc(in.folded, func(s string) bool { return strings.Contains(s, text) })
}

// assertions returns the assertions of an answer that no input makes.
func (r Rules) assertions(answer []Field, known *known) (found []Finding) {
	in := r.inputs()
	add := func(f Field, what, text string) {
		found = append(found, Finding{Code: Unsupported, Path: f.Path, What: what, Text: strings.TrimSpace(text)})
	}
	for _, f := range answer {
		if f.Tag {
			continue
		}
		text := normal(f.Text)
		for _, sentence := range sentences(text) {
			folded := in.own.fold(sentence)
			for _, a := range assertions {
				part, ok := in.own.match(folded, a.kind)
				if !ok || in.assert(a.kind) || a.kind == "deadline" && known.endsOn(r.Now) {
					continue
				}
				add(f, a.name, part)
			}
			if part, ok := in.own.match(folded, "award"); ok && !in.awarded(folded) {
				add(f, "award", part)
			}
			if part, ok := known.weekday(in.own, folded); ok {
				add(f, "weekday", part)
			}
		}
		if part, ok := in.quote(text, known); ok {
			add(f, "quotation", part)
		}
	}
	return found
}

// significant returns the parts of a sentence by which it is compared with another: the beginnings of its longer words,
// and pairs of characters of scripts without spaces.
func (l *lexicon) significant(sentence string) map[string]bool {
	all := map[string]bool{}
	generic := func(word string) bool {
		for _, p := range l.patterns["award"] {
			for _, group := range p {
				for _, one := range group {
					if one.text == word || one.tail && strings.HasPrefix(word, one.text) {
						return true
					}
				}
			}
		}
		return false
	}
	for word := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return !isWord(r) && !unicode.IsMark(r) }) {
		runes := []rune(word)
		if unicode.In(runes[0], unicode.Han, unicode.Katakana, unicode.Hangul) {
			for i := range len(runes) - 1 {
				if unicode.In(runes[i], unicode.Han, unicode.Katakana, unicode.Hangul) {
					all[string(runes[i:i+2])] = true
				}
			}
			continue
		}
		if len(runes) >= 4 && !generic(word) {
			all[string(runes[:min(len(runes), 5)])] = true
		}
	}
	return all
}

// awarded reports whether an input names the award of a sentence: two of the significant parts of the sentence, or half
// of them, are in one sentence of the inputs.
func (in *inputs) awarded(sentence string) bool {
	in.fold()
	wanted := in.own.significant(sentence)
	if len(wanted) == 0 {
		return true
	}
	for _, s := range slices.Concat(in.folded, in.english1) {
		shared := 0
		for part := range in.own.significant(s) {
			if wanted[part] {
				shared++
			}
		}
		least := 2
		if len(wanted) < 4 {
			least = 1
		}
		if in.own.spaceless() || in.own.base == "ko" {
			least = max(3, len(wanted)/4)
		}
		if shared >= least {
			return true
		}
	}
	return false
}

var (
	// quoted matches a quotation with the marks of any of the languages.
	quoted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`["“„«「『][^"“”„«»「」『』]{4,200}["”“»」』]`)
	})
	// personText matches the names of a person: capital letters begin two words or more.
	personText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\p{Lu}[\p{L}'-]+(?: (?:de |von |van |da |di )?\p{Lu}[\p{L}'-]+)+`)
	})
)

// The lengths of text before and after a quotation in which its author is named, in bytes.
const (
	beforeQuote = 60
	afterQuote  = 110
)

// quote returns a quotation whose author no input names. Proverbs and grandmothers have no name.
func (in *inputs) quote(text string, known *known) (part string, ok bool) {
	l := in.own
	if len(l.patterns["say"]) == 0 {
		return "", false
	}
	for _, at := range quoted().FindAllStringIndex(text, -1) {
		before := strings.ToValidUTF8(text[max(0, at[0]-beforeQuote):at[0]], "")
		if i := strings.LastIndexAny(before, ".!?\n"); i >= 0 {
			before = before[i+1:]
		}
		after := strings.ToValidUTF8(text[at[1]:min(len(text), at[1]+afterQuote)], "")
		if i := strings.IndexAny(after, ".!?\n"); i >= 0 {
			after = after[:i]
		}
		for _, window := range []string{after, before} {
			folded := l.fold(window)
			if !l.has(folded, "say") {
				continue
			}
			title, titled := l.match(folded, "title")
			names := personText().FindString(window)
			switch {
			case names != "" && !known.named(names):
				return names, true
			case names == "" && titled && !in.mention(title):
				return strings.TrimSpace(window), true
			}
		}
	}
	return "", false
}

// named reports whether half of the words of a name are in the inputs.
func (k *known) named(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !isWord(r) })
	n := 0
	for _, word := range words {
		if k.said[word] || k.said[strings.TrimSuffix(word, "s")] {
			n++
		}
	}
	return 2*n >= len(words)
}

var (
	bracesText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{[^{}]{0,60}\}\}|\$\{[^{}]{1,60}\}|%[A-Z]{2,}_?[A-Z]+%`)
	})
	bracketText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[\[<【]` +
			`([^\[\]<>【】\n]{2,48})[\]>】]`)
	})
)

// The part of a text in which a model presents its answer, and the number of words of a placeholder.
const (
	prefaceAt      = 80
	prefaceTo      = 70
	maxPlaceholder = 5
)

// leaks returns the parts of an answer that are not for readers: placeholders, what a model says about itself or its
// answer, and instructions. They are never right, unless an input has them.
func (r Rules) leaks(answer []Field) (found []Finding) {
	in := r.inputs()
	for _, f := range answer {
		text := normal(f.Text)
		folded := in.own.fold(text)
		part := bracesText().FindString(text)
		if part == "" {
			part = in.placeholder(text)
		}
		for _, l := range []*lexicon{in.own, in.english} {
			if part == "" {
				part = l.leak(folded)
			}
		}
		if part != "" && !in.mention(in.own.fold(part)) {
			found = append(found, Finding{Code: Unfinished, Path: f.Path, Text: part})
		}
	}
	return found
}

// leak returns a part of a text in which a model speaks of itself, or presents its answer.
func (l *lexicon) leak(folded string) string {
	if part, ok := l.match(folded, "leak"); ok {
		return part
	}
	for _, p := range l.patterns["preface"] {
		for _, one := range p[0] {
			from, to, ok := l.find(folded, one)
			if !ok || from > prefaceAt {
				continue
			}
			rest := folded[from:min(len(folded), to+prefaceTo)]
			i := strings.IndexByte(rest, ':')
			if i >= 0 && !strings.ContainsAny(rest[len(one.text):max(i, len(one.text))], ".?") {
				return folded[from:to]
			}
		}
	}
	return ""
}

// placeholder returns a part in brackets that somebody was to fill in.
func (in *inputs) placeholder(text string) string {
	for _, m := range bracketText().FindAllStringSubmatch(text, -1) {
		inner := in.own.fold(m[1])
		if len(strings.Fields(inner)) > maxPlaceholder || strings.Contains(inner, "bio") {
			continue
		}
		for _, l := range []*lexicon{in.own, in.english} {
			if l.has(inner, "placeholder") {
				return m[0]
			}
		}
	}
	return ""
}
