package texts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// The most bytes of a label and of a host in their ASCII form (RFC 1035).
const (
	longestLabel = 63
	longestHost  = 253
)

// reserved is the top-level domain of examples (RFC 2606).
const reserved = "example"

// known reports whether a label is a top-level domain of the Public Suffix List, without its private section.
func known(label string) bool {
	if label == reserved {
		return true
	}
	ascii, err := idna.Punycode.ToASCII(label)
	if err != nil {
		return false
	}
	_, official := publicsuffix.PublicSuffix("0." + ascii)
	return official
}

// together reports whether a character belongs to a script without spaces between words, or to Korean, whose particles
// follow a word without one.
func together(r rune) bool {
	return r >= 0xE00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) || r == 'ー')
}

// worded reports whether a character is a letter, a mark or a digit.
func worded(r rune) bool {
	return ascii(r) || r >= 0x80 && unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// spaced reports whether a character of a host can stand in one without a scheme: hosts of scripts without spaces
// cannot be told apart from the words around them.
func spaced(r rune) bool { return (worded(r) || r == '-' || r == '_') && !together(r) }

// hosted reports whether a character can stand in a host.
func hosted(r rune) bool { return worded(r) || r == '-' || r == '_' }

// links returns the links in a text: addresses with a scheme, and words that end with a known top-level domain.
func links(s string) (all []Link) {
	for at := 0; ; {
		i := strings.IndexAny(s[at:], ":.")
		if i < 0 {
			return all
		}
		l, next := Link{}, at+i+1
		if s[at+i] == ':' {
			l = schemed(s, at, at+i)
		} else {
			l, next = bare(s, at, at+i)
		}
		if at = next; l.End > 0 {
			all, at = append(all, l), l.End
		}
	}
}

// schemed returns the link whose scheme ends with the colon at an offset, or the zero value.
func schemed(s string, from, colon int) Link {
	host := colon + len("://")
	for _, name := range []string{"https", "http"} {
		start := colon - len(name)
		if start < from || host >= len(s) || s[colon:host] != "://" || !strings.EqualFold(s[start:colon], name) {
			continue
		}
		if r := before(s, start); ascii(r) || r == '@' || r == '$' || r == '#' {
			return Link{}
		}
		labels := labelsOf(s, host, hosted)
		for i, end := range labels.ends {
			// A word of a script without spaces may follow a domain at once.
			label := s[labels.starts[i]:end]
			cut := strings.IndexFunc(label, together)
			if i > 0 && cut > 0 && known(strings.ToLower(label[:cut])) {
				labels.ends, labels.starts = append(labels.ends[:i], labels.starts[i]+cut), labels.starts[:i+1]
				break
			}
		}
		end := labels.end()
		if top := labels.last(s); len(labels.ends) < 2 || !fits(s[host:end]) || !digits(s[host:end]) &&
			(utf8.RuneCountInString(top) < 2 || strings.IndexFunc(top, unicode.IsLetter) < 0) {
			return Link{}
		}
		return Link{start, pathOf(s, end), true}
	}
	return Link{}
}

// digits reports whether a host is an address of IPv4.
func digits(host string) bool {
	return strings.Count(host, ".") == 3 && strings.Trim(host, "0123456789.") == ""
}

// bare returns the link without a scheme to whose host the point at an offset belongs, or the zero value, and where the
// search goes on.
func bare(s string, from, point int) (l Link, next int) {
	start := point
	for start > from {
		r, size := utf8.DecodeLastRuneInString(s[:start])
		if !spaced(r) {
			break
		}
		start -= size
	}
	labels := labelsOf(s, start, spaced)
	next = max(labels.end(), point+1)
	r := before(s, start)
	if start == point || strings.ContainsRune(`@＠$#＃_-./\`, r) || strings.ContainsRune("@+", after(s, labels.end())) {
		return Link{}, next
	}
	for len(labels.ends) > 1 {
		top, end := labels.last(s), labels.end()
		host := s[start:end]
		// A word that begins with a capital letter is the beginning of the next sentence.
		first, _ := utf8.DecodeRuneInString(top)
		if (!unicode.IsUpper(first) || host == strings.ToUpper(host)) && known(strings.ToLower(top)) && fits(host) {
			return Link{Start: start, End: pathOf(s, end)}, next
		}
		labels.starts, labels.ends = labels.starts[:len(labels.ends)-1], labels.ends[:len(labels.ends)-1]
	}
	return Link{}, next
}

// labels are the labels of a host, by the offsets of their beginnings and ends.
type labels struct{ starts, ends []int }

// labelsOf returns the labels of a host that begins at an offset. A label neither begins nor ends with a hyphen.
func labelsOf(s string, at int, in func(rune) bool) (all labels) {
	for {
		end := run(s, at, in)
		label := strings.TrimRight(s[at:end], "-_")
		if label == "" || label[0] == '-' {
			return all
		}
		all.starts, all.ends = append(all.starts, at), append(all.ends, at+len(label))
		if at += len(label); at != end || at >= len(s) || s[at] != '.' {
			return all
		}
		at++
	}
}

// end returns the end of the host, 0 if there is none.
func (l labels) end() int {
	if len(l.ends) == 0 {
		return 0
	}
	return l.ends[len(l.ends)-1]
}

// last returns the last label.
func (l labels) last(s string) string {
	if len(l.ends) == 0 {
		return ""
	}
	return s[l.starts[len(l.starts)-1]:l.end()]
}

// fits reports whether a host has labels and a length that the domain name system permits.
func fits(host string) bool {
	all := 0
	for label := range strings.SplitSeq(host, ".") {
		n := asciiLength(label)
		if n == 0 || n > longestLabel {
			return false
		}
		all += n + 1
	}
	return all-1 <= longestHost
}

// asciiLength returns the length of a label in ASCII, or 0 if it has no such form.
func asciiLength(label string) int {
	if strings.IndexFunc(label, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return len(label)
	}
	encoded, err := idna.Punycode.ToASCII(label)
	if err != nil {
		return 0
	}
	return len(encoded)
}

// The signs that may be in a path, but do not end it, and the pairs of brackets.
const (
	trailing = `.,;:!?'*~|@$–…`
	opening  = "(["
	closing  = ")]"
)

// inPath reports whether a character may be in a path. Quotes, signs of other scripts and emojis end it.
func inPath(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r > ' ' && r < 0x7F && !strings.ContainsRune("<>\"`\\^{}", r)
	case together(r):
		return false
	}
	return worded(r) || r == '–' || r == '·' || r == '\u200c' || r == '\u200d'
}

// pathOf returns the end of a link whose host ends at an offset: with port, path, query and fragment. A closing bracket
// belongs to it if it has the opening one, too.
func pathOf(s string, at int) int {
	if strings.HasPrefix(s[at:], ":") {
		if end := run(s, at+1, digit); end > at+1 && end <= at+6 && !worded(after(s, end)) {
			at = end
		}
	}
	if at >= len(s) || !strings.ContainsRune("/?#", rune(s[at])) {
		return at
	}
	var open []byte
	end := at
	for i, r := range s[at:] {
		if !inPath(r) {
			break
		}
		switch {
		case strings.ContainsRune(opening, r):
			open = append(open, closing[strings.IndexRune(opening, r)])
			continue
		case strings.ContainsRune(closing, r):
			if len(open) == 0 || open[len(open)-1] != byte(r) {
				return end
			}
			open = open[:len(open)-1]
		case strings.ContainsRune(trailing, r):
			continue
		}
		if len(open) == 0 {
			end = at + i + utf8.RuneLen(r)
		}
	}
	return end
}
