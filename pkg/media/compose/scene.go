package compose

import (
	"context"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// encode encodes a scene with its captions, up to the end of the cross-fade into the next one, whose own file begins
// after it. It returns the file and its number of frames.
//
// Scenes are encoded one by one, so that memory does not grow with their number, and joined without encoding them
// again.
func (f *videoRun) encode(ctx context.Context, n int) (name string, frames int, err error) {
	s := f.scenes[n]
	frames = s.length - s.before/2 + s.after/2
	graph := f.prepare(0, s, s.before, frames) + "[v0]"
	in, err := f.source(ctx, n, s.before, frames)
	if err != nil {
		return "", 0, err
	}
	job := ffmpeg.Job{Inputs: []ffmpeg.Input{in}, Progress: func(done int) {
		f.report(10 + 85*(f.intro.frames+f.encoded+min(done*f.Quality.every(), frames))/f.frames)
	}}
	last := "[v0]"
	if s.after > 0 {
		next := f.scenes[n+1]
		in, err := f.source(ctx, n+1, 0, s.after)
		if err != nil {
			return "", 0, err
		}
		job.Inputs = append(job.Inputs, in)
		// The filter xfade would convert all frames to 4:4:4 and back.
		graph += ";" + f.prepare(1, next, 0, s.after) +
			fmt.Sprintf(",format=yuva420p,fade=t=in:s=0:n=%d:alpha=1,setpts=PTS+%d/(%d*TB)[v1]", s.after,
				frames-s.after, timeline.FPS)
		graph += ";[v0][v1]overlay=format=yuv420:eof_action=pass[v2]"
		last = "[v2]"
	}
	if f.logo != nil {
		job.Inputs = append(job.Inputs, ffmpeg.Input{Path: f.logo.path, Format: "png_pipe",
			Options: []string{"-framerate", fmt.Sprint(f.Quality.fps())}})
		graph += fmt.Sprintf(";%s[%d:v]overlay=x=%d:y=%d:format=yuv420:eof_action=repeat[v3]", last, len(job.Inputs)-1,
			f.logo.at.X, f.logo.at.Y)
		last = "[v3]"
	}
	script := text.NewScript(f.width, f.height)
	if err := f.end(script, n, frames); err != nil {
		return "", 0, err
	}
	f.script(script, f.encoded, frames)
	if err := f.notice(script, f.Notice, f.Language, f.area(), f.part()); err != nil {
		return "", 0, err
	}
	price, err := f.offer(script, n, frames)
	if err == nil {
		err = f.onScreen(script, n, frames, price)
	}
	if err != nil {
		return "", 0, err
	}
	captions, err := f.subtitles(StagePicture, fmt.Sprintf("captions%03d", n), script)
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
	return f.canvas(ctx, f.Scenes[n].Picture, f.scenes[n].about, size)
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

// script draws the captions within frames of the video, with times relative to the scene's own file.
func (f *videoRun) script(s *text.Script, begin, count int) {
	if !f.Captions {
		return
	}
	from, to := timeline.Time(begin), timeline.Time(begin+count)
	for _, c := range f.cues {
		if c.From < to && c.To > from {
			f.draw(s, c, text.Span{From: from, To: to})
		}
	}
}
