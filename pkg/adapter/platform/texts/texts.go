// Package texts reads texts as social platforms do: it finds their links, hashtags, mentions and cashtags, and measures
// what a reader sees of them.
package texts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Part is a part of a text: the bytes from Start to End. Text is what it says, without its sign, for example the word
// of a hashtag.
type Part struct {
	Start, End int
	Text       string
}

// Link is a part of a text that a platform shows as a link: the bytes from Start to End.
type Link struct {
	Start, End int
	Scheme     bool // the link begins with https:// or http://
}

// Address returns the URL of a link in its text.
func (l Link) Address(s string) string {
	if l.Scheme {
		return s[l.Start:l.End]
	}
	return "https://" + s[l.Start:l.End]
}

// Reader reads texts by the rules of a platform. The zero value has the rules that most platforms share.
type Reader int

// The readers.
const (
	// General takes what a careful reader takes as a link. Its hashtags are those of X, which other platforms have
	// followed.
	General Reader = iota
	// X reads as X's own library does, npm twitter-text 3.1.0.
	X
	// Bluesky reads as the library of Bluesky's own client does, npm @atproto/api 0.21.0. Unlike it, Bluesky ends an
	// address before typographic quotes and letters of scripts without spaces: the address would lead nowhere. It
	// knows the domain example, too (RFC 2606).
	Bluesky
)

// Links returns the links in a text, in their order.
func (r Reader) Links(s string) []Link {
	switch r {
	case X:
		return linksOfX(s)
	case Bluesky:
		return linksOfBluesky(s)
	}
	return links(s)
}

// Hashtags returns the hashtags in a text, in their order. Hashtags inside of links are none.
func (r Reader) Hashtags(s string) []Part {
	if r == Bluesky {
		return hashtagsOfBluesky(s)
	}
	return apart(hashtags(s), r.Links(s))
}

// Mentions returns the names of accounts in a text, in their order.
func (r Reader) Mentions(s string) []Part {
	if r == Bluesky {
		return mentionsOfBluesky(s)
	}
	return apart(mentions(s), r.linksAlone(s))
}

// Cashtags returns the symbols of shares in a text, in their order.
func (r Reader) Cashtags(s string) []Part {
	if r == Bluesky {
		return cashtagsOfBluesky(s)
	}
	return apart(cashtags(s), r.linksAlone(s))
}

// Tag reports whether the platform shows a hashtag, given without its sign, as one whole.
func (r Reader) Tag(name string) bool {
	s := "#" + name
	all := r.Hashtags(s)
	return len(all) == 1 && all[0].Start == 0 && all[0].End == len(s)
}

// linksAlone returns the links in a text that do not begin in a hashtag.
func (r Reader) linksAlone(s string) []Link {
	all, tags := r.Links(s), r.Hashtags(s)
	return slices.DeleteFunc(all, func(l Link) bool {
		for len(tags) > 0 && tags[0].End <= l.Start {
			tags = tags[1:]
		}
		return len(tags) > 0 && tags[0].Start < l.Start
	})
}

// apart returns the parts that do not begin in a link.
func apart(parts []Part, links []Link) []Part {
	if len(parts) == 0 || len(links) == 0 {
		return parts
	}
	return slices.DeleteFunc(parts, func(p Part) bool {
		i, _ := slices.BinarySearchFunc(links, p.Start, func(l Link, start int) int { return l.End - start - 1 })
		return i < len(links) && links[i].Start < p.Start
	})
}

// before returns the character before an offset, or -1 at the beginning.
func before(s string, at int) rune {
	if at == 0 {
		return -1
	}
	r, _ := utf8.DecodeLastRuneInString(s[:at])
	return r
}

// after returns the character at an offset, or -1 at the end.
func after(s string, at int) rune {
	if at >= len(s) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s[at:])
	return r
}

// run returns the end of the characters from an offset on for which in returns true.
func run(s string, at int, in func(rune) bool) int {
	for i, r := range s[at:] {
		if !in(r) {
			return at + i
		}
	}
	return len(s)
}

func digit(r rune) bool { return r >= '0' && r <= '9' }

func latin(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// ascii reports whether a character is a letter or a digit of ASCII.
func ascii(r rune) bool { return digit(r) || latin(r) }

// spaceOfX has the spaces of the library, and direction its marks of direction.
var (
	spaceOfX = &unicode.RangeTable{R16: []unicode.Range16{{0x09, 0x0D, 1}, {0x20, 0x20, 1}, {0x85, 0x85, 1},
		{0xA0, 0xA0, 1}, {0x1680, 0x1680, 1}, {0x180E, 0x180E, 1}, {0x2000, 0x200A, 1}, {0x2028, 0x2029, 1},
		{0x202F, 0x202F, 1}, {0x205F, 0x205F, 1}, {0x3000, 0x3000, 1}}, LatinOffset: 4}
	direction = &unicode.RangeTable{R16: []unicode.Range16{{0x61C, 0x61C, 1}, {0x200E, 0x200F, 1}, {0x202A, 0x202E, 1},
		{0x2066, 0x2069, 1}}}
	// accented has the letters beyond ASCII that X takes as Latin, whatever their case.
	accented = &unicode.RangeTable{R16: []unicode.Range16{
		{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x24F, 1}, {0x253, 0x254, 1}, {0x256, 0x257, 1},
		{0x259, 0x259, 1}, {0x25B, 0x25B, 1}, {0x260, 0x260, 1}, {0x263, 0x263, 1}, {0x268, 0x269, 1},
		{0x26F, 0x26F, 1}, {0x272, 0x272, 1}, {0x275, 0x275, 1}, {0x280, 0x280, 1}, {0x283, 0x283, 1},
		{0x288, 0x28C, 1}, {0x292, 0x292, 1}, {0x2BB, 0x2BB, 1}, {0x300, 0x36F, 1}, {0x399, 0x399, 1},
		{0x3B9, 0x3B9, 1}, {0x1E00, 0x1EFF, 1}, {0x1FBE, 0x1FBE, 1}, {0x2C65, 0x2C66, 1},
		{0x2C7E, 0x2C7F, 1}, {0xA7DC, 0xA7DC, 1}},
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

// Sign begins a name in a text.
type Sign rune

// The signs.
const (
	At   Sign = '@' // of an account
	Hash Sign = '#' // of a hashtag
)

// Signs counts the signs in a text that any reader could take as the beginning of a name: those before a letter, a
// digit or a low line, also inside of links. A sign after a letter or a digit begins none, but that of a hashtag
// directly after another one, and neither does the # of a character reference. It is the greatest count, for platforms
// that bound such names and do not say what they take as one.
func Signs(s string, sign Sign) (n int) {
	before, tagged := ' ', false // tagged: the characters before belong to a hashtag
	runes := []rune(s)
	for i, r := range runes {
		next := ' '
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		begins := false
		switch sign {
		case At:
			begins = (r == '@' || r == '＠') && (inName(next) || next == '.') && !ascii(before) &&
				!strings.ContainsRune("_.@", before)
		case Hash:
			begins = (r == '#' || r == '＃') && inName(next) && (tagged || !inName(before) && before != '&')
			tagged = begins || tagged && inName(r)
		}
		if begins {
			n++
		}
		before = r
	}
	return n
}

func inName(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// Addresses counts the different words of a text that have an address in them, each to its end. It is the greatest
// count, for platforms that bound links and do not say where one ends.
func Addresses(s string) int {
	var all []string
	ends := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`<>"`, r) }
	for _, word := range strings.FieldsFunc(s, ends) {
		lower := strings.ToLower(word)
		at := -1
		for _, begin := range []string{"https://", "http://", "www."} {
			i := strings.Index(lower, begin)
			if i >= 0 && i+len(begin) < len(lower) && (at < 0 || i < at) {
				at = i
			}
		}
		if at >= 0 && at < len(word) {
			all = append(all, strings.TrimRight(word[at:], ".,;:!?)"))
		}
	}
	slices.Sort(all)
	return len(slices.Compact(all))
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
	if utf8.RuneCountInString(label) > longestLabel {
		return false
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
		if fits(host) && (!unicode.IsUpper(first) || host == strings.ToUpper(host)) && known(strings.ToLower(top)) {
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
		if all += n + 1; all-1 > longestHost {
			return false
		}
	}
	return true
}

// asciiLength returns the length of a label in ASCII, or 0 if it has no such form.
func asciiLength(label string) int {
	if strings.IndexFunc(label, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return len(label)
	}
	if utf8.RuneCountInString(label) > longestLabel {
		return 0 // its form is longer, and is not made: that takes the square of its length
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

// pieces are the tags and the character references of a text in the HTML of Telegram, which knows four names.
var pieces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9-]*)(?:\s[^<>]*)?>|` +
		`&(?:(lt|gt|amp|quot)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));`)
})

// names are the characters of the named references.
var names = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}

// piece is a part of a text in HTML: from an offset to another, with what a reader sees of it.
type piece struct {
	from, to int
	seen     string
	// tag is the name of a tag, and ends reports whether it ends one.
	tag  string
	ends bool
}

// piecesOf returns the parts of a text in HTML.
func piecesOf(s string) (all []piece) {
	at := 0
	for _, m := range pieces().FindAllStringSubmatchIndex(s, -1) {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return s[m[2*n]:m[2*n+1]]
		}
		if m[0] > at {
			all = append(all, piece{from: at, to: m[0], seen: s[at:m[0]]})
		}
		p := piece{from: m[0], to: m[1], tag: group(2), ends: group(1) != ""}
		switch {
		case group(3) != "":
			p.seen = names[group(3)]
		case group(4) != "":
			p.seen = numbered(group(4), 10)
		case group(5) != "":
			p.seen = numbered(group(5), 16)
		}
		all, at = append(all, p), m[1]
	}
	if at < len(s) {
		all = append(all, piece{from: at, to: len(s), seen: s[at:]})
	}
	return all
}

// numbered returns the character of a number.
func numbered(digits string, base int) string {
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return string(utf8.RuneError)
	}
	return string(rune(n))
}

// Plain returns what a reader sees of a text in the HTML of Telegram: without tags, and with the characters for their
// references.
func Plain(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	for _, p := range piecesOf(s) {
		b.WriteString(p.seen)
	}
	return b.String()
}

// Divide divides a text in HTML: head has the first bytes of what a reader sees, and tail what begins at the offset
// next of it. Tags that are open at the division are closed in head, and opened again in tail.
func Divide(s string, first, next int) (head, tail string) {
	var open []piece
	seen := 0
	for _, p := range piecesOf(s) {
		if p.tag != "" {
			open = nested(open, p)
			continue
		}
		from := seen
		seen += len(p.seen)
		// at returns the offset in the source of one in what is seen, which is never inside of a reference.
		at := func(offset int) int {
			if seen == offset {
				return p.to
			}
			return p.from + offset - from
		}
		if from < first && first <= seen {
			head = s[:at(first)]
			for _, o := range slices.Backward(open) {
				head += "</" + o.tag + ">"
			}
		}
		if from <= next && next < seen {
			for _, o := range open {
				tail += s[o.from:o.to]
			}
			return head, tail + s[at(next):]
		}
	}
	return head, tail
}

// nested returns the tags that are open after a tag.
func nested(open []piece, p piece) []piece {
	if !p.ends {
		return append(open, p)
	}
	for i, o := range slices.Backward(open) {
		if strings.EqualFold(o.tag, p.tag) {
			return slices.Delete(open, i, i+1)
		}
	}
	return open
}
