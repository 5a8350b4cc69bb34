package compose

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// extend lengthens the last scene if the voice is too short for the requested length, as far as its clip lasts.
func (f *videoRun) extend(lengths []int) {
	last, missing := len(lengths)-1, 0
	if f.Length > 0 {
		least, _ := timeline.Bounds(f.Length)
		missing = timeline.Frames(least)
	}
	for _, n := range lengths {
		missing -= n
	}
	if s := f.scenes[last]; !s.still {
		missing = min(missing, timeline.Frames(time.Duration(maxSlow*float64(s.input.length)))-lengths[last])
	}
	lengths[last] += max(missing, 0)
}

// even moves the ends of scenes to the nearest earlier frame of the video, and returns the last end.
func (q Quality) even(lengths []int) (before int) {
	end := 0
	for i, n := range lengths {
		end += n
		at := end / q.every() * q.every()
		lengths[i], before = at-before, at
	}
	return before
}

// setLengths sets the lengths of the scenes, and of the cross-fades between them.
func (f *videoRun) setLengths(lengths []int) {
	for i := range f.scenes {
		s := &f.scenes[i]
		s.length = lengths[i]
		if i > 0 && f.Fade && f.Quality == Full && !f.hooked(i) {
			s.before = fadeFrames
			f.scenes[i-1].after = fadeFrames
		}
	}
}

// hooked reports whether the intro is shown before a scene: before the second one of a video with a narration, whose
// first one is the hook, or else before the first one.
func (f *videoRun) hooked(n int) bool {
	first := 0
	if f.Narration != "" && len(f.Scenes) > 1 {
		first = 1
	}
	return f.intro.frames > 0 && n == first
}

// shift moves the written captions that are said after the intro by its length. None is lost, or too short to be read.
func (f *videoRun) shift(intro time.Duration) {
	at := time.Duration(0)
	if f.hooked(1) {
		at = timeline.Time(f.scenes[0].length)
	}
	hook, rest := f.written[:f.before], f.written[f.before:]
	for i := range hook {
		hook[i].To = min(hook[i].To, at)
	}
	for i := range rest {
		c := &rest[i]
		c.From, c.To = max(c.From, at)+intro, max(c.To, at)+intro
	}
	f.written = slices.Concat(timeline.Readable(hook), timeline.Readable(rest))
}
