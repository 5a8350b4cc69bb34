package texts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

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
