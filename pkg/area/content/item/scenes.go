package item

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// fitToClips moves words between scenes if the voice needs longer for a scene than its clip covers.
// If the clips do not cover the whole voice, it changes nothing.
func fitToClips(scenes []generate.Scene, marks []timeline.Mark, spoken time.Duration, covers []time.Duration) {
	texts := make([]string, len(scenes))
	for i, s := range scenes {
		texts[i] = s.Text
	}
	script := strings.Join(texts, " ")
	words := wordsOf(script, timeline.NewClock(script, marks, spoken))
	cuts, rest := make([]word, len(scenes)), words[len(words)-1].ends+tail
	at, fits := 0, true
	var before word
	for i, text := range texts {
		at += len(text)
		cuts[i] = words[slices.IndexFunc(words, func(w word) bool { return w.end >= at })]
		rest -= covers[i]
		length := cuts[i].ends - before.ends
		if i == len(texts)-1 {
			length += tail
		}
		fits = fits && length <= covers[i]
		before = cuts[i]
		at++
	}
	if fits || rest > 0 {
		return
	}
	// The scenes after this one must cover the rest of the video.
	least := words[len(words)-1].ends + tail
	for _, c := range covers {
		least -= c
	}
	before = word{}
	for i := range scenes[:len(scenes)-1] {
		least += covers[i]
		most := before.ends + covers[i]
		cut, ok := nearest(words, before, max(cuts[i].ends, least), least, most)
		if !ok {
			return
		}
		cuts[i], before = cut, cut
	}
	from := 0
	for i, cut := range cuts {
		scenes[i].Text = strings.TrimSpace(script[from:cut.end])
		from = cut.end
	}
}

// word is the end of a word: its offset in the script, and the time in the video.
type word struct {
	end  int
	ends time.Duration
}

// wordsOf returns the words of a script, or its characters in scripts without spaces.
func wordsOf(script string, clock timeline.Clock) (words []word) {
	for i, r := range script {
		if unicode.IsSpace(r) || i > 0 && breaks(r) {
			words = append(words, word{i, lead + clock.At(i)})
		}
	}
	return append(words, word{len(script), lead + clock.At(len(script))})
}

// nearest returns the word after the given one that ends nearest to a time, not before
// least if possible, and not after most.
func nearest(words []word, after word, want, least, most time.Duration) (best word, ok bool) {
	for _, w := range words[:len(words)-1] {
		switch {
		case w.end <= after.end || w.ends > most:
		case !ok, best.ends < least && w.ends > best.ends, w.ends >= least &&
			(w.ends-want).Abs() < (best.ends-want).Abs():
			best, ok = w, true
		}
	}
	return best, ok
}
