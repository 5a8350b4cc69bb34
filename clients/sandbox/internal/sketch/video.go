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
	clips, parts, err := openScenes(v.Scenes)
	if err != nil {
		return err
	}
	var lengths []int
	var captions []timeline.Cue
	if v.Narration == "" {
		for _, scene := range v.Scenes {
			lengths = append(lengths, timeline.Frames(scene.Length))
		}
	} else {
		if lengths, captions, err = narrate(v); err != nil {
			return err
		}
		extend(lengths, v.Length, clips[len(clips)-1])
	}
	frames := 0
	for i, n := range lengths {
		frames += n
		if clips[i] > 0 && timeline.Time(n) > time.Duration(maxSlow*float64(clips[i]))+maxHold {
			return fault(compose.CodeTooShort, about("scenes", i, "clip"), "The clip ends before its scene. Use a longer one.")
		}
	}
	intro, err := bumper(v.Intro, "/intro")
	if err != nil {
		return err
	}
	outro, err := bumper(v.Outro, "/outro")
	if err != nil {
		return err
	}
	if v.Music != "" {
		if _, err := open(v.Music, "/music", media.Audio); err != nil {
			return err
		}
	}
	intro, outro, frames = even(v.Quality, intro), even(v.Quality, outro), even(v.Quality, frames)
	timeline.Follow(captions, timeline.Time(frames))
	for i := range captions {
		captions[i].From += timeline.Time(intro)
		captions[i].To += timeline.Time(intro)
	}
	frames += intro + outro
	if timeline.Time(frames) > maxVideo {
		return fault(compose.CodeTooLarge, "/narration", "The video is too long. Shorten its text.")
	}
	if err := s.clip(size, frames, parts...); err != nil {
		return err
	}
	if len(captions) == 0 {
		return nil
	}
	return s.add("captions.vtt", []byte(timeline.WebVTT(captions)),
		compose.File{Role: media.Subtitles, Type: media.Captions, MIMEType: "text/vtt"})
}

// bumper returns the length of an intro or outro in frames.
func bumper(b compose.Bumper, about string) (int, error) {
	switch {
	case b.Clip != "":
		info, err := open(b.Clip, about, media.Video)
		return timeline.Frames(info.Duration), err
	case b.Picture != "":
		_, err := open(b.Picture, about, media.Image)
		return timeline.Frames(timeline.Still), err
	}
	return 0, nil
}

// openScenes opens the pictures and clips of scenes. It returns the lengths of the clips, 0 for a picture, and the
// paths.
func openScenes(scenes []compose.Scene) (clips []time.Duration, paths []string, err error) {
	for i, s := range scenes {
		name, path, want := about("scenes", i, "clip"), s.Clip, media.Video
		if s.Picture != "" {
			name, path, want = about("scenes", i, "picture"), s.Picture, media.Image
		}
		info, err := open(path, name, want)
		if err != nil {
			return nil, nil, err
		}
		clips, paths = append(clips, info.Duration), append(paths, path)
	}
	return clips, paths, nil
}

// narrate returns the lengths of the scenes of a video with a voice, in frames, and its captions.
func narrate(v compose.Video) (lengths []int, captions []timeline.Cue, err error) {
	voice, err := open(v.Narration, "/narration", media.Audio)
	if err != nil {
		return nil, nil, err
	}
	var texts []string
	for _, scene := range v.Scenes {
		texts = append(texts, scene.Text)
	}
	script := strings.Join(texts, " ")
	spoken, marks := timeline.Faster(voice.Duration, v.Marks, timeline.Tempo(voice.Duration, lead+tail, v.Length))
	clock := timeline.NewClock(script, marks, spoken)
	for _, l := range lines(script) {
		captions = append(captions, timeline.Cue{From: lead + clock.At(l.from), To: lead + clock.At(l.to),
			Lines: []string{script[l.from:l.to]}})
	}
	return timeline.Scenes(texts, clock, lead, tail, leastScene), captions, nil
}

// extend lengthens the last scene if the voice is too short for the requested length, as far as its clip lasts.
func extend(lengths []int, length, clip time.Duration) {
	if length <= 0 {
		return
	}
	least, _ := timeline.Bounds(length)
	missing, last := timeline.Frames(least), len(lengths)-1
	for _, n := range lengths {
		missing -= n
	}
	if clip > 0 {
		missing = min(missing, timeline.Frames(time.Duration(maxSlow*float64(clip)))-lengths[last])
	}
	lengths[last] += max(missing, 0)
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
