package compose

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
)

// A PNG may say that it has more pixels than memory has bytes.
func bomb(t *testing.T) []byte {
	t.Helper()
	var out strings.Builder
	if err := png.Encode(&out, image.NewPaletted(image.Rect(0, 0, 12_000, 12_000),
		color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return []byte(out.String())
}

func TestBadInputsAreNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	song, good := b.part("song.wav", sample.Track(2*time.Second)), b.picture(0)
	whole := pictures()[1]
	scene := []Scene{{Text: "One.", Picture: good}}
	for name, c := range map[string]struct {
		work  Work
		code  Code
		about string
	}{
		"a logo that is a song": {Carousel{Slides: []Slide{{Path: good, Heading: "One"}}, Brand: &Brand{Logo: song}},
			CodeUnreadable, "/brand/logo"},
		"a logo that is a song (video)": {Video{Format: Portrait, Quality: Draft, Narration: song, Scenes: scene,
			Brand: &Brand{Logo: song}}, CodeUnreadable, "/brand/logo"},
		"a slide that is half a file": {Carousel{Slides: []Slide{{Path: good, Heading: "One"},
			{Path: b.part("half.jpg", whole[:40]), Heading: "Two"}}}, CodeUnreadable, "/slides/1"},
		"a picture of noise": {Picture{Use: Post,
			Path: b.part("noise.png", append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 3000)...))},
			CodeUnreadable, "/path"},
		"a picture that is text": {Picture{Use: Post, Path: b.part("text.jpg", []byte("no picture"))},
			CodeUnreadable, "/path"},
		"a picture of too many pixels": {Picture{Use: Post, Path: b.part("bomb.png", bomb(t))}, CodeTooLarge, "/path"},
		"a clip that is a picture": {Video{Format: Portrait, Quality: Draft,
			Scenes: []Scene{{Clip: good, Length: time.Second}}}, CodeUnreadable, "/scenes/0/clip"},
		"a playlist": {Video{Format: Portrait, Quality: Draft,
			Scenes: []Scene{{Clip: b.part("list.mp4", []byte("#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1:1/a.ts\n")),
				Length: time.Second}}}, CodeUnreadable, "/scenes/0/clip"},
		"a narration that is a picture": {Video{Format: Portrait, Quality: Draft, Narration: good, Scenes: scene},
			CodeUnreadable, "/narration"},
		"music that is a picture": {Video{Format: Portrait, Quality: Draft, Narration: song, Music: good,
			Scenes: scene}, CodeUnreadable, "/music"},
		"an empty file": {Picture{Use: Post, Path: b.part("empty", nil)}, CodeUnreadable, "/path"},
		"a file that is missing": {Picture{Use: Post, Path: filepath.Join(b.dir, "none")},
			CodeInternal, "/path"},
		"a heading without a font": {Carousel{Slides: []Slide{{Path: good, Heading: "বাংলা ভাষা"}}}, CodeScript, "/slides/0"},
		"a heading that is a novel": {Carousel{Slides: []Slide{{Path: good, Heading: strings.Repeat("word ", 1000)}}},
			CodeTextTooLong, "/slides/0"},
		"a script without a font": {Video{Format: Portrait, Quality: Draft, Narration: song, Captions: true,
			Scenes: []Scene{{Text: "বাংলা ভাষা", Picture: good}}}, CodeScript, "/scenes"},
	} {
		if e := b.fails(c.work); e.Code != c.code || e.About != c.about || e.Stage == "" || e.Message == "" {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestACompositionEndsWhenItIsCanceled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	out := t.TempDir()
	w := Video{Format: Portrait, Quality: Full, Scenes: []Scene{{Picture: b.picture(0), Length: 40 * time.Second}}}
	// It is canceled in the middle of encoding: progress moves only then.
	_, err := b.Compose(ctx, w, out, func(percent int) {
		if percent > 10 {
			cancel()
		}
	})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeCanceled || !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	for _, dir := range []string{out, b.scratch} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
}

func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	for _, name := range []string{"compose-123/mix.wav", "other/kept"} {
		path := filepath.Join(scratch, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(Settings{FFmpeg: filepath.Join(tools, "ffmpeg"), Fonts: filepath.Join(tools, "fonts"),
		Scratch: scratch}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("%v is left, %v", left, err)
	}
	for _, s := range []Settings{{FFmpeg: "/nonesuch", Fonts: filepath.Join(tools, "fonts")},
		{FFmpeg: filepath.Join(tools, "ffmpeg"), Fonts: scratch}} {
		if _, err := New(s); err == nil {
			t.Errorf("%+v makes an engine", s)
		}
	}
}

func TestInputsOfEveryFormatAreRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := func(name string, args ...string) string {
		path := filepath.Join(b.dir, name)
		b.ffmpeg(append(args, path)...)
		return path
	}
	picture := b.picture(0)
	voice := b.part("voice.wav", sample.Voice(1500*time.Millisecond))
	moving := []string{"-f", "lavfi", "-i", "testsrc2=s=180x320:r=25:d=1.2", "-pix_fmt", "yuv420p"}
	pictures := []string{picture, made("a.webp", "-i", picture, "-vf", "scale=180:-2"),
		made("rgba.png", "-i", picture, "-vf", "scale=180:-2", "-pix_fmt", "rgba"),
		made("gray16.png", "-i", picture, "-vf", "scale=180:-2", "-pix_fmt", "gray16be")}
	clips := []string{
		made("hevc.mp4", append(moving, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error")...),
		made("vp9.mp4", append(moving, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8")...),
		made("mpeg4.mp4", append(moving, "-c:v", "mpeg4")...),
	}
	for _, narration := range []string{voice, made("voice.mp3", "-i", voice),
		made("voice24.wav", "-i", voice, "-c:a", "pcm_s24le", "-ar", "44100", "-ac", "2")} {
		v := Video{Format: Portrait, Quality: Draft, scale: small, Narration: narration, Language: "en"}
		for _, p := range pictures {
			v.Scenes = append(v.Scenes, Scene{Text: "One.", Picture: p})
		}
		for _, c := range clips {
			v.Scenes = append(v.Scenes, Scene{Text: "One.", Clip: c})
		}
		if f := b.compose(v).Files[0]; f.Duration != time.Duration(len(v.Scenes))*time.Second {
			t.Errorf("%d scenes of a second play %v", len(v.Scenes), f.Duration)
		}
		pictures, clips = []string{picture, picture, picture}, nil // the others have been read
	}
}
