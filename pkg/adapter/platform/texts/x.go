package texts

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
			added, last = domainAt(s, last, start, domain)
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
	if at <= last && !(at == last && halved(s, at)) {
		return at == 0
	}
	return halved(s, at) || permits(before(s, at))
}

// halved reports whether the character at an offset is beyond the 16 bits of a unit of JavaScript. The library takes a
// link to begin in the middle of such a character, too, since its first half may precede one.
func halved(s string, at int) bool { return after(s, at) > 0xFFFF }

// permits reports whether a link may follow a character.
func permits(r rune) bool {
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
func domainAt(s string, last, start, domain int) (all []Link, end int) {
	end, path := pathOfX(s, domain)
	if r := before(s, start); strings.ContainsRune("-_./", r) && start > last || !validHost(s[start:domain]) ||
		units(s[start:end])+len("https://") > longestLink {
		return nil, end
	}
	host := s[:domain]
	for at := start; at < domain; {
		first := at
		found := 0
		for {
			label := run(host, at, accentedChar)
			if label == at || label >= domain || host[label] != '.' {
				at = max(label, at+width(s, at))
				break
			}
			at = label + 1
			if top := topLevel(host, at); top > 0 {
				found = top
			}
		}
		if found > 0 {
			all, at = append(all, Link{Start: first, End: found}), found
		}
	}
	if len(all) > 0 && path {
		all[len(all)-1].End = end
	}
	return all, end
}

// validHost reports whether the labels of a host have lengths that the domain name system permits.
func validHost(host string) bool {
	if strings.HasPrefix(host, "xn--") && strings.IndexFunc(host,
		func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
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
			if closed := parentheses(s, i); closed > 0 {
				// Parentheses end a path only if they follow at once what ends one.
				if i == end {
					end = closed
				}
				i = closed
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

// LinkWeight is the length of each link on X.
const LinkWeight = 23

// emojiPatterns has a pattern a line of the emojis of several characters that X counts as one: those of twemoji-parser
// 11.0.2, with which twitter-text 3.1.0 counts.
//
//go:embed x_emojis.txt
var emojiPatterns string

var emojis = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A(?:` + strings.Join(strings.Fields(emojiPatterns), "|") + `)`)
})

// Weight returns the length of a text as X counts it, in its composed form (NFC): 23 for a link, 2 for an emoji and for
// a character of the scripts of East Asia, and 1 for most others.
func Weight(s string) (n int) {
	s = norm.NFC.String(s)
	links := linksOfX(s)
	for at := 0; at < len(s); {
		if len(links) > 0 && links[0].Start == at {
			n, at, links = n+LinkWeight, links[0].End, links[1:]
			continue
		}
		r := after(s, at)
		end := at + width(s, at)
		if compound(r, after(s, end)) {
			if emoji := emojis().FindString(s[at:min(len(s), at+longestEmoji)]); emoji != "" {
				n, at = n+2, at+len(emoji)
				continue
			}
		}
		n, at = n+RuneWeight(r), end
	}
	return n
}

// longestEmoji is more than the bytes of the longest emoji.
const longestEmoji = 48

// compound reports whether two characters may be the beginning of an emoji of several characters.
func compound(r, next rune) bool {
	switch next {
	case '\uFE0F', '\u200D':
		return true
	case '\u20E3':
		return digit(r) || r == '#' || r == '*'
	}
	return next >= 0x1F1E6 && r >= 0x2000 || next >= 0xE0000 && r >= 0x2000
}

// RuneWeight returns the weight of a character on X, from the configuration of X's own library.
func RuneWeight(r rune) int {
	if r <= 4351 || r >= 8192 && r <= 8205 || r >= 8208 && r <= 8223 || r >= 8242 && r <= 8247 {
		return 1
	}
	return 2
}
