package text

import (
	"unicode"

	"github.com/go-text/typesetting/segmenter"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// Subtitle is a part of a spoken text that a player shows at once.
type Subtitle struct {
	Lines []string
	// Begin and End are offsets into the text, in bytes.
	Begin, End int
}

// The room of a subtitle, in ems of a letter of usual width.
const (
	subtitleWide  = 24
	subtitleLines = 2
)

// Subtitles divides a text into subtitles. It has every character of the text, also those that no font has: the player
// draws them.
func Subtitles(text, lang string) (all []Subtitle) {
	units := divided(spoken(Clean(text), lang), subtitleWide)
	begin := 0
	if len(units) == 0 {
		return nil
	}
	for _, end := range paginate(units, subtitleWide, Box{MaxLines: subtitleLines}) {
		part := units[begin:end]
		s := Subtitle{Begin: part[0].begin, End: part[len(part)-1].end}
		ends, _ := wrap(part, subtitleWide)
		from := 0
		for _, to := range balance(part, subtitleWide, ends) {
			line := ""
			for i, u := range part[from:to] {
				line += u.text()
				if u.space > 0 && from+i < to-1 {
					line += " "
				}
			}
			s.Lines, from = append(s.Lines, line), to
		}
		all, begin = append(all, s), end
	}
	return all
}

// spoken divides a text into units without fonts: the widths are approximate.
func spoken(text, lang string) (all []unit) {
	chars, phrases := []rune(text), inJapanese(text, lang)
	var seg segmenter.Segmenter
	seg.Init(chars)
	breaks := breaksOf(&seg, chars, phrases)
	var u unit
	at := 0
	end := func() {
		if len(u.clusters) > 0 {
			all = append(all, u)
		}
		u = unit{}
	}
	for graphemes := seg.GraphemeIterator(); graphemes.Next(); {
		g := graphemes.Grapheme()
		if thaiBreak(chars, g.Offset) {
			end()
		}
		said := string(g.Text)
		joined := len(g.Text) > 1 || unbroken(g.Text[0]) || withinNumber(chars, g.Offset+1)
		switch space := unicode.IsSpace(g.Text[0]); {
		case space && len(u.clusters) == 0 && len(g.Text) == 1:
		case space && !joined:
			u.space = script.Width(" ")
		default:
			if u.clusters == nil {
				u.begin = at
			}
			c := cluster{text: said, width: script.Width(said), size: len(said)}
			u.clusters, u.width, u.space, u.end = append(u.clusters, c), u.width+c.width, 0, at+len(said)
		}
		at += len(said)
		if breaks[g.Offset+len(g.Text)] {
			end()
		}
	}
	end()
	bind(all, lang)
	return all
}
