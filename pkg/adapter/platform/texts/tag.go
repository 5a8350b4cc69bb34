package texts

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// hashSign reports whether a character begins a hashtag.
func hashSign(r rune) bool { return r == '#' || r == '＃' }

// special are further characters of hashtags, for example the middle dots of Japanese and Catalan.
const special = "_\u200c\u200d\ua67e\u05be\u05f3\u05f4\uff5e\u301c\u309b\u309c\u30a0\u30fb\u3003\u0f0b\u0f0c\u00b7"

// tagLetter reports whether a character may be the letter without which a hashtag is none, and tagChar whether it may
// be in a hashtag.
func tagLetter(r rune) bool {
	return latin(r) || r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.M)
}

func tagChar(r rune) bool {
	return ascii(r) || r == '_' || r >= utf8.RuneSelf && (unicode.In(r, unicode.L, unicode.M, unicode.Nd) ||
		strings.ContainsRune(special, r))
}

// hashtags returns the hashtags in a text, and those inside of links.
func hashtags(s string) (all []Part) {
	if !strings.ContainsAny(s, "#＃") {
		return nil
	}
	from := 0
	for i, r := range s {
		if i < from || !hashSign(r) {
			continue
		}
		prior := before(s, i)
		if i == from && i > 0 || tagChar(prior) && prior != '\uFE0E' && prior != '\uFE0F' || prior == '&' {
			continue
		}
		start := i + utf8.RuneLen(r)
		if next := after(s, start); next == '\uFE0F' || next == '\u20E3' {
			continue
		}
		end := run(s, start, tagChar)
		if strings.IndexFunc(s[start:end], tagLetter) < 0 {
			continue
		}
		if from = end; !hashSign(after(s, end)) && !strings.HasPrefix(s[end:], "://") {
			all = append(all, Part{i, end, s[start:end]})
		}
	}
	return all
}

var mentionText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^a-zA-Z0-9_!#$%&*@＠]|(?:^|[^a-zA-Z0-9_+~.-])(?:rt|RT|rT|Rt):?)` +
		`([@＠])([a-zA-Z0-9_]{1,20})(?:/[a-zA-Z][a-zA-Z0-9_-]{0,24})?`)
})

// mentions returns the names of accounts in a text.
func mentions(s string) (all []Part) {
	if !strings.ContainsAny(s, "@＠") {
		return nil
	}
	for _, at := range mentionText().FindAllStringSubmatchIndex(s, -1) {
		if r := after(s, at[1]); r != '@' && r != '＠' && !strings.HasPrefix(s[at[1]:], "://") &&
			(!unicode.Is(accented, r) || unicode.Is(unicode.Greek, r)) {
			all = append(all, Part{at[2], at[1], s[at[4]:at[1]]})
		}
	}
	return all
}

// cashtags returns the symbols of shares in a text.
func cashtags(s string) (all []Part) {
	ends := func(at int) bool {
		r := after(s, at)
		return r < 0 || unicode.Is(spaceOfX, r) || r == '\uFEFF' || strings.ContainsRune(punctuation, r)
	}
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '$')
		if i < 0 {
			return all
		}
		start := at + i
		at = start + 1
		end := run(s, at, latin)
		if r := before(s, start); r >= 0 && !unicode.Is(spaceOfX, r) || end == at || end > at+6 {
			continue
		}
		if end < len(s) && (s[end] == '.' || s[end] == '_') {
			if more := run(s, end+1, latin); more > end+1 && more <= end+3 && ends(more) {
				end = more
			}
		}
		if ends(end) {
			all = append(all, Part{start, end, s[at:end]})
		}
	}
}
