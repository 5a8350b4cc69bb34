package item

import (
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// leastSpoken is the shortest video of a caller's script, in seconds.
const leastSpoken = 5

// The planned lengths of scenes in seconds. A model with different lengths makes the next longer ones.
const (
	shortScene = 5
	longScene  = 8
	stillScene = 5 // without clips
	// pauses is the number of seconds by which a video is longer than its narration.
	pauses = 1
)

// The bounds of the time that a clip covers: it may play a little slower, its last frame may stay for a while, and
// cross-fades need a part of it. A video begins before its voice and ends after it.
const (
	slower = 1.45
	stays  = 500 * time.Millisecond
	lead   = 300 * time.Millisecond
	tail   = 700 * time.Millisecond
)

// anyLength is the time for which a picture can be shown.
const anyLength = time.Hour

func seconds(f media.File) time.Duration {
	return time.Duration(f.DurationSeconds * float64(time.Second))
}

// coveredTime returns the longest scene that a clip of a length covers.
func coveredTime(clip time.Duration) time.Duration {
	return time.Duration(slower*float64(clip)) + stays
}

func scriptOf(scenes []Scene) string {
	texts := make([]string, len(scenes))
	for i, s := range scenes {
		texts[i] = s.Text
	}
	return strings.Join(texts, " ")
}

// spokenSeconds estimates the length of a video of a script.
func spokenSeconds(script string) int {
	return int(provider.SpokenLength(script).Round(time.Second)/time.Second) + pauses
}

// bumper returns the length of an intro or outro.
func bumper(f *media.File) time.Duration {
	switch {
	case f == nil:
		return 0
	case f.Type == media.Image:
		return timeline.Still
	}
	return seconds(*f)
}

// bumpers returns the length of the intro and the outro together, which is 0 if the item shows none.
func (r *writer) bumpers() time.Duration {
	if r.item.Kind != Video && r.attempt.Shape != "story clip" {
		return 0
	}
	return bumper(r.brief.Intro) + bumper(r.brief.Outro)
}

// around returns the whole seconds that the intro and the outro take of the length.
func (r *writer) around() int { return int((r.bumpers() + time.Second - 1) / time.Second) }

// between returns the length of the part between the intro and the outro.
func (r *writer) between() time.Duration {
	return time.Duration(*r.item.DurationSeconds)*time.Second - r.bumpers()
}
