package providertest

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
)

// tolerance is the allowed deviation of a file's shape from the requested ratio: codecs need even numbers of pixels.
const tolerance = 0.02

// checkResult checks the result against the request, and returns the content of its files.
func checkResult(t *testing.T, req provider.Request, p provider.Provider, result provider.Result) [][]byte {
	t.Helper()
	if req.Form != nil {
		if !json.Valid(result.Object) || result.Text != nil || len(result.Media) > 0 {
			t.Errorf("got %+v, want an object alone", result)
		}
		return nil
	}
	if req.Kind == provider.KindText {
		checkText(t, req, result)
		return nil
	}
	if result.Text != nil {
		t.Errorf("%s came with text: %+v", req.Kind, result.Text)
	}
	if want := max(req.Count, 1); len(result.Media) != want {
		t.Fatalf("made %d files, want %d", len(result.Media), want)
	}
	ratio := req.AspectRatio
	if ratios := p.Capabilities().Kinds[req.Kind].AspectRatios; ratio == "" && len(ratios) > 0 {
		ratio = ratios[0]
	}
	var contents [][]byte
	for i, f := range result.Media {
		content := read(t, f)
		contents = append(contents, content)
		info, err := probe.Bytes(content)
		if err != nil {
			t.Errorf("file %d: %v", i, err)
			continue
		}
		if want := typeOf(req.Kind); info.Type != want {
			t.Errorf("file %d is %s, want %s", i, info.MIMEType, want)
		}
		if (info.Type == media.Audio || info.Type == media.Video) && info.Duration <= 0 {
			t.Errorf("file %d plays %v", i, info.Duration)
		}
		if (info.Type == media.Image || info.Type == media.Video) && ratio != "" {
			if got, want := float64(info.Width)/float64(info.Height),
				parseRatio(t, ratio); math.Abs(got/want-1) > tolerance {
				t.Errorf("file %d is %d x %d, want %s", i, info.Width, info.Height, ratio)
			}
		}
	}
	return contents
}

func checkText(t *testing.T, req provider.Request, result provider.Result) {
	t.Helper()
	if result.Text == nil || len(result.Media) > 0 {
		t.Fatalf("got %+v, want text alone", result)
	}
	text := *result.Text
	written := append([]string{text.Title}, text.Hooks...)
	for _, slide := range text.Slides {
		written = append(written, slide.Heading, slide.Visual, slide.Alt)
	}
	for _, picture := range text.Pictures {
		written = append(written, picture.Visual, picture.Alt)
	}
	for _, line := range written {
		if strings.TrimSpace(line) == "" || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%q is no line", line)
		}
	}
	if strings.TrimSpace(text.Caption) == "" {
		t.Error("the caption is empty")
	}
	if len(text.Slides) != req.Slides {
		t.Errorf("%d slides, want %d", len(text.Slides), req.Slides)
	}
	if len(text.Hooks) != 3 || text.Hook < 1 || text.Hook > 3 {
		t.Errorf("the hook is number %d of %q", text.Hook, text.Hooks)
	}
	if len(text.Pictures) != req.Pictures || req.Pictures > 0 && text.Style == "" {
		t.Errorf("%d pictures in the style %q, want %d", len(text.Pictures), text.Style, req.Pictures)
	}
	if n := len([]rune(text.Script())); (n > 0) != (req.ScriptSeconds > 0) ||
		n > provider.MaxScript(req.ScriptSeconds) {
		t.Errorf("a script of %d characters for %d s", n, req.ScriptSeconds)
	}
	if req.ScriptSeconds > 0 && len(text.Scenes) != max(req.Scenes, 1) {
		t.Errorf("%d scenes, want %d", len(text.Scenes), req.Scenes)
	}
	for _, s := range text.Scenes {
		if s.Text == "" || s.Visual == "" {
			t.Errorf("the scene %+v is not complete", s)
		}
	}
	for _, tag := range text.Hashtags {
		if tag == "" || strings.ContainsAny(tag, "# ") || strings.ContainsFunc(tag, unicode.IsControl) {
			t.Errorf("%q is no hashtag", tag)
		}
	}
}

func read(t *testing.T, f provider.File) []byte {
	t.Helper()
	r, err := f.Open(t.Context())
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return content
}

func typeOf(kind provider.Kind) media.Type {
	switch kind {
	case provider.KindImage:
		return media.Image
	case provider.KindVideo, provider.KindAvatar:
		return media.Video
	default:
		return media.Audio
	}
}

func parseRatio(t *testing.T, ratio string) float64 {
	t.Helper()
	w, h, _ := strings.Cut(ratio, ":")
	width, err1 := strconv.ParseFloat(w, 64)
	height, err2 := strconv.ParseFloat(h, 64)
	if err1 != nil || err2 != nil || height == 0 {
		t.Fatalf("%q is no aspect ratio", ratio)
	}
	return width / height
}
