package sketch

import (
	"context"
	"errors"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/probe"
)

// tools is where `make media-tools` installs.
var tools = filepath.Join("..", "..", "..", "..", ".tools", "media")

// write writes a part into a folder of its own.
func write(t *testing.T, content []byte, err error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part")
	if err = errors.Join(err, os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// parts are what compositions are made of.
type parts struct{ picture, clip, voice, track, text string }

func newParts(t *testing.T) parts {
	scene := sandbox.Scene{Width: 720, Height: 1280, Seed: 1}
	picture, err1 := sandbox.JPEG(scene)
	clip, err2 := sandbox.MP4(scene, 5*time.Second, false)
	voice, err3 := sandbox.MP3(1, 6500*time.Millisecond)
	track, err4 := sandbox.MP3(2, 16*time.Second)
	return parts{write(t, picture, err1), write(t, clip, err2), write(t, voice, err3), write(t, track, err4),
		write(t, []byte("no picture at all"), nil)}
}

func composed(t *testing.T, e composer.Engine, w compose.Work) ([]compose.File, error) {
	t.Helper()
	var last int
	made, err := e.Compose(t.Context(), w, t.TempDir(), func(percent int) { last = percent })
	if err == nil && last != 100 {
		t.Errorf("the progress ends at %d", last)
	}
	return made.Files, err
}

// Sketches have the same roles, types, sizes and lengths as what ffmpeg composes of the same parts.
func TestSketchesAreLikeRealCompositions(t *testing.T) {
	p := newParts(t)
	const script = "Our shoe is made of nets that were lost at sea. Divers pull them out, and spin them into yarn."
	scenes := []compose.Scene{{Text: script[:48], Clip: p.clip}, {Text: script[48:], Picture: p.picture}}
	brand := &compose.Brand{Name: "Acme", Logo: write(t, sample.Logo(color.RGBA{255, 255, 255, 255}), nil),
		Colors: []canvas.Color{{R: 10, G: 124, B: 255}}}
	works := map[string]compose.Work{
		"post":     compose.Picture{Use: compose.Post, Path: p.picture, Brand: brand},
		"product":  compose.Picture{Use: compose.Post, Path: p.picture, Whole: true},
		"story":    compose.Picture{Use: compose.Story, Path: p.picture, Text: "New today", Language: "en"},
		"carousel": compose.Carousel{Slides: []compose.Slide{{Path: p.picture, Heading: "One"}, {Path: p.picture}}},
		"video": compose.Video{Format: compose.Portrait, Quality: compose.Draft, Narration: p.voice, Music: p.track,
			Language: "en", Captions: true, Brand: brand, Scenes: scenes},
		"longer video": compose.Video{Format: compose.Portrait, Quality: compose.Draft, Narration: p.voice, Language: "en",
			Length: 12 * time.Second, Scenes: scenes},
		"shorter video": compose.Video{Format: compose.Portrait, Quality: compose.Draft, Narration: p.voice,
			Language: "en", Length: 6 * time.Second, Scenes: scenes},
		"video with intro": compose.Video{Format: compose.Portrait, Quality: compose.Draft, Narration: p.voice,
			Language: "en", Scenes: scenes, Intro: compose.Bumper{Clip: p.clip},
			Outro: compose.Bumper{Picture: p.picture}},
		"wide video": compose.Video{Format: compose.Landscape, Quality: compose.Draft, Narration: p.voice,
			Language: "en", Scenes: scenes},
		"story clip": compose.Video{Format: compose.Portrait, Quality: compose.Draft,
			Scenes: []compose.Scene{{Clip: p.clip, Length: 5 * time.Second}}},
		"music clip": compose.MusicClip{Track: p.track, Cover: p.picture, Length: 15 * time.Second, Title: "Sea song",
			Language: "en", Quality: compose.Draft},
	}
	want := realCompositions(t, works)
	for name, w := range works {
		t.Run(name, func(t *testing.T) {
			files, err := composed(t, Engine{}, w)
			if err != nil {
				t.Fatal(err)
			}
			var got []fact
			for _, f := range files {
				info := probed(t, f)
				if f.Width != info.Width || f.Height != info.Height || f.Type != info.Type ||
					f.MIMEType != info.MIMEType {
					t.Errorf("the file %+v is %+v", f, info)
				}
				got = append(got, factOf(f, info))
				decoded(t, f)
			}
			checkLike(t, "it", got, want[name])
		})
	}
}

func probed(t *testing.T, f compose.File) probe.Info {
	t.Helper()
	content, err := os.ReadFile(f.Path)
	if err != nil || int64(len(content)) != f.Bytes {
		t.Fatal(len(content), f.Bytes, err)
	}
	info, err := probe.Bytes(content)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// decoded has ffmpeg decode a whole file.
func decoded(t *testing.T, f compose.File) {
	t.Helper()
	if f.Type == media.Captions {
		return
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(tools, "ffmpeg"), "-v", "error", "-xerror",
		"-err_detect", "explode", "-i", f.Path, "-f", "null", "-").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// A sketch of the same parts is the same, and differs with the parts.
func TestSketchesAreDeterministic(t *testing.T) {
	p := newParts(t)
	of := func(picture string) string {
		files, err := composed(t, Engine{}, compose.Video{Format: compose.Portrait, Quality: compose.Full,
			Scenes: []compose.Scene{{Picture: picture, Length: 2 * time.Second}}})
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(files[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	other := write(t, sample.Picture(540, 960, 2), nil)
	first := of(p.picture)
	if again := of(p.picture); again != first {
		t.Error("the same parts give other content")
	}
	if of(other) == first {
		t.Error("other parts give the same content")
	}
}

func TestHowSketchesFail(t *testing.T) {
	p := newParts(t)
	video := func(s compose.Scene) compose.Video {
		return compose.Video{Format: compose.Portrait, Quality: compose.Draft, Scenes: []compose.Scene{s}}
	}
	voiced := video(compose.Scene{Text: "Hello", Picture: p.picture})
	voiced.Narration = p.picture
	scored := video(compose.Scene{Picture: p.picture, Length: time.Second})
	scored.Music = p.text
	for name, c := range map[string]struct {
		work  compose.Work
		code  compose.Code
		about string
	}{
		"no picture": {compose.Picture{Use: compose.Post, Path: p.text}, compose.CodeUnreadable, "/path"},
		"no slide": {compose.Carousel{Slides: []compose.Slide{{Path: p.picture}, {Path: p.track}}},
			compose.CodeUnreadable, "/slides/1"},
		"no voice":     {voiced, compose.CodeUnreadable, "/narration"},
		"no music":     {scored, compose.CodeUnreadable, "/music"},
		"no scene":     {compose.Video{Format: compose.Portrait}, compose.CodeInvalid, "/scenes"},
		"no clip":      {video(compose.Scene{Clip: p.picture, Length: time.Second}), compose.CodeUnreadable, "/scenes/0/clip"},
		"a short clip": {video(compose.Scene{Clip: p.clip, Length: 9 * time.Second}), compose.CodeTooShort, "/scenes/0/clip"},
		"a long video": {video(compose.Scene{Picture: p.picture, Length: 11 * time.Minute}), compose.CodeTooLarge,
			"/narration"},
		"no cover":      {compose.MusicClip{Track: p.track, Cover: p.text, Length: minMusic}, compose.CodeUnreadable, "/cover"},
		"a short track": {compose.MusicClip{Track: p.voice, Cover: p.picture, Length: minMusic}, compose.CodeTooShort, "/track"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := composed(t, Engine{}, c.work)
			var e *compose.Error
			if !errors.As(err, &e) || e.Code != c.code || e.About != c.about || e.Message == "" {
				t.Errorf("got %v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Engine{}).Compose(ctx, compose.Picture{Use: compose.Post, Path: p.picture}, t.TempDir(),
		func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
}

func TestLinesOfCaptions(t *testing.T) {
	long := strings.Repeat("海", widest+5)
	for text, want := range map[string][]string{
		"":               nil,
		" Hello,  sea. ": {"Hello,  sea."},
		"Divers pull them out, and spin them into yarn.": {"Divers pull them out, and spin them into", "yarn."},
		long: {long[:3*widest], long[3*widest:]},
	} {
		var got []string
		for _, l := range lines(text) {
			got = append(got, text[l.from:l.to])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
