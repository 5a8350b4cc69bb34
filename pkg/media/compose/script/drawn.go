package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/segmenter"
	"golang.org/x/text/unicode/norm"
)

// forms are the forms of Unicode in which a character may be drawn that no font has as it is typed: composed or in
// parts, or the letters of which it is a variant, such as those of bold mathematics.
var forms = []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD}

// Draw returns the font that draws a cluster, and the characters that are drawn. It reports whether there is one.
func (o Order) Draw(cluster []rune) (f Family, drawn []rune, ok bool) {
	if f, ok = o.find(cluster); ok {
		return f, cluster, true
	}
	for _, form := range forms {
		other := []rune(form.String(string(cluster)))
		if slices.Equal(other, cluster) {
			continue
		}
		if f, ok = o.find(other); ok {
			return f, other, true
		}
	}
	return 0, nil, false
}

// find returns the first font that has a cluster.
func (o Order) find(cluster []rune) (Family, bool) {
	switch {
	case Pictorial(cluster) && Emoji.covers(cluster):
		return Emoji, true
	case Plain(cluster): // fonts of symbols have it as others have letters
		for _, f := range []Family{Symbols, MoreSymbols, Emoji} {
			if f.covers(cluster) {
				return f, true
			}
		}
	case unicode.Is(unicode.Devanagari, cluster[0]) && Devanagari.covers(cluster): // Noto Sans has some of it, too
		return Devanagari, true
	}
	for _, f := range o {
		if f.covers(cluster) {
			return f, true
		}
	}
	return 0, false
}

// usual is the order in which a text is looked at before anybody knows how it is drawn. Any order has the same fonts.
var usual = OrderOf(Latin, "", "")

// Lack is a character that no font has.
type Lack struct {
	Char rune
	// Place is the number of the character in its text, from 1.
	Place int
}

// Error says what is wrong, after the name of a member.
func (l Lack) Error() string {
	if unicode.IsPrint(l.Char) && !unicode.IsMark(l.Char) {
		return fmt.Sprintf("has the character %c (U+%04X) at the place %d, of which there is no font. Leave it out, or "+
			"replace it: texts in finished media are in %s, with emoji and common symbols", l.Char, l.Char, l.Place, Names)
	}
	return fmt.Sprintf("has the character U+%04X at the place %d, of which there is no font. Leave it out, or replace "+
		"it: texts in finished media are in %s, with emoji and common symbols", l.Char, l.Place, Names)
}

// Missing returns the first character of a text that finished media could not show, and reports whether there is one.
func Missing(text string) (l Lack, found bool) {
	if common(text) {
		return l, false
	}
	each(text, func(cluster []rune, at int) bool {
		if unicode.IsSpace(cluster[0]) || unicode.IsControl(cluster[0]) { // a mark after it stands alone
			if cluster, at = cluster[1:], at+1; len(cluster) == 0 || unicode.IsControl(cluster[0]) {
				return true
			}
		}
		if _, _, ok := usual.Draw(cluster); ok {
			return true
		}
		found = true
		n := max(slices.IndexFunc(cluster, func(r rune) bool { return !Unseen(r) && !usual.has(r) }), 0)
		l = Lack{cluster[n], at + n + 1}
		return false
	})
	return l, found
}

// Drawable reports whether finished media can show a text.
func Drawable(text string) bool {
	_, missing := Missing(text)
	return !missing
}

// has reports whether any font has a character.
func (o Order) has(r rune) bool {
	return slices.ContainsFunc(o, func(f Family) bool { return f.Has(r) })
}

// Drawn returns a text as it is drawn: characters that no font has are in the form that a font has. Those without such
// a form stay.
func Drawn(text string) string {
	if common(text) {
		return text
	}
	var out strings.Builder
	each(text, func(cluster []rune, _ int) bool {
		if _, drawn, ok := usual.Draw(cluster); ok {
			cluster = drawn
		}
		out.WriteString(string(cluster))
		return true
	})
	return out.String()
}

// common reports whether a text has only ASCII and letters of Noto Sans, which need no closer look.
func common(text string) bool {
	for _, r := range text {
		if r >= utf8.RuneSelf && !Latin.Has(r) {
			return false
		}
	}
	return true
}

// each calls a function with each cluster of a text, a character as a reader sees it, and the number of the characters
// before it, until it returns false.
func each(text string, do func(cluster []rune, at int) bool) {
	var seg segmenter.Segmenter
	seg.Init([]rune(text))
	for all := seg.GraphemeIterator(); all.Next(); {
		if g := all.Grapheme(); !do(g.Text, g.Offset) {
			return
		}
	}
}
