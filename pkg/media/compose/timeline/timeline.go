// Package timeline computes the times of a video: the progress of a narration, the lengths of the scenes that follow
// it, and the times of captions. Lengths are in frames, so that picture and sound end together. Scenes returns the
// times of scenes, and WebVTT the captions.
package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// FPS is the number of frames in a second.
const FPS = 30

// Still is the time for which a picture is shown before or after the scenes of a video.
const Still = 2 * time.Second

// Frames returns the number of frames of a duration, rounded.
func Frames(d time.Duration) int {
	return int((d*FPS + time.Second/2) / time.Second)
}

// Time returns the time at which a frame is shown.
func Time(frame int) time.Duration { return time.Duration(frame) * time.Second / FPS }

// Mark is a time of the narration at which the voice reaches an offset of the script, in bytes.
type Mark struct {
	Offset int
	At     time.Duration
}

// Clock maps offsets of a script to times of its narration.
type Clock struct {
	// said is the fraction of the script that has been said before each byte.
	said  []float64
	marks []Mark
}

// NewClock returns the clock of a script. Between two marks, the voice speaks at an even pace. Contradictory marks are
// ignored.
func NewClock(script string, marks []Mark, spoken time.Duration) Clock {
	c := Clock{said: make([]float64, len(script)+1), marks: []Mark{{}}}
	total, at := 0.0, 0
	for i, r := range script {
		for ; at <= i; at++ {
			c.said[at] = total
		}
		total += weight(r)
	}
	for ; at <= len(script); at++ {
		c.said[at] = total
	}
	for _, m := range marks {
		last := c.marks[len(c.marks)-1]
		switch {
		case m.Offset == 0 && last == Mark{} && m.At > 0 && m.At < spoken:
			c.marks[0] = m // silence before the first word
		case m.Offset > last.Offset && m.Offset < len(script) && m.At >= last.At && m.At < spoken:
			c.marks = append(c.marks, m)
		}
	}
	c.marks = append(c.marks, Mark{len(script), spoken})
	return c
}

// weight returns the time that a character takes to speak, relative to a letter.
func weight(r rune) float64 {
	switch {
	case strings.ContainsRune(".!?…。！？؟।", r):
		return 6 // a pause
	case strings.ContainsRune(",;:–—、，；：،؛", r):
		return 3
	case unicode.In(r, unicode.Han):
		return 3.5
	case unicode.In(r, unicode.Hangul, unicode.Hiragana, unicode.Katakana):
		return 2.5
	case unicode.IsDigit(r):
		return 4
	case unicode.IsLetter(r):
		return 1
	case unicode.IsSpace(r):
		return 0.5
	}
	return 0
}

// At returns the time at which the voice reaches an offset.
func (c Clock) At(offset int) time.Duration {
	offset = min(max(offset, 0), len(c.said)-1)
	if offset < c.marks[0].Offset {
		return c.marks[0].At
	}
	next := 1
	for next < len(c.marks)-1 && c.marks[next].Offset <= offset {
		next++
	}
	from, to := c.marks[next-1], c.marks[next]
	part := c.said[to.Offset] - c.said[from.Offset]
	if part <= 0 {
		return from.At
	}
	return from.At + time.Duration(float64(to.At-from.At)*(c.said[offset]-c.said[from.Offset])/part)
}

// Scenes returns the lengths of scenes in frames. Each is as long as the voice needs for its text, and none is shorter
// than least. The first begins before the voice by lead, and the last ends after it by tail. The texts, joined by one
// space each, are the script of the clock.
func Scenes(texts []string, c Clock, lead, tail time.Duration, least int) []int {
	cuts := make([]int, len(texts)+1)
	offset := 0
	for i, text := range texts {
		offset += len(text)
		switch last := i == len(texts)-1; {
		case last:
			cuts[i+1] = Frames(lead + c.At(offset) + tail)
		default:
			// The cut is in the middle of the pause.
			cuts[i+1] = Frames(lead + (c.At(offset)+c.At(offset+1))/2)
		}
		offset++
	}
	for i := 1; i < len(cuts); i++ {
		cuts[i] = max(cuts[i], cuts[i-1]+least)
	}
	// If scenes were made longer, the scenes after them begin later, but not all: the video ends with the voice, if it
	// can.
	end := max(Frames(lead+c.At(offset)+tail), least*len(texts))
	for i := len(cuts) - 1; i > 0 && cuts[i] > end-least*(len(texts)-i); i-- {
		cuts[i] = end - least*(len(texts)-i)
	}
	lengths := make([]int, len(texts))
	for i := range lengths {
		lengths[i] = cuts[i+1] - cuts[i]
	}
	return lengths
}

// Cue is a caption.
type Cue struct {
	From, To time.Duration
	Lines    []string
}

// linger is the time for which a caption stays after its last word if the next one is late.
const linger = 700 * time.Millisecond

// Follow sets the times of consecutive cues: each begins with its first word and stays until the next one, or for a
// while.
func Follow(cues []Cue, end time.Duration) {
	for i := range cues {
		next := end
		if i < len(cues)-1 {
			next = cues[i+1].From
		}
		cues[i].To = min(next, cues[i].To+linger)
	}
}

// Shortest is the least time for which a caption of a file is shown.
const Shortest = 500 * time.Millisecond

// Readable joins the cues that are too short to be read with their neighbors.
func Readable(cues []Cue) (all []Cue) {
	for i, c := range cues {
		last := len(all) - 1
		short := last >= 0 && (all[last].To-all[last].From < Shortest || i == len(cues)-1 && c.To-c.From < Shortest)
		if short {
			all[last].To, all[last].Lines = max(all[last].To, c.To), slices.Concat(all[last].Lines, c.Lines)
			continue
		}
		all = append(all, c)
	}
	return all
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// WebVTT writes captions.
func WebVTT(cues []Cue) string {
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	for _, c := range cues {
		fmt.Fprintf(&b, "\n%s --> %s\n%s\n", stamp(c.From), stamp(max(c.To, c.From+time.Millisecond)),
			escape.Replace(strings.Join(c.Lines, "\n")))
	}
	return b.String()
}

func stamp(d time.Duration) string {
	ms := d.Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// The bounds between which the tempo of a voice still sounds natural.
const (
	minTempo = 0.85
	maxTempo = 1.25
)

// lengthSlack is the part of the requested length by which a video may be longer or shorter.
const lengthSlack = 0.03

// Tempo returns the tempo nearest to 1 at which a voice, with the time around it, fills the requested length. It
// returns 1 if no length is requested.
func Tempo(spoken, around, length time.Duration) float64 {
	if length <= 0 || spoken <= 0 {
		return 1
	}
	least, most := Bounds(length)
	least, most = max(least-around, 1), max(most-around, 1)
	switch {
	case spoken > most:
		return min(float64(spoken)/float64(most), maxTempo)
	case spoken < least:
		return max(float64(spoken)/float64(least), minTempo)
	}
	return 1
}

// Bounds returns the shortest and the longest time that a video of a requested length may play.
func Bounds(length time.Duration) (least, most time.Duration) {
	slack := time.Duration(lengthSlack * float64(length))
	return length - slack, length + slack
}

// Faster returns the length of a voice and its marks at a tempo.
func Faster(spoken time.Duration, marks []Mark, tempo float64) (time.Duration, []Mark) {
	all := make([]Mark, len(marks))
	for i, m := range marks {
		all[i] = Mark{m.Offset, time.Duration(float64(m.At) / tempo)}
	}
	return time.Duration(float64(spoken) / tempo), all
}
