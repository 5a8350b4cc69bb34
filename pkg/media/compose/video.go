package compose

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
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
	// Frames makes pictures in place of the video: its cover, its scenes that show a product, and its end card.
	Frames bool

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
		case v.Narration == "" && !v.Frames && (s.Length < time.Second || s.Length > maxVideo):
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
	// aimed reports that the shots are where the picture has something to see.
	aimed bool
	// behind is the mean color of a picture behind the captions, once it is drawn.
	behind []canvas.Color
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
	logo          *placedLogo
	cues          []cue
	told          []timeline.Cue // those of the file of captions, which has longer ones
	// before is the number of these that are said before the intro.
	before  int
	caps    style
	encoded int // frames of scenes
	stills  map[int]*Still
	// heroes are the scenes that show a product, arranged. card is the number of frames of the end card.
	heroes map[int]*hero
	card   int
}

func (v Video) compose(ctx context.Context, r *run) error {
	f := &videoRun{Video: v, run: r, stills: map[int]*Still{}, heroes: map[int]*hero{}}
	f.width, f.height = v.size()
	f.caps = f.style()
	if err := f.openPictures(ctx); err != nil {
		return err
	}
	if f.Frames {
		return drawFrames(ctx, f)
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
		name, err := f.encodeEnd(ctx)
		if err != nil {
			return err
		}
		add(name, f.card)
		name, err = f.encodeBumper(ctx, f.outro, f.frames-f.outro.frames)
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
			one.input, err = open(s.Clip, fmt.Sprintf("/scenes/%d/clip", i), media.Video)
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
		in, err := open(f.Music, "/music", media.Audio)
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
		in, err := open(f.Narration, "/narration", media.Audio)
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
	f.carded(lengths)
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
	if len(f.told) == 0 {
		return nil
	}
	f.shift(begin)
	if err := f.write(StageJoin, "captions.vtt", []byte(timeline.WebVTT(f.told))); err != nil {
		return err
	}
	return f.deliver("captions.vtt", File{Role: media.Subtitles, Type: media.Captions, MIMEType: "text/vtt"})
}

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
	hook, rest := f.told[:f.before], f.told[f.before:]
	for i := range hook {
		hook[i].To = min(hook[i].To, at)
	}
	for i := range rest {
		c := &rest[i]
		c.From, c.To = max(c.From, at)+intro, max(c.To, at)+intro
	}
	f.told = slices.Concat(timeline.Readable(hook), timeline.Readable(rest))
}

// shot is a part of a scene with a view of its own. It begins with a hard cut.
type shot struct {
	// begin is the first frame, from the beginning of what is seen of the scene.
	begin int
	move  Move
}

const (
	leastShot  = 26 // the least length of a shot, in frames
	mostShots  = 4  // the greatest number of shots of a scene
	shotWindow = 18 // frames by which a cut may be moved to the beat of the voice
	perCuts    = 10 * timeline.FPS
	punch      = 0.8 // the visible part of a picture in a nearer shot
	detail     = 0.62
)

// views are the views of the shots after the first one of a picture that may be cropped: nearer, a detail, wide again.
var views = [][]Move{
	{{View{0.1, 0.1, punch}, View{0.12, 0.12, punch - 0.04}}, {View{0.08, 0.3, detail}, View{0.2, 0.3, detail}},
		Moves[2]},
	{{View{0.3, 0.1, detail}, View{0.2, 0.12, detail}}, {View{0.1, 0.1, punch}, View{0.08, 0.08, punch + 0.04}},
		Moves[0]},
}

// cut divides the scenes into shots, so that pictures change as often as the video wants. The cuts between shots are
// where a caption begins: on the beat of the voice.
func (f *videoRun) cut(lengths []int) {
	begin := 0
	for n := range f.scenes {
		s := &f.scenes[n]
		first := Moves[n%len(Moves)]
		if s.whole {
			first = heroMoves[n%len(heroMoves)]
		}
		s.shots = []shot{{0, first}}
		count := min((lengths[n]*f.Cuts+perCuts/2)/perCuts, mostShots, lengths[n]/leastShot)
		for i := 1; i < count; i++ {
			at := f.beat(begin+lengths[n]*i/count) - begin
			last := s.shots[len(s.shots)-1].begin
			if at < last+leastShot || at > lengths[n]-leastShot {
				continue
			}
			move := heroMoves[(n+i)%len(heroMoves)]
			if !s.whole {
				set := views[n%len(views)]
				move = set[(i-1)%len(set)]
			}
			s.shots = append(s.shots, shot{at, move})
		}
		begin += lengths[n]
	}
}

// aim moves the nearer shots of a scene to what its picture has to see.
func (f *videoRun) aim(n int, img *image.RGBA) {
	s := &f.scenes[n]
	if s.whole || len(s.shots) < 2 || s.aimed {
		return
	}
	s.aimed = true
	seen := canvas.Salient(img.Pix, img.Stride, img.Rect.Size())
	for i := range s.shots[1:] {
		m := &s.shots[i+1].move
		least := max(m.From.Size, m.To.Size)
		if least >= Zoom {
			continue
		}
		x, y := seen.Window(least, least)
		dx, dy := x-m.From.X, y-m.From.Y
		for _, v := range []*View{&m.From, &m.To} {
			v.X, v.Y = min(max(v.X+dx, 0), 1-v.Size), min(max(v.Y+dy, 0), 1-v.Size)
		}
	}
}

// beat returns the frame near another at which a caption begins, or that one.
func (f *videoRun) beat(frame int) int {
	best := frame
	off := shotWindow + 1
	for _, c := range f.cues {
		at := timeline.Frames(c.From)
		if d := max(at-frame, frame-at); d < off {
			best, off = at, d
		}
	}
	return best / f.Quality.every() * f.Quality.every()
}

// shown returns the shots with their lengths, in frames of what is seen of a scene.
func (s scene) shown() (all []shot, lengths []int) {
	for i, one := range s.shots {
		if i > 0 {
			one.begin += s.before / 2
		}
		all = append(all, one)
		if i > 0 {
			lengths = append(lengths, one.begin-all[i-1].begin)
		}
	}
	return all, append(lengths, s.seen()-all[len(all)-1].begin)
}

// crop returns the filter that cuts a view out of frames of the size of the video, and enlarges it to that size.
func (f *videoRun) crop(v View) string {
	if v.Size >= 1 {
		return "null"
	}
	part := func(of int, size float64) int { return int(float64(of)*size) &^ 1 }
	return fmt.Sprintf("crop=%d:%d:%d:%d,scale=%d:%d:flags=bicubic,setsar=1", part(f.width, v.Size),
		part(f.height, v.Size), part(f.width, v.X), part(f.height, v.Y), f.width, f.height)
}

// cuts returns the filters that show count frames of a scene from the frame begin on in its shots. Each of them is a
// part of the frames with the filter of its view. n is the number of the input, which names the links. A still, which
// is one frame, is repeated for each shot.
func (f *videoRun) cuts(n int, s scene, begin, count int) string {
	shots, lengths := s.shown()
	every, fps := f.Quality.every(), f.Quality.fps()
	var parts, names, filters []string
	for i, one := range shots {
		from, to := max(one.begin-begin, 0)/every, min(one.begin+lengths[i]-begin, count)/every
		if to <= from {
			continue
		}
		in, out := fmt.Sprintf("[shot%d_%d]", n, i), fmt.Sprintf("[cut%d_%d]", n, i)
		view := one.move.From
		frames := fmt.Sprintf("trim=start_frame=%d:end_frame=%d", from, to)
		switch {
		case s.still:
			frames = fmt.Sprintf("%s,loop=loop=-1:size=1:start=0,trim=end_frame=%d", f.crop(view), to-from)
		case i == 0 || view.Size >= 1:
		default:
			frames += "," + f.crop(view)
		}
		names, parts = append(names, in), append(parts, out)
		filters = append(filters, fmt.Sprintf("%s%s,setpts=N/(%d*TB)%s", in, frames, fps, out))
	}
	return fmt.Sprintf("split=%d%s;%s;%sconcat=n=%d:v=1:a=0,setpts=N/(%d*TB),fps=%d", len(names),
		strings.Join(names, ""),
		strings.Join(filters, ";"), strings.Join(parts, ""), len(parts), fps, fps)
}

// feed writes count frames of the still of a scene, in its shots, from the frame begin of the scene on.
func (f *videoRun) feed(w io.Writer, still *Still, s scene, begin, count int) error {
	shots, lengths := s.shown()
	for i, one := range shots {
		from, to := max(one.begin, begin), min(one.begin+lengths[i], begin+count)
		if to <= from {
			continue
		}
		err := still.Write(w, f.width, f.height, one.move, from-one.begin, to-from, lengths[i])
		if err != nil {
			return err
		}
	}
	return nil
}

// encode encodes a scene with its captions, up to the end of the cross-fade into the next one, whose own file begins
// after it. It returns the file and its number of frames.
//
// Scenes are encoded one by one, so that memory does not grow with their number, and joined without encoding them
// again.
func (f *videoRun) encode(ctx context.Context, n int) (name string, frames int, err error) {
	s := f.scenes[n]
	frames = s.length - s.before/2 + s.after/2
	in, err := f.source(ctx, n, s.before, frames)
	if err != nil {
		return "", 0, err
	}
	graph := f.prepare(0, f.scenes[n], s.before, frames) + "[v0]"
	job := ffmpeg.Job{Inputs: []ffmpeg.Input{in}, Progress: func(done int) {
		f.report(10 + 85*(f.intro.frames+f.encoded+min(done*f.Quality.every(), frames))/f.frames)
	}}
	last := "[v0]"
	if s.after > 0 {
		in, err := f.source(ctx, n+1, 0, s.after)
		if err != nil {
			return "", 0, err
		}
		next := f.scenes[n+1]
		job.Inputs = append(job.Inputs, in)
		// The filter xfade would convert all frames to 4:4:4 and back.
		graph += ";" + f.prepare(1, next, 0, s.after) +
			fmt.Sprintf(",format=yuva420p,fade=t=in:s=0:n=%d:alpha=1,setpts=PTS+%d/(%d*TB)[v1]", s.after,
				frames-s.after, timeline.FPS)
		graph += ";[v0][v1]overlay=format=yuv420:eof_action=pass[v2]"
		last = "[v2]"
	}
	if f.logo != nil && !f.bare(n) {
		job.Inputs = append(job.Inputs, ffmpeg.Input{Path: f.logo.path, Format: "png_pipe",
			Options: []string{"-framerate", fmt.Sprint(f.Quality.fps())}})
		graph += fmt.Sprintf(";%s[%d:v]overlay=x=%d:y=%d:format=yuv420:eof_action=repeat[v3]", last, len(job.Inputs)-1,
			f.logo.at.X, f.logo.at.Y)
		last = "[v3]"
	}
	captions, err := f.written(ctx, n, frames)
	if err != nil {
		return "", 0, err
	}
	job.Filter = graph + fmt.Sprintf(
		";%s%s,setsar=1,format=yuv420p,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709[out]",
		last, captions)
	name = fmt.Sprintf("scene%03d.mp4", n)
	count := frames / f.Quality.every()
	job.Output = append([]string{"-map", "[out]", "-frames:v", fmt.Sprint(count)},
		append(encoder(f.Quality, s.still, f.rate()), "-f", "mp4", name)...)
	report, err := f.ffmpeg(ctx, StagePicture, s.about, job)
	switch {
	case err != nil:
		return "", 0, err
	case report.Frames < count:
		return "", 0, f.endsEarly(n, report.Frames)
	}
	f.encoded += frames
	return name, frames, nil
}

// bare reports whether a scene shows no logo: an upright one whose product takes its room. The end card has it.
func (f *videoRun) bare(n int) bool {
	return f.Format == Portrait && f.Scenes[n].Whole && f.Scenes[n].Picture != ""
}

// written returns the filter that draws all texts of a scene.
func (f *videoRun) written(ctx context.Context, n, frames int) (string, error) {
	s, err := textsOf(ctx, f, n, f.encoded, frames)
	if err != nil {
		return "", err
	}
	return f.subtitles(StagePicture, fmt.Sprintf("captions%03d", n), s)
}

// textsOf draws all texts of count frames of a scene, which begin with the frame begin of the video.
func textsOf(ctx context.Context, f *videoRun, n, begin, count int) (*text.Script, error) {
	s := text.NewScript(f.width, f.height)
	f.script(s, n, begin, count)
	if err := f.notice(s, f.Notice, f.Language, f.area(), f.part()); err != nil {
		return nil, err
	}
	price, err := f.offer(ctx, s, n, count)
	if err != nil {
		return nil, err
	}
	return s, f.onScreen(ctx, s, n, count, price)
}

// endsEarly returns the error of a scene that has fewer frames than it should.
func (f *videoRun) endsEarly(n, got int) *Error {
	about := f.scenes[n].about
	if s := f.scenes[n]; s.after > 0 && got >= s.length-s.before/2-s.after/2 {
		about = f.scenes[n+1].about // the next scene, which faded in, was too short
	}
	return &Error{Code: CodeTooShort, Stage: StagePicture, About: about,
		Message: "The clip ends before its scene. Use a longer one."}
}

// source returns the input for frames of a scene, beginning with the frame begin.
func (f *videoRun) source(ctx context.Context, n, begin, count int) (ffmpeg.Input, error) {
	s := f.scenes[n]
	in := s.Input
	switch {
	case s.still && f.Quality == Draft:
		return f.drawnStill(ctx, n)
	case f.Quality == Draft:
		in.Options = append(in.Options, "-skip_loop_filter", "all", "-threads", "1")
		return in, nil
	case !s.still:
		return in, nil
	}
	still, err := f.still(ctx, n)
	if err != nil {
		return in, err
	}
	s = f.scenes[n]
	return ffmpeg.Input{
		Format: "rawvideo", Options: []string{"-pixel_format", "yuv420p", "-framerate", fmt.Sprint(timeline.FPS),
			"-video_size", fmt.Sprintf("%dx%d", f.width, f.height)},
		Feed: func(w io.Writer) error { return f.feed(w, still, s, begin, count) },
	}, nil
}

// drawnStill returns the input of a picture in the size of a draft.
func (f *videoRun) drawnStill(ctx context.Context, n int) (ffmpeg.Input, error) {
	name, size := fmt.Sprintf("still%03d.raw", n), image.Pt(f.width, f.height)
	in := f.drawn(name, size)
	in.Options = append(in.Options, "-framerate", fmt.Sprint(f.Quality.fps()))
	if _, err := os.Stat(in.Path); err == nil {
		return in, nil // the scene before has faded into it
	}
	img, err := f.shown(ctx, n, size)
	if err != nil {
		return in, err
	}
	f.aim(n, img)
	if n > 1 { // a scene fades from the one before it at most
		_ = os.Remove(f.path(fmt.Sprintf("still%03d.raw", n-2)))
	}
	return in, f.write(StagePicture, name, img.Pix)
}

// shown draws the picture of a scene in a size: the whole of it on a ground, or the middle of it.
func (f *videoRun) shown(ctx context.Context, n int, size image.Point) (*image.RGBA, error) {
	if f.Scenes[n].Whole {
		return f.ground(ctx, n, size)
	}
	img, err := f.canvas(ctx, f.Scenes[n].Picture, f.scenes[n].about, size)
	if err == nil {
		f.scenes[n].behind = []canvas.Color{canvas.Mean(img, f.captioned(size))}
	}
	return img, err
}

// still returns a picture, large enough to be sharp at the nearest view. It keeps the picture for the next scene, which
// may fade from it.
func (f *videoRun) still(ctx context.Context, n int) (*Still, error) {
	if f.stills[n] != nil {
		return f.stills[n], nil
	}
	width, height := f.stillSize()
	img, err := f.shown(ctx, n, image.Pt(width, height))
	if err != nil {
		return nil, err
	}
	f.aim(n, img)
	still, err := StillOf(img)
	if err != nil {
		return nil, internal(StagePicture, err)
	}
	delete(f.stills, n-2)
	f.stills[n] = still
	return still, nil
}

// cover returns the filters that scale a picture so that it covers a size, and crop the rest.
func (in input) cover(width, height int) string {
	return fmt.Sprintf(
		"scale=%d:%d:force_original_aspect_ratio=increase:flags=bicubic:out_color_matrix=bt709:out_range=tv,"+
			"crop=%d:%d,setsar=1,format=yuv420p", width, height, width, height)
}

// prepare returns the filters that make count frames of the input n in the size of the video, beginning with the frame
// begin of its scene.
func (f *videoRun) prepare(n int, s scene, begin, count int) string {
	all, fps, hold := s.pictures(n), f.Quality.fps(), maxHold/f.Quality.every()
	begin, count = begin/f.Quality.every(), count/f.Quality.every()
	switch {
	case s.still && f.Quality == Full: // the input already has these frames
		return all + "null"
	case s.still && len(s.shots) > 1:
		return all + s.cover(f.width, f.height) + "," + f.cuts(n, s, begin*f.Quality.every(), count*f.Quality.every())
	case s.still:
		// A picture is decoded and scaled once.
		return all + s.cover(f.width, f.height) +
			fmt.Sprintf(",loop=loop=-1:size=1:start=0,trim=end_frame=%d,setpts=N/(%d*TB),fps=%d", count, fps, fps)
	}
	fit := s.covering(f.width, f.height)
	if s.whole {
		fit = s.input.whole(n, f.width, f.height) + fmt.Sprintf(",fps=%d", fps) // overlay loses the last frame
	}
	if slow := s.slow(); slow > 1 {
		all += fmt.Sprintf("setpts=%.4f*PTS,", slow)
	}
	shown := fmt.Sprintf("fps=%d", fps)
	if len(s.shots) > 1 {
		shown = f.cuts(n, s, begin*f.Quality.every(), count*f.Quality.every())
	}
	return all + fmt.Sprintf("%s,%s,tpad=stop_mode=clone:stop=%d,"+
		"trim=start_frame=%d:end_frame=%d,setpts=PTS-STARTPTS,%s",
		timed(fps), fit, hold, begin, begin+count, shown)
}

// slow returns the factor by which a clip is slowed down so that it fills its scene. If that is not enough, its last
// frame stays for a while. If frames are still missing, encoding fails.
func (s scene) slow() float64 {
	need := timeline.Time(s.seen()).Seconds()
	return min(max(need/max(s.input.length.Seconds(), 0.001), 1), maxSlow)
}

// script draws the captions within frames of a scene, with times relative to the scene's own file.
func (f *videoRun) script(s *text.Script, n, begin, count int) {
	if !f.Captions {
		return
	}
	st := f.on(n)
	from, to := timeline.Time(begin), timeline.Time(begin+count)
	for _, c := range f.cues {
		if c.From < to && c.To > from {
			f.draw(s, st, c, text.Span{From: from, To: to})
		}
	}
}

// The areas of the headline of a cover. That of a portrait video is inside the part that the grids of Instagram (3:4),
// TikTok and YouTube show, and that of a landscape one beside the length that YouTube writes into its corner.
var (
	coverPortrait  = image.Rect(84, 330, 1080-84, 1920-360)
	coverLandscape = image.Rect(110, 80, 1920-110, 1080-120)
)

// covered returns what the cover of a video says of its offer: the price alone.
func (f *videoRun) covered() *Offer {
	if f.Offer == nil {
		return nil
	}
	o := *f.Offer
	o.Action, o.Shop = "", ""
	return &o
}

// cover delivers the poster of a video: its headline over the picture of its first scene, with the mark of the brand. A
// video without a headline, or with one that cannot be shown, has a frame as its poster.
func (f *videoRun) cover(ctx context.Context) (bool, error) {
	first := f.Scenes[0]
	if f.Headline == "" {
		return false, nil
	}
	path := first.Picture
	if path == "" {
		path = f.path("cover.png")
		in := f.scenes[0].input
		in.Options = append([]string{"-ss", "0.3"}, in.Options...)
		_, err := f.ffmpeg(ctx, StagePicture, in.about, ffmpeg.Job{Inputs: []ffmpeg.Input{in.Input},
			Filter: in.pictures(0) + in.inside(in.width, in.height) + "," + toRGB + "[out]",
			Output: []string{"-map", "[out]", "-frames:v", "1", "-update", "1", "-f", "image2", "cover.png"}})
		if err != nil {
			return false, err
		}
	}
	c := card{about: "/headline", layout: f.Brand.look().Story, size: f.full(), area: coverPortrait,
		text: f.Headline, lang: f.Language, brand: f.Brand, whole: first.Whole && first.Picture != "", notice: f.Notice}
	if c.whole {
		c.offer = f.covered()
	}
	if f.Format == Landscape {
		c.area = coverLandscape
	}
	img, s, err := f.run.card(ctx, path, c)
	if unfit(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.deliverOne(ctx, "poster", media.Poster, img, s)
}
