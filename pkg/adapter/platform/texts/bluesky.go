package texts

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// The bounds of a hashtag on Bluesky (app.bsky.richtext.facet): in graphemes, and in bytes.
const (
	longestTag  = 64
	longestName = 640
)

// longestTicker is the greatest length of a cashtag.
const longestTicker = 5

// space reports whether a character is a space to JavaScript.
func space(r rune) bool {
	return r == '\uFEFF' || r != 0x85 && r != 0x180E && unicode.Is(spaceOfX, r)
}

// begins reports whether a link, a mention or a cashtag of Bluesky may begin at an offset.
func begins(s string, at int) bool {
	r := before(s, at)
	return r < 0 || space(r) || r == '('
}

// printed reports whether a character is no space.
func printed(r rune) bool { return !space(r) }

var bareDomain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A[a-zA-Z][a-zA-Z0-9]*(?:\.[a-zA-Z0-9]+)+`)
})

// linksOfBluesky returns the links of a text. They begin after a space or a parenthesis, and go on to the next space.
func linksOfBluesky(s string) (all []Link) {
	if !strings.ContainsAny(s, ".:") {
		return nil
	}
	for at := 0; at < len(s); at += width(s, at) {
		if !latin(after(s, at)) || !begins(s, at) {
			continue
		}
		end := run(s, at, printed)
		scheme, rest := "", s[at:end]
		for _, name := range []string{"https://", "http://"} {
			if scheme == "" && len(rest) > len(name) && strings.EqualFold(rest[:len(name)], name) {
				scheme = rest[:len(name)]
			}
		}
		switch host := bareDomain().FindString(rest); {
		case scheme != "":
			// The client takes the scheme in small letters alone.
			if strings.HasPrefix(scheme, "http") {
				all = append(all, Link{at, trimmed(s, at, end, at+len(scheme)), true})
			}
		case host == "":
			continue
		case domainOfBluesky(host):
			all = append(all, Link{Start: at, End: trimmed(s, at, end, at)})
		}
		at = end - 1
		for at > 0 && !utf8.RuneStart(s[at]) {
			at--
		}
	}
	return all
}

// domainOfBluesky reports whether a name ends with a top-level domain, in small letters.
func domainOfBluesky(host string) bool {
	top := host[strings.LastIndexByte(host, '.')+1:]
	return top != host && top == strings.ToLower(top) && known(top)
}

// trimmed returns the end of a link without a sign after it, and without a parenthesis that is not opened in it. Host
// is the beginning of its host.
func trimmed(s string, start, end, host int) int {
	for i, r := range s[host:end] {
		if together(r) && leads(s[host:host+i]) || strings.ContainsRune(quotes, r) {
			end = host + i
			break
		}
	}
	if strings.ContainsRune(".,;:!?", rune(s[end-1])) {
		end--
	}
	if s[end-1] == ')' && !strings.Contains(s[start:end], "(") {
		end--
	}
	return end
}

// leads reports whether an address may end before a letter of a script without spaces: after its host, or in a host
// after a top-level domain.
func leads(address string) bool {
	if strings.ContainsAny(address, "/?#") {
		return true
	}
	point := strings.LastIndexByte(address, '.')
	return point > 0 && known(strings.ToLower(address[point+1:]))
}

// quotes are typographic quotes and the punctuation of East Asia.
const quotes = "“”„‟«»‹›‘’‚‛「」『』《》〈〉【】（）［］、。，．！？：；…"

// invisible are characters without width, which end a hashtag of Bluesky.
const invisible = "\u00AD\u2060\u200A\u200B\u200C\u200D\u20e2"

// hashtagsOfBluesky returns the hashtags of a text.
func hashtagsOfBluesky(s string) (all []Part) {
	if !strings.ContainsAny(s, "#＃") {
		return nil
	}
	from := 0
	for i, r := range s {
		if prior := before(s, i); i < from || !hashSign(r) || prior >= 0 && !space(prior) {
			continue
		}
		start := i + utf8.RuneLen(r)
		end := run(s, start, func(r rune) bool { return !space(r) && !strings.ContainsRune(invisible, r) })
		name := s[start:end]
		if after(s, start) == '\uFE0F' ||
			!strings.ContainsFunc(name, func(r rune) bool { return !digit(r) && !unicode.IsPunct(r) }) {
			continue
		}
		from = end
		name = strings.TrimRightFunc(name, unicode.IsPunct)
		if name != "" && len(name) <= longestName && uniseg.GraphemeClusterCount(name) <= longestTag {
			all = append(all, Part{i, start + len(name), name})
		}
	}
	return all
}

var accountText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[a-zA-Z0-9.-]+`) })

// mentionsOfBluesky returns the names of accounts in a text. A name is a domain.
func mentionsOfBluesky(s string) (all []Part) {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '@')
		if i < 0 {
			return all
		}
		start := at + i
		at = start + 1
		if !begins(s, start) {
			continue
		}
		name := accountText().FindString(s[at:])
		if strings.HasPrefix(s[at+len(name):], "_") {
			name = strings.TrimRightFunc(name, ascii)
		}
		// The name ends where a word ends, or at once before one.
		for name != "" && !ascii(rune(name[len(name)-1])) && !wordAt(s, at+len(name)) {
			name = name[:len(name)-1]
		}
		if end := at + len(name); name != "" && (domainOfBluesky(name) || strings.HasSuffix(name, ".test")) {
			all, at = append(all, Part{start, end, name}), end
		}
	}
}

// wordAt reports whether a letter, a digit or an underscore of ASCII is at an offset.
func wordAt(s string, at int) bool { r := after(s, at); return ascii(r) || r == '_' }

var tickerText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9]*`) })

// cashtagsOfBluesky returns the symbols of shares in a text, which Bluesky takes as hashtags.
func cashtagsOfBluesky(s string) (all []Part) {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '$')
		if i < 0 {
			return all
		}
		start := at + i
		at = start + 1
		name := tickerText().FindString(s[at:])
		end := at + len(name)
		r := after(s, end)
		if ends := r < 0 || space(r) || strings.ContainsRune(".,;:!?)\"'’", r); ends && begins(s, start) &&
			name != "" &&
			len(name) <= longestTicker {
			all, at = append(all, Part{start, end, name}), end
		}
	}
}
