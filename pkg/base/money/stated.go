package money

import (
	_ "embed" // the names of currencies are in a table beside
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	texts "github.com/content-automation/api/pkg/base/text"
)

//go:embed currencies.tsv
var currencyTable string

// currencyNames maps the signs, codes and words of texts to the currencies that they may mean. Words are in lower case.
// A word with * matches all words that begin with it. Ambiguous words, such as pound and won, are omitted: wrongly
// refusing a text costs more than missing a price.
var currencyNames = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(currencyTable) {
		codes, words, _ := strings.Cut(line, "\t")
		for word := range strings.FieldsSeq(words) {
			all[word] = codes
		}
	}
	return all
})

// particles follow a Korean word without a space.
var particles = strings.Fields("에 은 을 의 이 만 도 로 으로 에서 부터 까지 짜리 대 인 입니다 이면 이에요 예요")

// alsoWords are codes that are words in capital letters as well, such as TOP 10. They stand for a currency after a
// number only.
var alsoWords = map[string]bool{"TOP": true, "ALL": true, "CUP": true, "TRY": true, "GEL": true, "MOP": true,
	"SOS": true, "PEN": true, "MAD": true, "COP": true, "BAM": true, "PAB": true}

// gap matches the characters that may stand between a number and its currency.
const gap = "[\\s\u00a0\u202f.:–—-]{0,3}"

var (
	number = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\d+(?:[.,'’٬٫ \x{a0}\x{2009}\x{202f}]\d+)*`)
	})
	// wordBefore and wordAfter match a currency next to a number: a sign with its letters, or a word.
	wordBefore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([\p{L}\p{M}]{0,2}\p{Sc}|ש["״]ח|s/|[\p{L}\p{M}]+)\.?` + gap + `$`)
	})
	wordAfter = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^` + gap + `(?:[,.][–—-]{1,2} ?)?(\p{Sc}|ש["״]ח|[\p{L}\p{M}]+)`)
	})
)

// Statement is an amount of money in a text.
type Statement struct {
	// Text is the amount as it is written in the text, and Sign the currency in lower case. From and To are the offsets
	// of Text if the text has no digits but those of ASCII.
	Text, Sign string
	From, To   int
	// Before reports whether the sign is before the amount.
	Before bool
	// means are the prices that the amount may mean: a separator may be of decimals or of thousands, and a sign may
	// belong to several currencies.
	means []Price
}

// Means returns the prices that the amount may mean.
func (s Statement) Means() []Price { return s.means }

// In returns the amounts of money in a text: numbers in the digits of any script next to the sign, code or word of a
// currency.
func In(text string) (all []Statement) {
	text = latin(text)
	for _, at := range number().FindAllStringIndex(text, -1) {
		var codes []string
		before, after, sign, isBefore := texts.Before(text, at[0], near), texts.After(text, at[1], near), "", false
		if m := wordBefore().FindStringSubmatch(before); m != nil && !alsoWords[m[1]] {
			if codes = codesOf(m[1]); len(codes) > 0 {
				sign, isBefore = m[1], true
			}
		}
		if m := wordAfter().FindStringSubmatch(after); m != nil {
			if after := codesOf(m[1]); len(after) > 0 {
				codes, sign, isBefore = append(codes, after...), m[1], false
			}
		}
		if len(codes) == 0 {
			continue
		}
		s := Statement{Text: text[at[0]:at[1]], Sign: strings.ToLower(sign), From: at[0], To: at[1], Before: isBefore}
		for _, code := range codes {
			for _, amount := range amounts(s.Text, code) {
				s.means = append(s.means, Price{amount, code})
			}
		}
		all = append(all, s)
	}
	return all
}

// near is the part of a text beside a number that is searched for a currency, in bytes.
const near = 80

// Named returns the currencies that a code, sign or word may mean, or none for any other text.
func Named(word string) []string {
	if code := strings.ToUpper(word); IsCurrency(code) &&
		(word == code || currencyNames()[strings.ToLower(word)] != "") {
		return []string{code}
	}
	word = strings.ToLower(word)
	if codes := currencyNames()[word]; codes != "" {
		return strings.Fields(codes)
	}
	runes := []rune(word)
	for n := len(runes); n > 1; n-- {
		if codes := currencyNames()[string(runes[:n])+"*"]; codes != "" {
			return strings.Fields(codes)
		}
	}
	return nil
}

// codesOf returns the currencies that a word or sign within a text may mean, or none for any other word.
func codesOf(word string) []string {
	if codes := Named(word); codes != nil {
		return codes
	}
	runes := []rune(strings.ToLower(word))
	// A sign may follow letters that do not belong to it, and scripts without spaces join words.
	for n := 1; n < len(runes); n++ {
		head, tail := string(runes[:len(runes)-n]), string(runes[len(runes)-n:])
		if unicode.In(runes[0], unicode.Han, unicode.Katakana, unicode.Thai) || unicode.Is(unicode.Hangul, runes[0]) &&
			slices.Contains(particles, tail) {
			if codes := currencyNames()[head]; codes != "" {
				return strings.Fields(codes)
			}
		}
		if rest := string(runes[n:]); unicode.Is(unicode.Sc, runes[n]) && currencyNames()[rest] != "" {
			return strings.Fields(currencyNames()[rest])
		}
	}
	return nil
}

// amounts returns the amounts that a number may mean in the smallest unit of a currency.
func amounts(text, code string) (all []int64) {
	unit, n := unitOf(code), digits[code]
	whole := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	}
	if v, err := strconv.ParseInt(whole(text), 10, 64); err == nil && v < 1<<40 {
		all = append(all, v*unit)
	}
	last := strings.LastIndexAny(text, ".,٫")
	if last < 0 || n == 0 {
		return all
	}
	fraction := whole(text[last:])
	if len(fraction) > n {
		return all
	}
	for len(fraction) < n {
		fraction += "0"
	}
	if v, err := strconv.ParseInt(whole(text[:last])+fraction, 10, 64); err == nil {
		// With as many decimals as the currency has, the separator is not one of thousands.
		return append(all[:0:0], v)
	}
	return all
}

// latin returns a text with the digits of all scripts replaced by ASCII digits.
func latin(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII || !unicode.Is(unicode.Nd, r) {
			return r
		}
		for zero := r; ; zero-- { // digits of a script are in a row from zero
			if !unicode.Is(unicode.Nd, zero-1) || r-zero == 9 {
				return '0' + (r-zero)%10
			}
		}
	}, text)
}
