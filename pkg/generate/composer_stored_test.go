package generate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/color"
	"image/jpeg"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/probe"
)

// tools is where `make media-tools` installs.
var tools = filepath.Join("..", "..", ".tools", "media")

// shelf holds stored files.
type shelf struct {
	files map[string][]byte
	err   error
}

func (s *shelf) Open(_ context.Context, key string) (io.ReadCloser, error) {
	if s.err != nil {
		return nil, s.err
	}
	content, ok := s.files[key]
	if !ok {
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (s *shelf) put(t *testing.T, key string, content []byte) *media.File {
	t.Helper()
	info, err := probe.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	s.files[key] = content
	return &media.File{Key: key, Type: info.Type, Bytes: int64(len(content)), Width: info.Width, Height: info.Height,
		DurationSeconds: info.Seconds()}
}

// generated stores a generation of the sandbox.
func (s *shelf) generated(t *testing.T, key string, req provider.Request) *media.File {
	t.Helper()
	p := sandbox.New(time.Now)
	sub, err := p.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.Fetch(t.Context(), sub.Handle)
	if err != nil {
		t.Fatal(err)
	}
	body, err := result.Media[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return s.put(t, key, content)
}

func newComposer(t *testing.T) (*composer.Composer, *shelf) {
	t.Helper()
	dir, err := composer.Scratch(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, err := compose.New(compose.Settings{FFmpeg: filepath.Join(tools, "ffmpeg"), Fonts: filepath.Join(tools, "fonts"),
		Scratch: dir, Threads: 2})
	if err != nil {
		t.Fatalf("%v (make media-tools installs what is missing)", err)
	}
	s := &shelf{files: map[string][]byte{}}
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	})
	return &composer.Composer{Engine: e, Objects: s, Dir: dir}, s
}

// kept is a file that was saved.
type kept struct {
	role    media.Role
	content []byte
	// thumbnail is that of the file, or nil.
	thumbnail []byte
}

func run(t *testing.T, c *composer.Composer, what generate.Composition) ([]kept, error) {
	t.Helper()
	var all []kept
	keep := func(f media.File, body io.Reader, thumbnail []byte) error {
		content, err := io.ReadAll(body)
		all = append(all, kept{f.Role, content, thumbnail})
		return err
	}
	err := c.Compose(t.Context(), what, generate.Origin{Test: true}, func(int) {}, keep)
	return all, err
}

// decoded has ffprobe decode every frame of a file, and returns its size and length.
func decoded(t *testing.T, content []byte) (width, height int, length time.Duration) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(tools, "ffprobe"), "-v", "error", "-err_detect",
		"explode", "-count_frames",
		"-select_streams", "v", "-show_entries", "stream=width,height,nb_read_frames", "-of", "csv=p=0",
		path).CombinedOutput()
	var frames int
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := fmt.Sscanf(strings.ReplaceAll(string(out), ",", " "), "%d %d %d", &width, &height,
		&frames); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const perSecond = 10 // of drafts
	return width, height, time.Duration(frames) * time.Second / perSecond
}

// The sandbox's results can be composed: every kind, as a draft, of the requested length.
func TestEveryKindIsComposedOfWhatTheSandboxMakes(t *testing.T) {
	c, s := newComposer(t)
	picture := s.generated(t, "picture", provider.Request{Kind: provider.KindImage, Prompt: "nets",
		AspectRatio: "9:16"})
	clip := s.generated(t, "clip", provider.Request{Kind: provider.KindVideo, Prompt: "nets",
		AspectRatio: "9:16", Seconds: 5})
	script := "Our shoe is made of nets that were lost at sea. Divers pull them out."
	voice := s.generated(t, "voice", provider.Request{Kind: provider.KindVoice, Prompt: script})
	track := s.generated(t, "track", provider.Request{Kind: provider.KindMusic, Prompt: "waves", Seconds: 16})
	brand := &generate.Brand{Name: "Acme", Logo: s.put(t, "logo", sample.Logo(color.RGBA{255, 255, 255, 255})),
		Color: "#0a7cff"}
	spoken := time.Duration(voice.DurationSeconds * float64(time.Second))
	half := len(script) / 2
	for name, want := range map[string]struct {
		what          generate.Composition
		roles         []media.Role
		width, height int
		plays         time.Duration
	}{
		"post": {generate.Picture{Use: generate.Post, File: picture, Brand: brand}, []media.Role{media.Final},
			1080, 1350, 0},
		"story": {generate.Picture{Use: generate.Story, File: picture, Text: "New today", Language: "en"},
			[]media.Role{media.Final}, 1080, 1920, 0},
		"carousel": {
			generate.Carousel{Slides: []generate.Slide{{File: picture, Heading: "One"},
				{File: picture, Heading: "Two"}}, Language: "en", Brand: brand},
			[]media.Role{media.Final, media.Final}, 1080, 1350, 0,
		},
		"story clip": {
			generate.Video{Format: generate.Portrait,
				Scenes: []generate.Scene{{Clip: clip, Length: 5 * time.Second}}},
			[]media.Role{media.Final, media.Poster}, 1080, 1920, 5 * time.Second,
		},
		"clip with an intro": {
			generate.Video{Format: generate.Portrait, Intro: s.clip(t), Outro: picture,
				Scenes: []generate.Scene{{Clip: clip, Length: 5 * time.Second}}},
			[]media.Role{media.Final, media.Poster}, 1080, 1920, 9 * time.Second,
		},
		"video": {
			generate.Video{
				Format: generate.Portrait, Narration: voice, Music: track, Language: "en", Captions: true,
				Fade: true, Brand: brand,
				Scenes: []generate.Scene{{Text: script[:half], Clip: clip}, {Text: script[half:], Picture: picture}},
			},
			[]media.Role{media.Final, media.Poster, media.Subtitles}, 1080, 1920, spoken + time.Second,
		},
		"music clip": {
			generate.MusicClip{Track: track, Cover: picture, Length: 15 * time.Second, Title: "Sea song",
				Language: "en"},
			[]media.Role{media.Final, media.Poster}, 1080, 1920, 15 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := run(t, c, want.what)
			if err != nil {
				t.Fatal(err)
			}
			var roles []media.Role
			for _, f := range files {
				roles = append(roles, f.role)
			}
			if !slices.Equal(roles, want.roles) {
				t.Fatalf("it made %v, not %v", roles, want.roles)
			}
			width, height, plays := decoded(t, files[0].content)
			if want.plays == 0 {
				plays = 0 // a picture
			}
			for _, f := range files {
				f.checkThumbnail(t, want.width, want.height)
			}
			if width != want.width || height != want.height || (plays-want.plays).Abs() > 200*time.Millisecond {
				t.Errorf("it made %d x %d, playing %v, not %v", width, height, plays, want.plays)
			}
		})
	}
}

// checkThumbnail compares the size of the thumbnail with that of what it shows. Captions have none.
func (f kept) checkThumbnail(t *testing.T, width, height int) {
	t.Helper()
	if f.role == media.Subtitles {
		if f.thumbnail != nil {
			t.Error("captions have a thumbnail")
		}
		return
	}
	small, err := jpeg.DecodeConfig(bytes.NewReader(f.thumbnail))
	if high := height * 400 / width; err != nil || small.Width != 400 || (small.Height-high)/2 != 0 {
		t.Errorf("the thumbnail of %q has %d x %d pixels, not 400 x %d: %v", f.role, small.Width, small.Height, high, err)
	}
}

// A video of the caller's own has no poster: its thumbnail is its first frame.
func TestAVideoThatStaysAsItIsHasAThumbnail(t *testing.T) {
	c, s := newComposer(t)
	clip := s.clip(t)
	files, err := run(t, c, generate.UnchangedFiles{*clip, *s.put(t, "picture", sample.Picture(540, 960, 1))})
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		f.checkThumbnail(t, 9, 16)
	}
	// WebP of 800 x 1000 pixels in one color, without loss. It stays WebP.
	flat := []byte("RIFF\x18\x00\x00\x00WEBPVP8L\x0c\x00\x00\x00\x2f\x1f\xc3\xf9\x00\x28\x60\x41\x0a\xd4\xff\x00")
	if files, err = run(t, c, generate.UnchangedFiles{*s.put(t, "flat", flat)}); err != nil || len(files) != 1 {
		t.Fatalf("%d files of WebP, %v", len(files), err)
	}
	files[0].checkThumbnail(t, 4, 5)
	if files, err = run(t, c, generate.UnchangedFiles{*s.put(t, "small", sample.Picture(400, 400, 1))}); err != nil ||
		files[0].thumbnail != nil {
		t.Errorf("a small picture has a thumbnail of %d bytes, %v", len(files[0].thumbnail), err)
	}
	broken := s.put(t, "broken", bytes.Clone(s.files[clip.Key]))
	at := bytes.Index(s.files["broken"], []byte("mdat"))
	clear(s.files["broken"][at+4 : at+4+min(4096, len(s.files["broken"])-at-4)])
	if files, err = run(t, c, generate.UnchangedFiles{*broken}); err != nil || len(files) != 1 || files[0].thumbnail !=
		nil {
		t.Errorf("a video whose frame cannot be read: %d files, %v", len(files), err)
	}
}

func TestHowStoredCompositionsFail(t *testing.T) {
	c, s := newComposer(t)
	picture := s.put(t, "picture", sample.Picture(540, 960, 1))
	silence := s.put(t, "silence", sample.Tone(16*time.Second, 0))
	text := *picture
	text.Key = "text"
	s.files["text"] = []byte("no picture at all")
	gone := *picture
	gone.Key = "gone"
	large := *picture
	large.Bytes = 2 << 30
	for name, test := range map[string]struct {
		what generate.Composition
		code provider.FailureCode
	}{
		"no picture": {generate.Picture{Use: generate.Post, File: &text}, provider.FailedInputUnreadable},
		"removed":    {generate.Picture{Use: generate.Post, File: &gone}, provider.FailedInputUnreadable},
		"too large":  {generate.Picture{Use: generate.Post, File: &large}, provider.FailedInputTooLarge},
		"a silent track": {generate.MusicClip{Track: silence, Cover: picture, Length: 15 * time.Second},
			provider.FailedInputSilent},
		"no font": {generate.Picture{Use: generate.Story, File: picture, Text: "ⴰⵣⵓⵍ ⴰⵎⴰⴹⴰⵍ",
			Language: "zgh"}, provider.FailedScript},
		"a long heading": {generate.Picture{Use: generate.Story, File: picture,
			Text: strings.Repeat("word ", 400), Language: "en"}, provider.FailedTextTooLong},
		"a logo of text": {generate.Picture{Use: generate.Post, File: picture,
			Brand: &generate.Brand{Logo: &text}}, provider.FailedInputUnreadable},
		"nothing to see": {generate.Video{Format: generate.Portrait}, provider.FailedInput},
		"a short clip": {generate.Video{Format: generate.Portrait,
			Scenes: []generate.Scene{{Clip: s.clip(t), Length: 9 * time.Second}}}, provider.FailedInputTooShort},
		"another's format": {generate.Video{Format: "round",
			Scenes: []generate.Scene{{Picture: picture, Length: time.Second}}}, provider.FailedInput},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := run(t, c, test.what)
			var e *provider.Error
			if !errors.As(err, &e) || provider.FailureCode(e.Code) != test.code || e.Message == "" || len(files) > 0 {
				t.Errorf("got %v, with %d files", err, len(files))
			}
			if e != nil && provider.FailureOf(test.code).Kind != e.Kind {
				t.Errorf("the kind is %v", e.Kind)
			}
		})
	}
	intro := generate.Video{Format: generate.Portrait, Intro: &gone,
		Scenes: []generate.Scene{{Picture: picture, Length: time.Second}}}
	var named *provider.Error
	if _, err := run(t, c, intro); !errors.As(err, &named) || named.Part != "gone" ||
		!strings.HasPrefix(named.Message, "The intro that the factory had") {
		t.Errorf("an intro that was removed: %v", err)
	}
	// A bucket that does not answer is no failure of the composition.
	s.err = errs.New(errs.ProviderUnavailable, "The file could not be read.")
	var e *provider.Error
	if _, err := run(t, c, generate.Picture{Use: generate.Post, File: picture}); err == nil ||
		errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

// clip stores a clip of two seconds.
func (s *shelf) clip(t *testing.T) *media.File {
	t.Helper()
	return s.generated(t, "short", provider.Request{Kind: provider.KindVideo, Prompt: "nets",
		AspectRatio: "9:16", Seconds: 2})
}

func TestCancelingEndsTheProgram(t *testing.T) {
	c, s := newComposer(t)
	picture := s.put(t, "picture", sample.Picture(540, 960, 1))
	ctx, cancel := context.WithCancel(t.Context())
	long := generate.Video{Format: generate.Portrait,
		Scenes: []generate.Scene{{Picture: picture, Length: 5 * time.Minute}}}
	reached := 0
	err := c.Compose(ctx, long, generate.Origin{}, func(percent int) {
		reached = percent
		if percent > 10 {
			cancel()
		}
	}, func(media.File, io.Reader, []byte) error { return errors.New("it was composed") })
	if !errors.Is(err, context.Canceled) || reached <= 10 {
		t.Fatalf("got %v", err)
	}
	if reached > 50 {
		t.Errorf("it was canceled, and ended at %d %%", reached)
	}
}

func TestScratchRemovesWhatTheKilledLeave(t *testing.T) {
	dir := t.TempDir()
	dead := exec.CommandContext(t.Context(), "true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "composer-"+strconv.Itoa(dead.ProcessState.Pid()))
	alive := filepath.Join(dir, "composer-"+strconv.Itoa(os.Getppid()))
	for _, folder := range []string{left, alive} {
		if err := os.MkdirAll(filepath.Join(folder, "parts"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own, err := composer.Scratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed process left is there: %v", err)
	}
	for _, folder := range []string{alive, own} {
		if _, err := os.Stat(folder); err != nil {
			t.Error(err)
		}
	}
}
