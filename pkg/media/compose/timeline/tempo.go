package timeline

import "time"

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
