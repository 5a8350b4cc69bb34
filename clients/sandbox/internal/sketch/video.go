package sketch

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// The times of a video, as the engine with ffmpeg has them; a test compares both.
const (
	lead       = 300 * time.Millisecond // before the voice
	tail       = 700 * time.Millisecond // after it
	leastScene = timeline.FPS           // frames
	maxSlow    = 1.5                    // by which a clip may be slowed down to fill its scene
	maxHold    = time.Second            // for which its last frame may stay
	draftStep  = 3                      // frames of the timeline for each frame of a draft
)

// even makes a number of frames one that a quality can have.
func even(q compose.Quality, frames int) int {
	if q == compose.Draft {
		return frames - frames%draftStep
	}
	return frames
}

func (s *sketch) video(v compose.Video) error {
	size := portrait
	if v.Format == compose.Landscape {
		size = landscape
	}
	if len(v.Scenes) == 0 {
		return fault(compose.CodeInvalid, "/scenes", "A video has at least one scene.")
	}
	script, lengths, err := v.Scenes[0].Text, []int(nil), error(nil)
	var captions []timeline.Cue
	parts := []string{}
	if v.Narration == "" {
		for _, scene := range v.Scenes {
			lengths = append(lengths, timeline.Frames(scene.Length))
		}
	} else if script, lengths, captions, err = narrate(v); err != nil {
		return err
	}
	frames := 0
	for i, scene := range v.Scenes {
		if err := check(scene, i, lengths[i]); err != nil {
			return err
		}
		frames += lengths[i]
		parts = append(parts, scene.Clip+scene.Picture) // one of them is empty
	}
	if v.Music != "" {
		if _, err := open(v.Music, "/music", media.Audio); err != nil {
			return err
		}
	}
	frames = even(v.Quality, frames)
	if timeline.Time(frames) > maxVideo {
		return fault(compose.CodeTooLarge, "/narration", "The video is too long. Shorten its text.")
	}
	if err := s.clip(size, frames, script, parts...); err != nil {
		return err
	}
	if len(captions) == 0 {
		return nil
	}
	timeline.Follow(captions, timeline.Time(frames))
	return s.add("captions.vtt", []byte(timeline.WebVTT(captions)),
		compose.File{Role: media.Subtitles, Type: media.Captions, MIMEType: "text/vtt"})
}

// narrate returns the script of a video with a voice, the lengths of its scenes in frames, and its captions.
func narrate(v compose.Video) (script string, lengths []int, captions []timeline.Cue, err error) {
	voice, err := open(v.Narration, "/narration", media.Audio)
	if err != nil {
		return "", nil, nil, err
	}
	var texts []string
	for _, scene := range v.Scenes {
		texts = append(texts, scene.Text)
	}
	script = strings.Join(texts, " ")
	clock := timeline.NewClock(script, v.Marks, voice.Duration)
	for _, l := range lines(script) {
		captions = append(captions, timeline.Cue{From: lead + clock.At(l.from), To: lead + clock.At(l.to),
			Lines: []string{script[l.from:l.to]}})
	}
	return script, timeline.Scenes(texts, clock, lead, tail, leastScene), captions, nil
}

// check opens the picture or clip of a scene.
func check(s compose.Scene, i, frames int) error {
	if s.Picture != "" {
		_, err := open(s.Picture, about("scenes", i, "picture"), media.Image)
		return err
	}
	name := about("scenes", i, "clip")
	clip, err := open(s.Clip, name, media.Video)
	if err == nil && timeline.Time(frames) > time.Duration(maxSlow*float64(clip.Duration))+maxHold {
		return fault(compose.CodeTooShort, name, "The clip ends before its scene. Use a longer one.")
	}
	return err
}

// span is a part of a text.
type span struct{ from, to int }

// widest is the number of characters of a caption.
const widest = 40

// lines divides a text into lines of whole words, and words that are longer than a line.
func lines(text string) (all []span) {
	at := 0
	for word := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], word)
		for len(word) > 0 {
			part := string([]rune(word)[:min(widest, utf8.RuneCountInString(word))])
			from := at
			at, word = at+len(part), word[len(part):]
			if n := len(all) - 1; n >= 0 && utf8.RuneCountInString(text[all[n].from:at]) <= widest {
				all[n].to = at
				continue
			}
			all = append(all, span{from, at})
		}
	}
	return all
}
