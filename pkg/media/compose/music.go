package compose

import (
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// MusicClip describes a video of a track: its cover, its title and artist, and bars that move with the music.
type MusicClip struct {
	Track, Cover string // paths
	// Length is the longest time that it plays. The track is faded out.
	Length time.Duration
	// Title and Artist are written under the cover. They may be empty: the name of the brand is the artist then.
	Title, Artist string
	Language      string // of the title (BCP 47)
	Brand         *Brand
	// Notice is drawn at the top. It may be empty.
	Notice  string
	Quality Quality
	// Frames makes a picture in place of the clip. It needs no track.
	Frames bool
}

// The bounds of a music clip.
const (
	minMusic = 15 * time.Second
	maxMusic = 60 * time.Second
)

// The positions of the parts. The logo is in the left upper corner of the cover.
var (
	coverAt = image.Rect(100, 190, 980, 1070)
	barsAt  = image.Rect(164, 1096, 916, 1236)
	titleAt = image.Rect(164, 1254, 916, 1440)
)

const artistEm = 46

// The size of the picture of the bars, in pixels: one for each bar, and one for each gap between two.
const (
	barsWide = 2*bands - 1
	barsHigh = 140
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
	if m.Frames {
		return m.still(ctx, r)
	}
	track, err := open(m.Track, "/track", media.Audio)
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
	if err := m.encode(ctx, r, back, frames); err != nil {
		return err
	}
	if err := r.mux(ctx, "mov", "picture.mp4"); err != nil {
		return err
	}
	size := image.Pt(wide, storyTall)
	if err := r.deliver("final.mp4", File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4", Width: size.X,
		Height: size.Y, Duration: timeline.Time(frames)}); err != nil {
		return err
	}
	return r.poster(ctx, r.files[len(r.files)-1].Path, timeline.Time(frames)/3, size.X, size.Y)
}

// colors returns the color of the ground, and that of the bars.
func (m MusicClip) colors() (ground, bars canvas.Color) {
	plate := m.Brand.look().Music
	ground = m.Brand.in(plate.Color)
	return ground, apart(ground, 2, m.Brand.in(plate.Accent), m.Brand.second(), m.Brand.color())
}

// backdrop draws the parts that do not move: the cover, large, and the logo.
func (m MusicClip) backdrop(ctx context.Context, r *run) (*image.RGBA, error) {
	at := coverAt
	if m.Notice != "" {
		at.Min.Y = below(image.Rect(noticeAt.Min.X, noticeAt.Min.Y, noticeAt.Max.X, at.Max.Y), m.Notice).Min.Y
		side := (at.Dx() - at.Dy()) / 2
		at.Min.X, at.Max.X = at.Min.X+side, at.Max.X-side
	}
	cover, err := r.canvas(ctx, m.Cover, "/cover", at.Size())
	if err != nil {
		return nil, err
	}
	ground, _ := m.colors()
	design := m.Brand.look()
	img := staged(image.Pt(wide, storyTall), storyTall, ground, design.Product.Decor,
		m.Brand.decorated(ground, canvas.On(ground)))
	canvas.Frame(img, at, min(design.Round, 64), cover)
	if m.Brand == nil {
		return img, nil
	}
	logo, err := r.logo(ctx, m.Brand.Logo)
	if err == nil && logo != nil {
		corner := at.Min.Add(image.Pt(28, max(28, SafePortrait.Min.Y-at.Min.Y)))
		canvas.Logo(img, logo, corner, canvas.After, cornerLogo, m.Brand.Colors)
	}
	return img, err
}

// words draws the title, and the artist below it.
func (m MusicClip) words(r *run, s *text.Script) error {
	ground, _ := m.colors()
	artist := m.Artist
	if artist == "" && m.Brand != nil {
		artist = m.Brand.Name
	}
	left, right, top := float64(titleAt.Min.X), float64(titleAt.Max.X), float64(titleAt.Min.Y)
	room := float64(titleAt.Dy())
	var name text.Block
	var err error
	if artist != "" {
		name, err = r.fonts.Fit(artist, m.Language, text.Box{Width: float64(titleAt.Dx()), Height: 70, MaxEm: artistEm,
			MinEm: minEm, MaxLines: 1})
		switch {
		case unfit(err):
			name = text.Block{}
		case err != nil:
			return ofText("/artist", err)
		}
		room -= name.Height
	}
	if m.Title != "" {
		size := float64(max(m.Brand.look().Music.Size, 60))
		b, err := r.fonts.Fit(m.Title, m.Language, text.Box{Width: float64(titleAt.Dx()), Height: room, MaxEm: size,
			MinEm: minEm, MaxLines: 3})
		if err != nil {
			return ofText("/title", err)
		}
		s.Text(b, left, right, top, text.Center, canvas.On(ground), text.Always)
		top += b.Height
	}
	if name.Height > 0 {
		s.Text(name, left, right, top, text.Center, m.Brand.accent(ground, canvas.MinContrast), text.Always)
	}
	return nil
}

// still delivers a picture of a moment of the clip, with bars as music has them.
func (m MusicClip) still(ctx context.Context, r *run) error {
	img, err := m.backdrop(ctx, r)
	if err != nil {
		return err
	}
	_, bars := m.colors()
	for n := range bands {
		at := bar(n, 0.25+0.75*math.Abs(math.Sin(float64(n*n)/9)))
		at.Min.X, at.Max.X = at.Min.X*barsAt.Dx()/barsWide, at.Max.X*barsAt.Dx()/barsWide
		canvas.Fill(img, at.Add(barsAt.Min), bars)
	}
	s, err := m.texts(r)
	if err != nil {
		return err
	}
	return r.deliverOne(ctx, "final", media.Final, img, s)
}

// texts draws the notice, the title and the artist.
func (m MusicClip) texts(r *run) (*text.Script, error) {
	s := text.NewScript(wide, storyTall)
	if err := r.notice(s, m.Notice, m.Language, noticeAt, 1); err != nil {
		return nil, err
	}
	return s, m.words(r, s)
}

// encode encodes the picture: the backdrop, over which the bars move.
func (m MusicClip) encode(ctx context.Context, r *run, back *image.RGBA, frames int) error {
	s, err := m.texts(r)
	if err != nil {
		return err
	}
	if err := r.write(StagePicture, "back.raw", back.Pix); err != nil {
		return err
	}
	draw, err := r.subtitles(StagePicture, "title", s)
	if err != nil {
		return err
	}
	sound, err := os.ReadFile(r.path(mixFile))
	if err != nil {
		return internal(StagePicture, err)
	}
	seconds, fps, count := timeline.Time(frames).Seconds(), m.Quality.fps(), frames/m.Quality.every()
	levels := spectrum(samplesOf(sound), fps, count)
	_, bars := m.colors()
	report, err := r.ffmpeg(ctx, StagePicture, "/cover", ffmpeg.Job{
		Inputs: []ffmpeg.Input{
			{Path: r.path("back.raw"), Format: "rawvideo", Options: []string{"-pixel_format", "rgb0", "-framerate",
				fmt.Sprint(fps), "-video_size", fmt.Sprintf("%dx%d", wide, storyTall)}},
			{Format: "rawvideo", Options: []string{"-pixel_format", "rgba", "-framerate", fmt.Sprint(fps),
				"-video_size", fmt.Sprintf("%dx%d", barsWide, barsHigh)},
				Feed: func(w io.Writer) error { return drawBars(w, levels, bars) }},
		},
		Filter: fmt.Sprintf("[0:v]format=rgb24,%s,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,"+
			"loop=loop=-1:size=1:start=0,trim=end_frame=%d,setpts=N/(%d*TB),fps=%d[back];"+
			"[1:v]scale=%d:%d:flags=neighbor:out_color_matrix=bt709:out_range=tv,format=yuva420p[bars];"+
			"[back][bars]overlay=x=%d:y=%d:format=yuv420:eof_action=repeat,setsar=1,format=yuv420p[out]",
			draw, count, fps, fps, barsAt.Dx(), barsAt.Dy(), barsAt.Min.X, barsAt.Min.Y),
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
