package compose

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
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
		if o.input, err = open(b.Clip, about, media.Video); err != nil {
			return o, err
		}
		length = o.input.length
	case b.Picture != "":
		img, err := f.run.whole(ctx, b.Picture, about, image.Pt(f.width, f.height))
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
