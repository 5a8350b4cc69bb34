// Package texts reads texts as social platforms do: it finds their links, hashtags, mentions and cashtags, and measures
// what a reader sees of them.
package texts

import (
	"slices"
	"unicode/utf8"
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
