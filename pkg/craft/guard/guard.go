// Package guard checks the answers of text models in code: what they claim, which words they use, their language, their
// length, and whether they repeat earlier texts of the channel. It does not rely on the instructions of a prompt.
//
// A claim is an address, an e-mail address, a telephone number, the name of an account, a price, a percentage, a date,
// a time of day, a quantity with a unit or a promotional code. Each claim of an answer must be in one of the inputs.
// The forms may differ: 1,500 g is 1.5 kg, and 23 November is 23.11.
//
// Its patterns are compiled when they are first used. Before main, they would lengthen each start of a function by more
// than a millisecond. Check finds what is wrong in the texts of an item.
package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/money"
)

// Code is the reason for which an answer is refused. It is the code of the failure that callers see.
type Code string

// The codes.
const (
	Unfinished  Code = "unfinished_text"
	Unsupported Code = "unsupported_claim"
	Forbidden   Code = "forbidden_word"
	Language    Code = "wrong_language"
	TooLong     Code = "text_too_long"
	Repetitive  Code = "repetitive"
	Flagged     Code = "flagged"
)

// Codes returns all codes, the most serious first. An answer with several findings fails with the first of their codes.
func Codes() []Code {
	return []Code{Flagged, Unfinished, Unsupported, Forbidden, Language, TooLong, Repetitive}
}

// Field is a text of an answer.
type Field struct {
	Path string // a JSON pointer into the item, such as /caption
	Text string
	// Tag reports that the text is a hashtag, which states nothing but a reduction.
	Tag bool
}

// Limit is the longest text that a target takes.
type Limit struct {
	Path   string
	Text   platform.Text
	Target string // such as Telegram
}

// Rules are what an answer may draw on, and what it must comply with.
type Rules struct {
	Language string // BCP 47
	// Facts are the inputs: the caller's texts, the profile of the channel, the product and the plan.
	Facts []string
	// Quoted are inputs of strangers, such as articles of a feed. An answer may state none of the addresses, accounts,
	// codes and telephone numbers that only they have.
	Quoted []string
	// Unpriced are inputs whose prices the answer may not state.
	Unpriced []string
	// Prices are amounts that the answer may state although no input has them in words, such as a reduced price.
	Prices []money.Price
	// Now is the time of the answer: its year, and the next one, need no input.
	Now time.Time
	// Forbidden are words and phrases that the channel never uses.
	Forbidden []string
	// Competitors are names that the channel never says.
	Competitors []string
	Limits      []Limit
	// Past are the channel's latest texts.
	Past []Past
	// Sourced reports that the answer must name the source of what it states, and Sources is the number of those that
	// it names.
	Sourced bool
	Sources int
}

// Finding is one reason to refuse an answer.
type Finding struct {
	Code Code
	Path string // of the text, empty if all texts together are meant
	// What names the kind of a claim, such as price, or says what is wrong.
	What string
	// Text is the part of the answer that is refused.
	Text string
}

// Decidable reports whether a person can decide that the text is right after all: a claim may be true, and a forbidden
// word may be meant in its other sense.
func (f Finding) Decidable() bool {
	return f.Code == Unsupported && f.Text != "" || f.Code == Forbidden
}

// maxShown is the longest part of an answer that a message quotes, in characters.
const maxShown = 80

// String describes the finding to the writer and to callers.
func (f Finding) String() string {
	in := ""
	if f.Path != "" {
		in = " in " + f.Path
	}
	text := []rune(f.Text)
	if len(text) > maxShown {
		text = append(text[:maxShown], '…')
	}
	switch shown := string(text); f.Code {
	case Unsupported:
		if shown == "" {
			return f.What
		}
		return fmt.Sprintf("the %s %q%s is in none of the inputs", f.What, shown, in)
	case Unfinished:
		return fmt.Sprintf("%q%s is not for readers", shown, in)
	case Forbidden:
		if f.What != "" {
			return fmt.Sprintf("%q%s is a %s", shown, in, f.What)
		}
		return fmt.Sprintf("%q%s is one of the forbidden words", shown, in)
	case Repetitive:
		return fmt.Sprintf("the text nearly repeats that of %s", shown)
	default:
		return strings.TrimSpace("the text" + in + " " + f.What)
	}
}

// Check returns the reasons to refuse an answer, the most serious first, or nil if it is good.
func Check(answer []Field, r Rules) []Finding {
	known := newKnown(r)
	found := slices.Concat(r.leaks(answer), r.claims(answer, known), r.assertions(answer, known), r.forbidden(answer),
		r.language(answer), r.lengths(answer),
		r.repeats(answer))
	slices.SortStableFunc(found, func(a, b Finding) int {
		return slices.Index(Codes(), a.Code) - slices.Index(Codes(), b.Code)
	})
	return found
}

// claims returns the claims of an answer that none of the inputs supports.
func (r Rules) claims(answer []Field, known *known) (found []Finding) {
	words := lexiconOf(r.Language)
	for _, f := range answer {
		add := func(what, text string) {
			found = append(found, Finding{Code: Unsupported, Path: f.Path, What: what, Text: text})
		}
		if f.Tag {
			if part, ok := known.hashtag(words, f.Text); ok {
				add("hashtag", part)
			}
			continue
		}
		s := scanOf(f.Text, r.Language, true)
		for _, c := range s.found {
			if !known.supports(c) {
				add(c.kind.String(), c.text)
			}
		}
		for _, tag := range s.tags {
			if part, ok := known.hashtag(words, tag); ok {
				add("hashtag", part)
			}
		}
		if part, ok := s.swapped(); ok {
			add("order of the prices", part)
		}
	}
	if r.Sourced && r.Sources == 0 {
		found = append(found, Finding{Code: Unsupported, What: "the text names none of the sources that it quotes"})
	}
	return found
}

// lengths returns the texts that are longer than a target takes.
func (r Rules) lengths(answer []Field) (found []Finding) {
	for _, f := range answer {
		for _, l := range r.Limits {
			if n := l.Text.Unit.Length(f.Text); l.Path == f.Path && l.Text.Max > 0 && n > l.Text.Max {
				found = append(found, Finding{Code: TooLong, Path: f.Path, Text: f.Text, What: fmt.Sprintf(
					"is %d %s long, and %s takes %d", n, l.Text.Unit.Name(), l.Target, l.Text.Max)})
				break
			}
		}
	}
	return found
}

// maxReasons bounds the findings that a message lists.
const maxReasons = 5

// Listed returns what the first findings say, each once.
func Listed(found []Finding) (all []string) {
	for _, f := range found {
		if s := f.String(); !slices.Contains(all, s) && len(all) < maxReasons {
			all = append(all, s)
		}
	}
	return all
}

// Reasons lists findings in one sentence without its end, each once.
func Reasons(found []Finding) string { return strings.Join(Listed(found), "; ") }
