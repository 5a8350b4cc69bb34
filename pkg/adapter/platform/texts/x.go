package texts

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The top-level domains that X knows: those of twitter-text 3.1.0, as of 2020.
//
//go:embed x_domains.txt
var domainsFile string

// domainsOfX are the top-level domains that X knows, and the lengths in bytes of those beyond ASCII, the longest first.
var domainsOfX = sync.OnceValues(func() (all map[string]bool, lengths []int) {
	all = map[string]bool{}
	for name := range strings.Lines(domainsFile) {
		name = strings.TrimSpace(name)
		all[name] = true
		if n := len(name); strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" && !slices.Contains(lengths, n) {
			lengths = append(lengths, n)
		}
	}
	slices.Sort(lengths)
	slices.Reverse(lengths)
	return all, lengths
})

// The bounds of the library: of a URL in UTF-16 units, and of the name of a short link.
const (
	longestLink  = 4096
	longestShort = 40
)

// spaceOfX has the spaces of the library, and direction its marks of direction.
var (
	spaceOfX = &unicode.RangeTable{R16: []unicode.Range16{{0x09, 0x0D, 1}, {0x20, 0x20, 1}, {0x85, 0x85, 1},
		{0xA0, 0xA0, 1}, {0x1680, 0x1680, 1}, {0x180E, 0x180E, 1}, {0x2000, 0x200A, 1}, {0x2028, 0x2029, 1},
		{0x202F, 0x202F, 1}, {0x205F, 0x205F, 1}, {0x3000, 0x3000, 1}}, LatinOffset: 4}
	direction = &unicode.RangeTable{R16: []unicode.Range16{{0x61C, 0x61C, 1}, {0x200E, 0x200F, 1}, {0x202A, 0x202E, 1},
		{0x2066, 0x2069, 1}}}
	// accented has the letters beyond ASCII that X takes as Latin, whatever their case.
	accented = &unicode.RangeTable{R16: []unicode.Range16{{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x24F, 1},
		{0x253, 0x254, 1}, {0x256, 0x257, 1}, {0x259, 0x259, 1}, {0x25B, 0x25B, 1}, {0x260, 0x260, 1}, {0x263, 0x263, 1},
		{0x268, 0x269, 1}, {0x26F, 0x26F, 1}, {0x272, 0x272, 1}, {0x275, 0x275, 1}, {0x280, 0x280, 1}, {0x283, 0x283, 1},
		{0x288, 0x28C, 1}, {0x292, 0x292, 1}, {0x2BB, 0x2BB, 1}, {0x300, 0x36F, 1}, {0x399, 0x399, 1}, {0x3B9, 0x3B9, 1},
		{0x1E00, 0x1EFF, 1}, {0x1FBE, 0x1FBE, 1}, {0x2C65, 0x2C66, 1}, {0x2C7E, 0x2C7F, 1}, {0xA7DC, 0xA7DC, 1}},
		LatinOffset: 2}
	cyrillic = &unicode.RangeTable{R16: []unicode.Range16{{0x400, 0x4FF, 1}, {0x1C80, 0x1C87, 1}}}
)

// punctuation is the punctuation of the library.
const punctuation = `!'#%&'()*+,\-./:;<=>?@[]^_{|}~$`

// invalid are characters that X takes in no text.
const invalid = "\uFFFE\uFEFF\uFFFF"

// domainChar reports whether a character may be in a label for X: all but punctuation and spaces may.
func domainChar(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && !strings.ContainsRune(punctuation, r) || r < 9 || r > 13 && r < ' '
	}
	return !unicode.In(r, spaceOfX, direction) && !strings.ContainsRune(invalid, r)
}

func labelChar(r rune) bool { return r == '-' || r == '_' || domainChar(r) }

// accentedChar reports whether a character may be in a label of a link without a scheme.
func accentedChar(r rune) bool {
	return ascii(r) || r == '-' || r >= utf8.RuneSelf && unicode.Is(accented, r)
}

// pathChar reports whether a character may be in a path, and pathEnd whether it may end one.
func pathChar(r rune) bool {
	return pathEnd(r) || r == '–' || r < utf8.RuneSelf && r > 0 && strings.ContainsRune(`!*';:,.$%[]~@|&`, r)
}

func pathEnd(r rune) bool {
	if r < utf8.RuneSelf {
		return ascii(r) || r > 0 && strings.ContainsRune("+-=_#/", r)
	}
	return unicode.In(r, accented, cyrillic)
}

func queryChar(r rune) bool {
	return ascii(r) || r > 0 && strings.ContainsRune("!?*'@();:&=+$/%#[]-_.,~|", r)
}

func queryEnd(r rune) bool { return ascii(r) || r > 0 && strings.ContainsRune("-_&=#/", r) }

// topLevel returns the end of the top-level domain at an offset, or 0 if there is none that X knows.
func topLevel(s string, at int) int {
	all, lengths := domainsOfX()
	if len(s)-at > 4 && strings.EqualFold(s[at:at+4], "xn--") {
		if end := run(s, at+4, func(r rune) bool { return ascii(r) || r == '-' }); end > at+4 {
			return end
		}
	}
	ends := func(at int) bool {
		r := after(s, at)
		return !ascii(r) && r != '@' && r != '+' && r != '-'
	}
	end := run(s, at, latin)
	if end > at && all[strings.ToLower(s[at:end])] && ends(end) {
		return end
	}
	if end == len(s) || s[end] < utf8.RuneSelf {
		return 0
	}
	for _, n := range lengths {
		if at+n <= len(s) && all[strings.ToLower(s[at:at+n])] && ends(at+n) {
			return at + n
		}
	}
	return 0
}

// chain is a row of labels with points between, in which domains begin and end. It is read once, so that a long one
// takes no more time for each character than a short one.
type chain struct {
	end    int
	labels []label
}

// label is one of them.
type label struct {
	start, end int
	underscore int // offset after its last underscore, 0 if it has none
	whole      bool
	// domain is the end of the domain that begins before the label and goes on at least to it, 0 if there is none.
	domain int
}

// chainAt returns the chain at an offset.
func chainAt(s string, at int) (c chain) {
	for {
		l := label{start: at, end: run(s, at, labelChar)}
		if i := strings.LastIndexByte(s[l.start:l.end], '_'); i >= 0 {
			l.underscore = l.start + i + 1
		}
		l.whole = bounded(s[l.start:l.end])
		c.labels = append(c.labels, l)
		if at = l.end; at >= len(s) || s[at] != '.' {
			break
		}
		at++
	}
	c.end = at
	for i := len(c.labels) - 2; i >= 0; i-- {
		l, next := &c.labels[i], c.labels[i+1]
		if next.whole && next.domain > 0 {
			l.domain = next.domain
		} else if l.underscore == 0 {
			l.domain = topLevel(s, next.start)
		}
	}
	return c
}

// bounded reports whether a label neither begins nor ends with a hyphen or an underscore.
func bounded(label string) bool {
	return label != "" && !strings.ContainsAny(label[:1], "-_") && !strings.ContainsAny(label[len(label)-1:], "-_")
}

// domain returns the end of the longest domain that begins at an offset in the label i, or 0 if there is none.
func (c chain) domain(s string, i, at int) int {
	l := c.labels[i]
	if i+1 >= len(c.labels) || !bounded(s[at:l.end]) {
		return 0
	}
	next := c.labels[i+1]
	switch {
	case next.whole && next.domain > 0:
		return next.domain
	case l.underscore <= at:
		return topLevel(s, next.start)
	}
	return 0
}

// linksOfX returns the links that X finds in a text.
func linksOfX(s string) (all []Link) {
	if !strings.Contains(s, ".") {
		return nil
	}
	// No link begins before the end of the one that was found last, nor at once after it.
	last := 0
	for at := 0; at < len(s); {
		c := chainAt(s, at)
		all, last = c.links(s, last, all)
		at = max(last, c.end+width(s, c.end))
	}
	return all
}

// links adds the links that begin in a chain, and returns the end of the last one.
func (c chain) links(s string, last int, all []Link) ([]Link, int) {
	for i, l := range c.labels {
		for start := max(l.start, last); start < l.end && i+1 < len(c.labels); {
			domain := 0
			if second := start + width(s, start); start == 0 && second < l.end && precedes(s, 0, second) {
				// The first character of a text is the one before the link, if it can be.
				if domain = c.domain(s, i, second); domain > 0 {
					start = second
				}
			}
			if domain == 0 && precedes(s, last, start) {
				domain = c.domain(s, i, start)
			}
			if domain == 0 {
				start = c.nextStart(s, i, start, last)
				continue
			}
			var added []Link
			added, last = domainAt(s, start, domain)
			all, start = append(all, added...), max(last, start)
		}
	}
	colon := c.labels[len(c.labels)-1].end
	if !strings.HasPrefix(s[colon:], "://") || last > colon {
		return all, last
	}
	if start := schemeAt(s, last, colon); start >= 0 {
		if added, end := addressAt(s, start, colon+len("://")); end > 0 {
			return append(all, added...), end
		}
	}
	return all, last
}

// nextStart returns the next offset in a label where a domain may begin: a beginning gives another result than the one
// before it only if that was not permitted, or had an underscore that this one has not.
func (c chain) nextStart(s string, i, start, last int) int {
	l := c.labels[i]
	switch {
	case strings.ContainsRune("-_", rune(s[l.end-1])):
		return l.end
	case !precedes(s, last, start) || strings.ContainsRune("-_", rune(s[start])):
		return start + width(s, start)
	case l.underscore > start:
		return l.underscore
	}
	return l.end
}

// width returns the size of the character at an offset, at least 1.
func width(s string, at int) int {
	_, size := utf8.DecodeRuneInString(s[min(at, len(s)):])
	return max(size, 1)
}

// precedes reports whether a link may begin at an offset. The character before must not be of the last link.
func precedes(s string, last, at int) bool {
	if at <= last {
		return at == 0
	}
	r := before(s, at)
	return !ascii(r) && r != '@' && r != '＠' && r != '$' && r != '#' && r != '＃' && !strings.ContainsRune(invalid, r)
}

// schemeAt returns the beginning of the scheme that ends with a colon, or -1 if none begins there.
func schemeAt(s string, last, colon int) int {
	for _, name := range []string{"https", "http"} {
		if start := colon - len(name); start >= last && strings.EqualFold(s[start:colon], name) &&
			precedes(s, last, start) {
			return start
		}
	}
	return -1
}

// addressAt returns the link with the scheme at an offset, and the end of what was read, 0 if there is none.
func addressAt(s string, start, host int) ([]Link, int) {
	c := chainAt(s, host)
	domain := c.domain(s, 0, host)
	if domain == 0 {
		return nil, 0
	}
	end, _ := pathOfX(s, domain)
	if !validHost(s[host:domain]) || units(s[start:end])+host-start > longestLink {
		return nil, end
	}
	// What follows the name of a short link does not belong to it.
	if strings.EqualFold(s[host:domain], "t.co") && domain < len(s) && s[domain] == '/' {
		if name := run(s, domain+1, ascii); name > domain+1 && name <= end {
			if name-domain-1 > longestShort {
				return nil, end
			}
			return []Link{{start, queryOf(s, name), true}}, end
		}
	}
	return []Link{{start, end, true}}, end
}

// domainAt returns the links in a domain without a scheme, and the end of what was read. X takes the parts of it that
// are of Latin letters.
func domainAt(s string, start, domain int) (all []Link, end int) {
	end, path := pathOfX(s, domain)
	if r := before(s, start); strings.ContainsRune("-_./", r) || !validHost(s[start:domain]) ||
		units(s[start:end])+len("https://") > longestLink {
		return nil, end
	}
	host := s[:domain]
	for at := start; at < domain; {
		first := at
		var last int
		for {
			label := run(host, at, accentedChar)
			if label == at || label >= domain || host[label] != '.' {
				at = max(label, at+width(s, at))
				break
			}
			at = label + 1
			if top := topLevel(host, at); top > 0 {
				last = top
			}
		}
		if last > 0 {
			all, at = append(all, Link{Start: first, End: last}), last
		}
	}
	if len(all) > 0 && path {
		all[len(all)-1].End = end
	}
	return all, end
}

// validHost reports whether the labels of a host have lengths that the domain name system permits.
func validHost(host string) bool {
	if strings.HasPrefix(host, "xn--") && strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		n := -1
		for part := range strings.FieldsFuncSeq(label, func(r rune) bool { return r == '。' || r == '．' || r == '｡' }) {
			n += asciiLength(part) + 1
		}
		if n < 1 || n > longestLabel {
			return false
		}
	}
	return true
}

// pathOfX returns the end of a link whose domain ends at an offset, and whether it has a path.
func pathOfX(s string, at int) (end int, path bool) {
	if strings.HasPrefix(s[at:], ":") {
		if port := run(s, at+1, digit); port > at+1 {
			at = port
		}
	}
	if strings.HasPrefix(s[at:], "/") {
		path, end = true, at+1
		for i := at + 1; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if closed := parentheses(s, i); r == '(' && closed > 0 {
				i, end = closed, closed
				continue
			}
			if !pathChar(r) {
				break
			}
			if i += size; pathEnd(r) {
				end = i
			}
		}
		at = end
	}
	return queryOf(s, at), path
}

// parentheses returns the end of a part in parentheses, which may have another one inside, or 0 if it is none.
func parentheses(s string, at int) int {
	if s[at] != '(' {
		return 0
	}
	end := run(s, at+1, pathChar)
	if end < len(s) && s[end] == '(' {
		inner := run(s, end+1, pathChar)
		if inner == end+1 || inner >= len(s) || s[inner] != ')' {
			return 0
		}
		end = run(s, inner+1, pathChar)
	} else if end == at+1 {
		return 0
	}
	if end < len(s) && s[end] == ')' {
		return end + 1
	}
	return 0
}

// queryOf returns the end of the query at an offset, which is the offset if there is none.
func queryOf(s string, at int) int {
	if !strings.HasPrefix(s[at:], "?") {
		return at
	}
	end := run(s, at+1, queryChar)
	for end > at+1 && !queryEnd(rune(s[end-1])) {
		end--
	}
	if end == at+1 {
		return at
	}
	return end
}

// units returns the length of a text in UTF-16 units.
func units(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

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
