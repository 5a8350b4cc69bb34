package compose

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// MusicClip describes a video of a track: its cover, and a waveform that moves with it.
type MusicClip struct {
	Track, Cover string // paths
	// Length is the longest time that it plays. The track is faded out.
	Length time.Duration
	// Title is written under the cover. It may be empty.
	Title    string
	Language string // of the title (BCP 47)
	Brand    *Brand
	// Notice is drawn at the top. It may be empty.
	Notice  string
	Quality Quality
}

// The bounds of a music clip.
const (
	minMusic = 15 * time.Second
	maxMusic = 60 * time.Second
)

// waveLoudness is the loudness from which the waveform is drawn, in LUFS: loud, so that it is high.
const waveLoudness = -8

// The positions of the parts.
var (
	coverAt = image.Rect(150, 300, 930, 1080)
	waveAt  = image.Rect(150, 1130, 930, 1270)
	titleAt = image.Rect(110, 1295, 950, 1470)
)

func (m MusicClip) check() error {
	switch {
	case m.Quality != Full && m.Quality != Draft:
		return invalid("/quality", "The quality must be full or draft.")
	case m.Length < minMusic || m.Length > maxMusic:
		return invalid("/length", "A music clip plays from %v to %v.", minMusic, maxMusic)
	}
	return nil
}

func (m MusicClip) compose(ctx context.Context, r *run) error {
	track, err := r.open(ctx, m.Track, "/track", media.Audio)
	if err != nil {
		return err
	}
	heard, err := r.listen(ctx, track)
	if err != nil {
		return err
	}
	// A header may claim a little more than there is.
	if heard.length < minMusic-200*time.Millisecond {
		return &Error{Code: CodeTooShort, Stage: StageSound, About: "/track",
			Message: fmt.Sprintf("The track plays %v. A music clip takes at least %v.",
				heard.length.Round(100*time.Millisecond), minMusic)}
	}
	frames := timeline.Frames(min(m.Length, max(heard.length, minMusic)))
	frames -= frames % m.Quality.every()
	back, err := m.backdrop(ctx, r)
	if err != nil {
		return err
	}
	r.report(5)
	if err := r.sound(ctx, mix{music: &track, heardMusic: heard, frames: frames, quality: m.Quality}); err != nil {
		return err
	}
	r.report(15)
	if err := m.encode(ctx, r, back, heard, frames); err != nil {
		return err
	}
	if err := r.mux(ctx, "mov", "picture.mp4"); err != nil {
		return err
	}
	size := image.Pt(1080, 1920)
	if err := r.deliver("final.mp4", File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4", Width: size.X,
		Height: size.Y, Duration: timeline.Time(frames)}); err != nil {
		return err
	}
	return r.poster(ctx, r.files[len(r.files)-1].Path, timeline.Time(frames)/3, size.X, size.Y)
}

// backdrop draws the static parts: the cover on its blurred copy, the title and the logo.
func (m MusicClip) backdrop(ctx context.Context, r *run) (*image.RGBA, error) {
	cover, err := r.canvas(ctx, m.Cover, "/cover", coverAt.Size())
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rect(0, 0, 1080, 1920))
	canvas.Backdrop(img, cover, 0.45)
	canvas.Scrim(img, image.Rect(0, waveAt.Min.Y, 1080, titleAt.Max.Y), 60, canvas.Black)
	canvas.Place(img, coverAt, cover)
	if m.Brand != nil {
		logo, err := r.logo(ctx, m.Brand.Logo)
		if err != nil {
			return nil, err
		}
		if logo != nil {
			canvas.Logo(img, logo, image.Rect(coverAt.Min.X, 165, coverAt.Min.X+252, 277), false, m.Brand.Colors)
		}
	}
	return img, nil
}

// encode encodes the picture: the backdrop, over which the waveform moves.
func (m MusicClip) encode(ctx context.Context, r *run, back *image.RGBA, heard heard, frames int) error {
	s := text.NewScript(1080, 1920)
	if err := r.notice(s, m.Notice, m.Language, noticeAt, 1); err != nil {
		return err
	}
	if m.Title != "" {
		b, err := r.fonts.Fit(m.Title, m.Language, text.Box{Width: float64(titleAt.Dx()), Height: float64(titleAt.Dy()),
			MaxEm: 72, MinEm: minEm, MaxLines: 3})
		if err != nil {
			return ofText("/title", err)
		}
		s.Text(b, float64(titleAt.Min.X), float64(titleAt.Max.X), float64(titleAt.Min.Y), text.Center,
			canvas.White, text.Always)
	}
	if err := r.write(StagePicture, "back.raw", back.Pix); err != nil {
		return err
	}
	draw, err := r.subtitles(StagePicture, "title", s)
	if err != nil {
		return err
	}
	wave := canvas.White
	if m.Brand != nil {
		// The ground is dark enough for white letters.
		wave = m.Brand.accent(canvas.Color{R: 118, G: 118, B: 118}, 2)
	}
	size, seconds, fps := waveAt.Size(), timeline.Time(frames).Seconds(), m.Quality.fps()
	count := frames / m.Quality.every()
	// Each bar is one widened column.
	const bar = 6
	filter := fmt.Sprintf("[0:v]format=rgb24,%s,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,"+
		"loop=loop=-1:size=1:start=0,trim=end_frame=%d,setpts=N/(%d*TB),fps=%d[back];[1:a]volume=%s,"+
		"showwaves=s=%dx%d:mode=cline:draw=full:scale=sqrt:rate=%d:colors=0x%02X%02X%02X,scale=%d:%d:flags=neighbor,"+
		"format=yuva420p[wave];[back][wave]overlay=x=%d:y=%d:format=yuv420:eof_action=repeat,setsar=1,"+
		"format=yuv420p[out]",
		draw, count, fps, fps,
		fmt.Sprintf("%.2fdB", waveLoudness-heard.Integrated), size.X/bar, size.Y, fps, wave.R, wave.G, wave.B,
		size.X, size.Y, waveAt.Min.X, waveAt.Min.Y)
	report, err := r.ffmpeg(ctx, StagePicture, "/cover", ffmpeg.Job{
		Inputs: []ffmpeg.Input{
			{Path: r.path("back.raw"), Format: "rawvideo", Options: []string{"-pixel_format", "rgb0", "-framerate",
				fmt.Sprint(fps), "-video_size", "1080x1920"}},
			{Path: r.path(mixFile), Format: "wav"},
		},
		Filter: filter,
		Output: append([]string{"-map", "[out]", "-frames:v", fmt.Sprint(count)},
			append(encoder(m.Quality, false, min(maxRate, int(maxFile*8/(seconds+1))-160_000)), "-f", "mp4",
				"picture.mp4")...),
		Progress: func(done int) { r.report(15 + 80*done/count) },
	})
	if err == nil && report.Frames < count {
		return internal(StagePicture, fmt.Errorf("%d of %d frames", report.Frames, count))
	}
	return err
}
