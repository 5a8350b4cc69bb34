package probe

import (
	"math"
	"time"

	"github.com/content-automation/api/pkg/media"
)

// picture returns the track of the pictures, and its place among such tracks: the largest one with several samples. A
// cover is a track with one.
func (m *movie) picture() (shown *track, place int) {
	size := func(t *track) int {
		p := t.entry.picture
		if t.samples > 1 {
			return max(p.Width*p.Height, 1) << 1
		}
		return min(p.Width*p.Height, 1)
	}
	n := 0
	for _, t := range m.tracks {
		if t.kind != "vide" {
			continue
		}
		if shown == nil || size(t) > size(shown) {
			shown, place = t, n
		}
		n++
	}
	return shown, place
}

// heard returns the first track of sound, or nil.
func (m *movie) heard() *track {
	for _, t := range m.tracks {
		if t.kind == "soun" {
			return t
		}
	}
	return nil
}

// priming is more than what a codec needs to begin: two frames of sound with their extension (SBR), or the frames
// before the first one that is shown. Tracks that begin or end so close to each other belong together.
const priming = 100 * time.Millisecond

// lasting returns the length of what is seen and heard. The headers decide only for a file whose samples nobody tells.
func (m *movie) lasting(shown *track) time.Duration {
	start, _ := m.start(shown)
	sound, least := m.heard(), start
	if sound != nil {
		at, _ := m.start(sound)
		least = min(start, at)
	}
	end := func(t *track) time.Duration {
		at, _ := m.start(t)
		if at -= least; at <= priming {
			at = 0
		}
		return at + m.plays(t)
	}
	length := end(shown)
	if sound != nil && end(sound) > length+priming {
		length = end(sound)
	}
	if shown.units == 0 {
		length = max(length, seconds(int64(m.claimed), m.timescale))
	}
	return length
}

// plays returns the length of a track without pauses: of the parts in its edit list, as far as there are samples for
// them, or of its samples.
func (m *movie) plays(t *track) (sum time.Duration) {
	all := seconds(int64(t.units), t.timescale)
	if len(t.edits) == 0 {
		return all
	}
	begun := false
	for _, e := range t.edits {
		long := seconds(int64(min(e.units, math.MaxInt64)), m.timescale)
		if e.from < 0 || e.slow {
			if begun || e.slow {
				sum += long
			}
			continue
		}
		begun = true
		left := max(all+seconds(t.first-e.from, t.timescale), 0)
		// Fragments come after what the list knows of: 0 is the rest, and some programs write what was there then.
		if open := t.units > t.tabled && len(t.edits) <= 2; e.units == 0 || open {
			long = left
		}
		sum += min(long, left)
	}
	return sum
}

// start returns the time at which the first sample of a track is seen or heard, and what is left out before it.
func (m *movie) start(t *track) (at, skipped time.Duration) {
	first := seconds(t.first, t.timescale)
	for _, e := range t.edits {
		if e.from < 0 {
			at += seconds(int64(min(e.units, math.MaxInt64)), m.timescale)
			continue
		}
		from := seconds(e.from, t.timescale)
		return at + max(first-from, 0), max(from-first, 0)
	}
	return at + first, 0
}

// edited reports whether the edit list of a track matters: it has several parts, leaves out more than a codec needs to
// begin, or ends before the samples do. A pause matters if it is that of one track alone, which the starts tell.
func (m *movie) edited(t *track) bool {
	parts, end := 0, time.Duration(0)
	for _, e := range t.edits {
		if e.from < 0 {
			continue
		}
		parts++
		end = seconds(e.from, t.timescale) + seconds(int64(min(e.units, math.MaxInt64)), m.timescale)
		if e.units == 0 {
			end = math.MaxInt64
		}
		if e.slow {
			return true
		}
	}
	if parts == 0 {
		return false
	}
	_, skipped := m.start(t)
	late := seconds(int64(t.units)+t.first, t.timescale)-end > priming && t.units == t.tabled
	return parts > 1 || skipped > priming || late
}

// describe returns the description of the movie. The track that begins first begins at 0, as in players.
func (m *movie) describe(shown *track, place int) media.Movie {
	p := shown.entry.picture
	p.Track = place
	if p.Width == 0 || p.Height == 0 {
		p.Width, p.Height = shown.width, shown.height
	}
	p.Turn, p.Mirrored = turned(shown.matrix, m.matrix)
	if p.Aspect == 0 {
		p.Aspect = scaled(p, shown.width, shown.height)
	}
	if p.Aspect == 1 {
		p.Aspect = 0
	}
	if length := seconds(int64(shown.units), shown.timescale); length > 0 {
		p.Rate = math.Round(float64(shown.samples)/length.Seconds()*1000) / 1000
	}
	found := media.Movie{Picture: p, Edited: m.edited(shown)}
	start, _ := m.start(shown)
	t := m.heard()
	if t == nil {
		return found
	}
	found.Sound = t.entry.sound
	if found.Sound.Codec == "" {
		found.Sound.Codec = "unknown"
	}
	sound, _ := m.start(t)
	least := min(start, sound)
	found.Picture.Start, found.Sound.Start = start-least, sound-least
	paused := max(start, sound)-least > unnoticed && (m.paused(shown) || m.paused(t))
	found.Edited = found.Edited || m.edited(t) || paused
	return found
}

// paused reports whether a track begins with a pause.
func (m *movie) paused(t *track) bool { return len(t.edits) > 0 && t.edits[0].from < 0 }

// turned returns the quarters by which the matrices of a track and of its movie turn it, clockwise, and whether they
// mirror it before that.
func turned(t, m [4]int32) (quarters int, mirrored bool) {
	one := func(a [4]int32) (f [4]float64) {
		if a == [4]int32{} { // some programs write none
			a = [4]int32{1, 0, 0, 1}
		}
		for i, n := range a {
			f[i] = float64(n)
		}
		return f
	}
	p, q := one(t), one(m)
	a, b := p[0]*q[0]+p[1]*q[2], p[0]*q[1]+p[1]*q[3]
	c, d := p[2]*q[0]+p[3]*q[2], p[2]*q[1]+p[3]*q[3]
	if a*d-b*c < 0 {
		mirrored, a, b = true, -a, -b
	}
	switch {
	case math.Abs(a) >= math.Abs(b) && a >= 0:
		return 0, mirrored
	case math.Abs(a) >= math.Abs(b):
		return 2, mirrored
	case b > 0:
		return 1, mirrored
	}
	return 3, mirrored
}

// scaled returns the aspect of the pixels of a track that is to be shown in another proportion than it is stored, or 0.
// Some programs write the size after a turn.
func scaled(p media.Picture, width, height int) float64 {
	a := ratio(width*p.Height, height*p.Width)
	b := ratio(height*p.Height, width*p.Width)
	const same = 0.02
	if a == 0 || math.Abs(a-1) < same || p.Turn%2 == 1 && math.Abs(b-1) < same {
		return 0
	}
	const most = 2.5 // of the formats of television
	if a > most || a < 1/most {
		return 0
	}
	return a
}
