package texts

import (
	"slices"
	"strings"
	"unicode"
)

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
