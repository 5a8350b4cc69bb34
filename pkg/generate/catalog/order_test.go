package catalog

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
)

func model(t *testing.T, id string) Model {
	t.Helper()
	m, ok := Find(id)
	if !ok {
		t.Fatalf("there is no model %s", id)
	}
	return m
}

func TestPriceOfRequests(t *testing.T) {
	type request = provider.Request
	for name, c := range map[string]struct {
		model string
		req   request
		want  int64
	}{
		"one picture":             {"flux-pro-1.1", request{Prompt: "A shoe"}, 4},
		"five pictures":           {"flux-pro-1.1", request{Prompt: "A shoe", Count: 5}, 20},
		"below a credit":          {"flux-schnell", request{Prompt: "A shoe"}, 1},
		"ten of them":             {"flux-schnell", request{Prompt: "A shoe", Count: 10}, 3},
		"a clip":                  {"kling-3-turbo-pro", request{Prompt: "A shoe", Seconds: 6}, 84},
		"a clip of usual length":  {"kling-3-turbo-pro", request{Prompt: "A shoe"}, 70},
		"a longer one than usual": {"veo-3.1", request{Prompt: "A shoe"}, 120},
		"a voice":                 {"eleven-multilingual-2", request{Prompt: strings.Repeat("ä", 1000)}, 8},
		"a short voice":           {"eleven-multilingual-2", request{Prompt: "ä"}, 1},
		"a track":                 {"stable-audio-2.5", request{Prompt: "calm", Seconds: 90}, 20},
		"music by the second":     {"ace-step", request{Prompt: "calm", Seconds: 101}, 3},
		"an avatar by its text":   {"heygen-avatar-4", request{Prompt: strings.Repeat("x", 121)}, 101},
		"an avatar by its speech": {"heygen-avatar-4", request{AudioURL: "https://example.com/a.mp3", Seconds: 1,
			SpeechLength: 7200 * time.Millisecond}, 72},
		"a text": {"claude-sonnet-5.5", request{Kind: provider.KindText, Prompt: "A shoe"}, 2},
	} {
		m := model(t, c.model)
		c.req.Kind = m.Kind
		if got, err := m.PriceOf(c.req); err != nil || (got != c.want && name != "a text") || got < 1 {
			t.Errorf("%s costs %d, %v; want %d", name, got, err, c.want)
		}
	}
	// A text that may be longer costs more.
	m := model(t, "claude-sonnet-5.5")
	short, _ := m.PriceOf(request{Kind: provider.KindText, Prompt: "A shoe"})
	long, _ := m.PriceOf(request{Kind: provider.KindText, Prompt: "A shoe", Slides: 10, ScriptSeconds: 60})
	if short >= long {
		t.Errorf("%d and %d", short, long)
	}
	if got, err := model(t, "heygen-avatar-4").PriceOf(request{AudioURL: "https://example.com/a.mp3",
		Seconds: 7}); err == nil {
		t.Errorf("a recording that was not measured costs %d", got)
	}
	if _, err := (Model{Kind: provider.KindMusic}).PriceOf(request{}); !errors.Is(err, ErrNoPrice) {
		t.Errorf("a model without a price: %v", err)
	}
}

func TestLength(t *testing.T) {
	for _, c := range []struct {
		model       string
		asked, want int
	}{
		{"veo-3.1", 0, 6}, {"veo-3.1", 4, 4}, {"veo-3.1", 5, 6}, {"veo-3.1", 60, 8}, {"kling-4", 31, 30}, {"ace-step", 0, 30},
		{"ace-step", 500, 240},
		{"kling-2.5-turbo-pro", 6, 10}, {"stable-audio-2.5", 190, 190}, {"ace-step", 2, 5}, {"minimax-music-2", 30, 0},
	} {
		if got := model(t, c.model).Length(c.asked); got != c.want {
			t.Errorf("%s makes %d s of %d, want %d", c.model, got, c.asked, c.want)
		}
	}
}

func TestCheckNamesTheMember(t *testing.T) {
	type request = provider.Request
	const url = "https://example.com/a"
	for name, c := range map[string]struct {
		model string
		req   request
		param string // empty: it is fine
	}{
		"fine":          {"flux-pro-1.1", request{Prompt: "x", AspectRatio: "9:16", Count: 4}, ""},
		"another ratio": {"flux-pro-1.1", request{Prompt: "x", AspectRatio: "7:1"}, "/input/aspect_ratio"},
		"no ratio to choose": {"kling-2.5-turbo-pro", request{Prompt: "x", ImageURL: url, AspectRatio: "16:9"},
			"/input/aspect_ratio"},
		"too many":           {"flux-pro-1.1", request{Prompt: "x", Count: 5}, "/input/count"},
		"no picture":         {"kling-2.5-turbo-pro", request{Prompt: "x"}, "/input/image_url"},
		"a picture too many": {"veo-3.1", request{Prompt: "x", ImageURL: url}, "/input/image_url"},
		"from a picture":     {"runway-gen-4.5", request{Prompt: "x", ImageURL: url, Seconds: 10}, ""},
		"another length":     {"veo-3.1", request{Prompt: "x", Seconds: 5}, "/input/duration_seconds"},
		"a negative length":  {"veo-3.1", request{Prompt: "x", Seconds: -4}, "/input/duration_seconds"},
		"too long a track":   {"stable-audio-2.5", request{Prompt: "x", Seconds: 191}, "/input/duration_seconds"},
		"too short a track":  {"ace-step", request{Prompt: "x", Seconds: 4}, "/input/duration_seconds"},
		"the shortest track": {"ace-step", request{Prompt: "x", Seconds: 5}, ""},
		"a song's length": {"minimax-music-2", request{Prompt: "A calm song", Lyrics: "la la la la la",
			Seconds: 30}, "/input/duration_seconds"},
		"a long prompt":      {"wan-2.5", request{Prompt: strings.Repeat("ü", 1501)}, "/input/prompt"},
		"the longest prompt": {"wan-2.5", request{Prompt: strings.Repeat("ü", 1500)}, ""},
		"two of one":         {"recraft-3", request{Prompt: "x", Count: 2}, "/input/count"},
		"short lyrics":       {"minimax-music-2", request{Prompt: "A calm song", Lyrics: "la la"}, "/input/lyrics"},
		"a short prompt": {"minimax-music-2", request{Prompt: "Calm", Lyrics: "la la la la la"},
			"/input/prompt"},
		"lyrics that fit":        {"minimax-music-2", request{Prompt: "A calm song", Lyrics: "la la la la la"}, ""},
		"one speaker":            {"multitalk-dialogue", request{Prompt: "Hello.\n ", ImageURL: url}, "/input/text"},
		"two speakers":           {"multitalk-dialogue", request{Prompt: "Hello.\nHi.", ImageURL: url}, ""},
		"no lyrics":              {"minimax-music-2", request{Prompt: "x"}, "/input/lyrics"},
		"lyrics too many":        {"stable-audio-2.5", request{Prompt: "x", Lyrics: "la"}, "/input/lyrics"},
		"too long a text":        {"eleven-3", request{Prompt: strings.Repeat("x", 5001)}, "/input/text"},
		"another language":       {"polly-long-form", request{Prompt: "x", Language: "de-AT"}, "/input/language"},
		"a region of a language": {"polly-long-form", request{Prompt: "x", Language: "en-GB"}, ""},
		"Bokmål":                 {"eleven-multilingual-2", request{Prompt: "x", Language: "nb-NO"}, "/input/language"},
		"Bokmål, as Norwegian":   {"eleven-3", request{Prompt: "x", Language: "nb-NO"}, ""},
		"Nynorsk, as Norwegian":  {"polly-neural", request{Prompt: "x", Language: "nn"}, ""},
		"Mandarin":               {"polly-neural", request{Prompt: "x", Language: "cmn-CN"}, ""},
		"Tagalog":                {"eleven-3", request{Prompt: "x", Language: "tl"}, ""},
		"three letters":          {"polly-long-form", request{Prompt: "x", Language: "eng"}, ""},
		"no language":            {"eleven-multilingual-2", request{Prompt: "x", Language: "en-!!"}, "/input/language"},
		"none of an avatar": {"heygen-avatar-4", request{Prompt: "x", ImageURL: url, Language: "%%%"},
			"/input/language"},
		"one of an avatar": {"heygen-avatar-4", request{Prompt: "x", ImageURL: url, Language: "de-AT"}, ""},
		"speech that is long": {"omnihuman-1.5", request{ImageURL: url, AudioURL: url, Seconds: 1,
			SpeechLength: 61 * time.Second}, "/input/audio_url"},
		"a text that is long": {"heygen-avatar-4", request{Prompt: strings.Repeat("x", 12*301), ImageURL: url},
			"/input/text"},
		"no speech": {"omnihuman-1.5", request{Prompt: "x", ImageURL: url}, "/input/audio_url"},
	} {
		m := model(t, c.model)
		c.req.Kind = m.Kind
		err := m.Check(c.req, "/input")
		var e *errs.Error
		if c.param == "" && err != nil || c.param != "" && (!errors.As(err, &e) || e.Param != c.param ||
			(e.Code != errs.ValidationFailed && name != "speech that is long")) {
			t.Errorf("%s: %v, want the param %q", name, err, c.param)
		}
	}
}
