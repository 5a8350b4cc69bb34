package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// Bumper is a clip or a picture after the first scene of a video with a narration, which is its hook, or before the
// scenes of another, or after them. It is shown whole, with its own sound, and without captions, logo and offer. A clip
// plays in its own length, a picture for timeline.Still. The zero value is none.
type Bumper struct {
	Clip, Picture string
}

// check returns an error for a bumper that is both a clip and a picture.
func (b Bumper) check(about string) error {
	if b.Clip != "" && b.Picture != "" {
		return invalid(about, "It is either a clip or a picture.")
	}
	return nil
}

// bumper is a Bumper of a composition. Without a file, it has no frames.
type bumper struct {
	input
	name   string
	still  bool
	frames int
	// loudness is the loudness of its sound, if it has any.
	loudness float64
}

func (f *videoRun) openBumpers(ctx context.Context) (err error) {
	if f.intro, err = f.openBumper(ctx, f.Intro, "intro"); err != nil {
		return err
	}
	f.outro, err = f.openBumper(ctx, f.Outro, "outro")
	return err
}

func (f *videoRun) openBumper(ctx context.Context, b Bumper, name string) (o bumper, err error) {
	o.name = name
	about, length := "/"+name, timeline.Still
	switch {
	case b.Clip != "":
		if o.input, err = f.open(ctx, b.Clip, about, media.Video); err != nil {
			return o, err
		}
		length = o.input.length
	case b.Picture != "":
		all := image.Rect(0, 0, f.width, f.height)
		img, err := f.run.whole(ctx, b.Picture, about, all.Max, all)
		if err != nil {
			return o, err
		}
		file := name + ".raw"
		o.still, o.about = true, about
		o.Input = f.drawn(file, img.Rect.Size())
		if err := f.write(StagePicture, file, img.Pix); err != nil {
			return o, err
		}
	default:
		return o, nil
	}
	every := f.Quality.every()
	o.frames = max(timeline.Frames(length)/every, 1) * every
	if o.sound {
		o.loudness, o.sound, err = f.level(ctx, o.input)
	}
	return o, err
}

// level measures the loudness of a clip, and reports whether it has any.
func (r *run) level(ctx context.Context, in input) (float64, bool, error) {
	report, err := r.play(ctx, in)
	if err != nil {
		return 0, false, err
	}
	l, ok := ffmpeg.LoudnessOf(report.Log)
	return l.Integrated, ok && l.Integrated > ffmpeg.Silent, nil
}

// encodeBumper encodes a bumper, if there is one, in the form of a scene. before is the number of frames before it.
func (f *videoRun) encodeBumper(ctx context.Context, b bumper, before int) (file string, err error) {
	if b.frames == 0 {
		return "", nil
	}
	in, fps, count := b.Input, f.Quality.fps(), b.frames/f.Quality.every()
	var graph string
	if b.still {
		graph = "[0:v]" + b.cover(f.width, f.height) + ",loop=loop=-1:size=1:start=0"
	} else {
		if f.Quality == Draft {
			in.Options = append(slices.Clone(in.Options), "-skip_loop_filter", "all", "-threads", "1")
		}
		// If the clip is shorter than its header claims, its last frame stays.
		graph = fmt.Sprintf("%s%s,%s,tpad=stop_mode=clone:stop=-1", b.pictures(0), timed(fps),
			b.whole(0, f.width, f.height))
	}
	notice, err := f.noticed(b.name)
	if err != nil {
		return "", err
	}
	graph += notice
	file = b.name + ".mp4"
	report, err := f.ffmpeg(ctx, StagePicture, b.about, ffmpeg.Job{
		Inputs: []ffmpeg.Input{in},
		Filter: graph + fmt.Sprintf(",trim=end_frame=%d,setpts=N/(%d*TB),fps=%d,setsar=1,format=yuv420p,"+
			"setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709[out]", count, fps, fps),
		Output: append([]string{"-map", "[out]", "-frames:v", fmt.Sprint(count)},
			append(encoder(f.Quality, b.still, f.rate()), "-f", "mp4", file)...),
		Progress: func(done int) { f.report(10 + 85*(before+min(done*f.Quality.every(), b.frames))/f.frames) },
	})
	if err == nil && report.Frames < count {
		err = unreadable(StagePicture, b.about, errors.New("it has no frames"))
	}
	return file, err
}

// leveled returns the filter that gives a part the loudness of the bumpers, if they have sound. Otherwise, the loudness
// of the whole decides.
func (m mix) leveled(loudness float64) string {
	if !m.intro.sound && !m.outro.sound || loudness <= ffmpeg.Silent {
		return ""
	}
	return fmt.Sprintf(",volume=%.2fdB", voiceLoudness-loudness)
}

// surround adds the sound of the bumpers to a mix with the output [mixed], and returns the output of all.
func (m mix) surround(job *ffmpeg.Job) string {
	if m.intro.frames+m.outro.frames == 0 {
		return "[mixed]"
	}
	order, rest, n := "", "[mixed]", 1
	if at := timeline.Time(m.hook).Seconds(); m.hook > 0 {
		order, rest, n = "[hook]", "[rest]", 2
		job.Filter += fmt.Sprintf(";[mixed]asplit[before][after];"+
			"[before]atrim=end=%[1]f,afade=t=out:st=%[2]f:d=0.05[hook];[after]atrim=start=%[1]f,asetpts=PTS-STARTPTS,"+
			"afade=d=0.05[rest]", at, at-0.05)
	}
	for _, b := range []bumper{m.intro, {}, m.outro} {
		switch label := "[" + b.name + "]"; {
		case b.name == "":
			order += rest
			continue
		case b.frames == 0:
			continue
		case b.sound:
			job.Filter += fmt.Sprintf(";[%d:a]%s,volume=%.2fdB,%s%s", len(job.Inputs), heardAt,
				voiceLoudness-b.loudness,
				b.ending(), label)
			job.Inputs = append(job.Inputs, b.Input)
			order += label
		default:
			job.Filter += fmt.Sprintf(";anullsrc=r=%d:cl=stereo,%s%s", sampleRate, b.ending(), label)
			order += label
		}
	}
	n += min(m.intro.frames, 1) + min(m.outro.frames, 1)
	job.Filter += fmt.Sprintf(";%sconcat=n=%d:v=0:a=1[all]", order, n)
	return "[all]"
}

// ending returns the filters that end a sound with the bumper, without a click.
func (b bumper) ending() string {
	const fade = 50 * time.Millisecond
	end := timeline.Time(b.frames)
	return fmt.Sprintf("apad,atrim=end=%.6f,afade=t=out:st=%.3f:d=%.3f", end.Seconds(), (end - fade).Seconds(),
		fade.Seconds())
}

// endCard is the time for which the end of a video shows its call to action: within the last sentence.
const endCard = 1600 * time.Millisecond

// ending returns the texts of the end card: the call to action, and the name of the brand or the shop. If a video
// has an outro, it has none.
func (f *videoRun) ending() (call, name string) {
	if f.outro.frames > 0 || f.Narration == "" {
		return "", ""
	}
	if f.Offer != nil {
		call, name = f.Offer.Action, f.Offer.Shop
	}
	if f.Brand != nil {
		name = cmp.Or(name, f.Brand.Name)
		call = cmp.Or(call, f.Brand.Call)
	}
	return call, name
}

// ends returns the time within a scene at which its texts end: with the end card, if it has one.
func (f *videoRun) ends(n, frames int) time.Duration {
	call, name := f.ending()
	if n < len(f.scenes)-1 || call+name == "" {
		return text.Always.To
	}
	length := timeline.Time(frames)
	return max(length-endCard, length/2)
}

// end draws the end card over the end of the last scene: the call to action in large letters on the main color, and the
// name below it.
func (f *videoRun) end(s *text.Script, n, frames int) error {
	call, name := f.ending()
	if n < len(f.scenes)-1 || call+name == "" {
		return nil
	}
	if call == "" {
		call, name = name, ""
	}
	k, safe := f.part(), f.safe()
	when := text.Span{From: f.ends(n, frames), To: text.Always.To}
	back := f.Brand.panel(f.Brand.color())
	width := float64(safe.Dx()) * k
	large := text.Box{Width: width, Height: 420 * k, MaxEm: 124 * k, MinEm: 40 * k, MaxLines: 3}
	b, err := f.fonts.Fit(call, f.Language, large)
	if unfit(err) {
		return nil
	}
	if err != nil {
		return ofText("/offer", err)
	}
	left, right := float64(safe.Min.X)*k, float64(safe.Max.X)*k
	top := float64(f.full().Y)*k*0.4 - b.Height/2
	s.Moving(text.Motion{Kind: text.Fades})
	s.Box(0, 0, float64(f.width), float64(f.height), 0, back, 0.94, when)
	s.Moving(f.Brand.moving(left, top, right, top+b.Height, b.RTL))
	s.Text(b, left, right, top, text.Center, canvas.On(back), when)
	s.Moving(text.Motion{Kind: text.Fades})
	defer s.Moving(text.Motion{})
	if name == "" {
		return nil
	}
	small, err := f.fonts.Fit(name, f.Language, text.Box{Width: width, Height: 160 * k, MaxEm: 60 * k, MinEm: 24 * k,
		MaxLines: 2})
	if unfit(err) {
		return nil
	}
	if err != nil {
		return ofText("/brand/name", err)
	}
	s.Text(small, left, right, top+b.Height+36*k, text.Center, f.Brand.accent(back, canvas.MinContrast), when)
	return nil
}
