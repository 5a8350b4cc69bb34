package compose

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// Format is the shape of a video.
type Format string

// The formats.
const (
	Portrait  Format = "portrait"  // 1080 × 1920
	Landscape Format = "landscape" // 1920 × 1080
)

// Quality is the quality of a composition, and determines its cost.
type Quality string

// The qualities. Draft is for the sandbox: pictures do not move, scenes are joined by cuts, there is a third of the
// frames, and encoding takes a fraction of the time.
const (
	Full  Quality = "full"
	Draft Quality = "draft"
)

// every is the number of frames of the timeline for each frame of the video.
func (q Quality) every() int {
	if q == Draft {
		return 3
	}
	return 1
}

// fps is the number of frames in a second of the video.
func (q Quality) fps() int { return timeline.FPS / q.every() }

// Video describes a video: scenes over which a voice speaks. Without a narration, each scene has its own length, as in
// the clip of a story.
type Video struct {
	Format  Format
	Quality Quality
	Scenes  []Scene
	// Narration is the path of one voice that speaks the texts of all scenes. Its length determines the cut.
	Narration string
	// Length is the requested length of the scenes of a video with a narration: the voice is made faster or slower, as
	// far as that sounds natural, and the last scene is longer if the voice is too short. If it is 0, the voice alone
	// decides.
	Length time.Duration
	// Marks are the times at which the voice reaches places of the texts, which are joined by one space each. Without
	// marks, the lengths of the texts determine the times.
	Marks []timeline.Mark
	// Language of the texts (BCP 47).
	Language string
	// Headline is written on the poster, which is a picture of its own with it. It may be empty.
	Headline string
	// Captions burns the captions in. They are also written as WebVTT whenever there is a narration.
	Captions     bool
	CaptionStyle CaptionStyle
	// Cuts is the number of times that the picture changes in 10 s: scenes that are longer are divided into shots of
	// the same picture or clip, which are joined by hard cuts. With 0, only scenes change.
	Cuts int
	// Fade joins the scenes by cross-fades instead of cuts.
	Fade bool
	// Music is the path of a track that plays under the voice. It may be empty.
	Music string
	Brand *Brand
	// Offer is written over the scenes whose pictures are shown whole, and its call to action over the last scene. It
	// may be nil.
	Offer  *Offer
	Notice string // drawn at the top of all parts; it may be empty
	// Intro is shown after the first scene of a video with a narration, or before the scenes, and Outro after them.
	// They are not part of Length.
	Intro, Outro Bumper

	// scale divides the size, which makes tests that do not depend on it faster.
	scale int
}

// Scene is a part of a video.
type Scene struct {
	// Text is the text that the voice speaks.
	Text string
	// Clip or Picture is the path of the picture.
	Clip, Picture string
	// OnScreen is a short text that is drawn at the top during the scene. It may be empty.
	OnScreen string
	// Whole shows the picture or clip without cropping it, on a ground.
	Whole bool
	// Length is the length of the scene, in videos without a narration.
	Length time.Duration
}

const (
	maxScenes   = 100
	maxCuts     = 10
	maxVideo    = 10 * time.Minute
	leastScene  = timeline.FPS // frames
	fadeFrames  = 12           // of a cross-fade; even
	maxSlow     = 1.5          // by which a clip may be slowed down to fill its scene
	maxHold     = timeline.FPS // frames for which its last frame may stay
	posterFrame = lead * 2 / 3 // before the first caption
	maxFile     = 46_000_000   // bytes: the limit of Telegram is 50 MB
	maxRate     = 6_000_000    // bits a second
)

// full returns the size of the video if it is not scaled.
func (v Video) full() image.Point {
	if v.Format == Landscape {
		return image.Pt(1920, 1080)
	}
	return image.Pt(1080, 1920)
}

func (v Video) size() (width, height int) {
	full := v.full()
	return full.X / max(v.scale, 1), full.Y / max(v.scale, 1)
}

// stillSize returns the size in which a picture is sharp at the nearest view of a motion.
func (v Video) stillSize() (width, height int) {
	width, height = v.size()
	return int(float64(width)/Zoom) &^ 1, int(float64(height)/Zoom) &^ 1
}

func (v Video) check() error {
	switch {
	case v.Format != Portrait && v.Format != Landscape:
		return invalid("/format", "The format must be portrait or landscape.")
	case v.Quality != Full && v.Quality != Draft:
		return invalid("/quality", "The quality must be full or draft.")
	case !slices.Contains([]CaptionStyle{"", Words, Lines, Outline}, v.CaptionStyle):
		return invalid("/caption_style", "The style of captions must be words, lines or outline.")
	case v.Cuts < 0 || v.Cuts > maxCuts:
		return invalid("/cuts", "The number of cuts in 10 s is from 0 to %d.", maxCuts)
	case len(v.Scenes) == 0 || len(v.Scenes) > maxScenes:
		return invalid("/scenes", "A video has from 1 to %d scenes.", maxScenes)
	}
	if err := cmp.Or(v.Intro.check("/intro"), v.Outro.check("/outro")); err != nil {
		return err
	}
	for i, s := range v.Scenes {
		about := fmt.Sprintf("/scenes/%d", i)
		switch {
		case (s.Clip == "") == (s.Picture == ""):
			return invalid(about, "A scene has either a clip or a picture.")
		case v.Narration != "" && strings.TrimSpace(s.Text) == "":
			return invalid(about+"/text", "A scene of a video with a narration needs its text.")
		case v.Narration == "" && (s.Length < time.Second || s.Length > maxVideo):
			return invalid(about+"/length", "A scene takes from 1 s to %v.", maxVideo)
		}
	}
	return nil
}

// scene is a scene with its position in the video.
type scene struct {
	input
	still, whole bool
	shots        []shot
	// length is the number of frames between the middles of its cross-fades. before and after are the lengths of the
	// cross-fades at its beginning and its end.
	length, before, after int
}

// seen returns the number of frames that the scene needs.
func (s scene) seen() int { return s.before/2 + s.length + s.after/2 }

// videoRun is a video that is being composed.
type videoRun struct {
	Video
	*run
	width, height int
	scenes        []scene
	intro, outro  bumper
	frames        int // of all
	logo          *placed
	cues          []cue
	written       []timeline.Cue // those of the file of captions, which has longer ones
	// before is the number of these that are said before the intro.
	before  int
	caps    style
	encoded int // frames of scenes
	stills  map[int]*Still
}

func (v Video) compose(ctx context.Context, r *run) error {
	f := &videoRun{Video: v, run: r, stills: map[int]*Still{}}
	f.width, f.height = v.size()
	f.caps = f.style()
	if err := f.openPictures(ctx); err != nil {
		return err
	}
	m, err := f.openSounds(ctx)
	if err != nil {
		return err
	}
	r.report(10)
	list, err := f.encodeParts(ctx, m)
	if err != nil {
		return err
	}
	return f.join(ctx, list)
}

// encodeParts makes the sound and the scenes concurrently: neither keeps all processors busy. It returns the list of
// the scenes.
func (f *videoRun) encodeParts(ctx context.Context, m mix) (string, error) {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return f.sound(ctx, m) })
	var list strings.Builder
	both.Go(func() error {
		add := func(name string, frames int) {
			if frames > 0 {
				fmt.Fprintf(&list, "file %s\nduration %.6f\n", name, timeline.Time(frames).Seconds())
			}
		}
		for i := range f.scenes {
			if f.hooked(i) {
				name, err := f.encodeBumper(ctx, f.intro, f.encoded)
				add(name, f.intro.frames)
				if err != nil {
					return err
				}
			}
			name, frames, err := f.encode(ctx, i)
			if err != nil {
				return err
			}
			add(name, frames)
		}
		name, err := f.encodeBumper(ctx, f.outro, f.frames-f.outro.frames)
		add(name, f.outro.frames)
		return err
	})
	err := both.Wait()
	return list.String(), err
}

func (f *videoRun) openPictures(ctx context.Context) error {
	if f.Brand != nil && f.Brand.Logo != "" {
		if err := f.writeLogo(ctx); err != nil {
			return err
		}
	}
	for i, s := range f.Scenes {
		one := scene{still: s.Picture != "", whole: s.Whole}
		var err error
		if one.still {
			// It is drawn when its scene is encoded: all of them would take much room.
			one.input, err = openPicture(s.Picture, fmt.Sprintf("/scenes/%d/picture", i))
		} else {
			one.input, err = f.open(ctx, s.Clip, fmt.Sprintf("/scenes/%d/clip", i), media.Video)
		}
		if err != nil {
			return err
		}
		f.scenes = append(f.scenes, one)
	}
	return f.openBumpers(ctx)
}

// openSounds opens the sounds, and sets the lengths of the scenes.
func (f *videoRun) openSounds(ctx context.Context) (mix, error) {
	m := mix{quality: f.Quality, intro: f.intro, outro: f.outro}
	if f.Music != "" {
		in, err := f.open(ctx, f.Music, "/music", media.Audio)
		if err != nil {
			return m, err
		}
		if m.heardMusic, err = f.listen(ctx, in); err != nil {
			return m, err
		}
		m.music = &in
	}
	lengths := make([]int, len(f.Scenes))
	if f.Narration != "" {
		in, err := f.open(ctx, f.Narration, "/narration", media.Audio)
		if err != nil {
			return m, err
		}
		if m.heardVoice, err = f.listen(ctx, in); err != nil {
			return m, err
		}
		m.voice = &in
		texts := make([]string, len(f.Scenes))
		for i, s := range f.Scenes {
			texts[i] = s.Text
		}
		m.tempo = timeline.Tempo(m.heardVoice.length, lead+tail, f.Length)
		spoken, marks := timeline.Faster(m.heardVoice.length, f.Marks, m.tempo)
		clock := timeline.NewClock(strings.Join(texts, " "), marks, spoken)
		lengths = timeline.Scenes(texts, clock, lead, tail, leastScene)
		f.extend(lengths)
		m.frames = f.Quality.even(lengths)
		if f.hooked(1) {
			m.hook = lengths[0]
		}
		if err := f.caption(strings.Join(texts, " "), clock, m.frames); err != nil {
			return m, err
		}
	} else {
		for i, s := range f.Scenes {
			lengths[i] = timeline.Frames(s.Length)
		}
		m.frames = f.Quality.even(lengths)
		if m.music == nil && len(f.scenes) == 1 && f.scenes[0].sound {
			m.clip = &f.scenes[0].input
			if m.intro.sound || m.outro.sound {
				var err error
				if m.heardClip, _, err = f.level(ctx, *m.clip); err != nil {
					return m, err
				}
			}
		}
	}
	f.frames = f.intro.frames + m.frames + f.outro.frames
	if timeline.Time(f.frames) > maxVideo {
		return m, &Error{Code: CodeTooLarge, Stage: StageSound, About: "/narration",
			Message: fmt.Sprintf("The video is longer than %v. Shorten its text.", maxVideo)}
	}
	f.setLengths(lengths)
	f.cut(lengths)
	return m, nil
}

// rate returns the greatest bit rate of the picture with which the file is small enough for all platforms. Each scene
// may begin with the content of its buffer of one second.
func (f *videoRun) rate() int {
	seconds := timeline.Time(f.frames).Seconds() + float64(len(f.scenes)+2)
	return min(maxRate, int(maxFile*8/seconds)-160_000)
}

// join joins scenes and sound, and delivers the files.
func (f *videoRun) join(ctx context.Context, list string) error {
	if err := f.write(StageJoin, "scenes.txt", []byte(list)); err != nil {
		return err
	}
	if err := f.mux(ctx, "concat", "scenes.txt"); err != nil {
		return err
	}
	seconds, begin := timeline.Time(f.frames), timeline.Time(f.intro.frames)
	shown := begin
	if f.hooked(1) {
		shown = 0
	}
	if err := f.deliver("final.mp4", File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4", Width: f.width,
		Height: f.height, Duration: seconds}); err != nil {
		return err
	}
	video := f.files[len(f.files)-1].Path
	designed, err := f.cover(ctx)
	if err == nil && !designed {
		err = f.poster(ctx, video, shown+posterFrame, f.width, f.height)
	}
	if err != nil {
		return err
	}
	if len(f.written) == 0 {
		return nil
	}
	f.shift(begin)
	if err := f.write(StageJoin, "captions.vtt", []byte(timeline.WebVTT(f.written))); err != nil {
		return err
	}
	return f.deliver("captions.vtt", File{Role: media.Subtitles, Type: media.Captions, MIMEType: "text/vtt"})
}
