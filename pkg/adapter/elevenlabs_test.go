package adapter_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/elevenlabs"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/testdata/providers/control"
	fake "github.com/content-automation/api/testdata/providers/elevenlabs"
	"github.com/content-automation/api/testdata/providers/sample"
)

const elevenlabsKey = "sk_0123456789abcdef"

// elevenlabsWorld is the provider before its fake.
type elevenlabsWorld struct {
	*elevenlabs.Provider
	control *control.Control
}

func newElevenLabsWorld(t *testing.T, with string) elevenlabsWorld {
	t.Helper()
	c := control.New()
	server := httptest.NewServer(fake.New(fake.Config{Control: c, Media: sample.Files, Key: elevenlabsKey}))
	t.Cleanup(server.Close)
	return elevenlabsWorld{control: c, Provider: elevenlabs.New(wire.Config{
		BaseURL: server.URL, HTTP: server.Client(),
		Key: func(context.Context) (string, error) { return with, nil },
	})}
}

func voice() provider.Request {
	return provider.Request{
		Kind: provider.KindVoice, Model: "eleven_flash_v2_5", ClientToken: "voice", Language: "pt-BR",
		Prompt: "Um bom dia para o café.",
	}
}

func track() provider.Request {
	return provider.Request{
		Kind: provider.KindMusic, Model: "music_v1", ClientToken: "track", Seconds: 30,
		Prompt: "A calm guitar", Lyrics: "La la la",
	}
}

func TestConformanceOfElevenLabs(t *testing.T) {
	w := newElevenLabsWorld(t, elevenlabsKey)
	submit := func(ctx context.Context, p provider.Provider) error {
		_, err := p.Submit(ctx, voice())
		return err
	}
	impatient := func(ctx context.Context, p provider.Provider) error {
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		return submit(ctx, p)
	}
	queue := func(f control.Fault) func(*testing.T) {
		return func(*testing.T) { w.control.Queue(fake.Name, control.Submit, f) }
	}
	providertest.Run(t, providertest.Suite{
		Provider:  w,
		Requests:  []provider.Request{voice(), track()},
		Immediate: true,
		Advance:   func(time.Duration) {},
		Faults: []providertest.Fault{
			{Name: "too many requests", Arrange: queue(control.Fault{Kind: control.RateLimited, Seconds: 7}),
				Call: submit, Want: provider.Transient},
			{Name: "an allowance that is used up for hours",
				Arrange: queue(control.Fault{Kind: control.RateLimited, Seconds: 7200}), Call: submit,
				Want: provider.Quota},
			{Name: "a server's error", Arrange: queue(control.Fault{Kind: control.ServerError, Status: 500}),
				Call: submit, Want: provider.Transient},
			{Name: "unavailability", Arrange: queue(control.Fault{Kind: control.ServerError}), Call: submit,
				Want: provider.Transient},
			{Name: "a time-out", Arrange: queue(control.Fault{Kind: control.Slow, Seconds: 60}), Call: impatient,
				Want: provider.UnknownOutcome},
			{Name: "garbage", Arrange: queue(control.Fault{Kind: control.Garbage}), Call: submit,
				Want: provider.UnknownOutcome},
			{Name: "a cut connection", Arrange: queue(control.Fault{Kind: control.Drop}), Call: submit,
				Want: provider.UnknownOutcome},
			{Name: "a lost answer", Arrange: queue(control.Fault{Kind: control.DropAfterAccept}), Call: submit,
				Want: provider.UnknownOutcome},
			{Name: "refused content", Arrange: queue(control.Fault{Kind: control.JobFailed}), Call: submit,
				Want: provider.BadInput},
		},
	})
}

func TestWaitsAsLongAsTheProviderAsks(t *testing.T) {
	w := newElevenLabsWorld(t, elevenlabsKey)
	w.control.Queue(fake.Name, control.Submit, control.Fault{Kind: control.RateLimited, Seconds: 7})
	_, err := w.Submit(t.Context(), voice())
	var e *provider.Error
	if !errors.As(err, &e) || e.RetryAfter != 7*time.Second {
		t.Errorf("got %+v, want to wait for 7 s", err)
	}
}

// Each model of the catalog must be of use as the catalog describes it.
func TestEveryModelOfTheCatalogIsTaken(t *testing.T) {
	w := newElevenLabsWorld(t, elevenlabsKey)
	models := catalog.Models(catalog.Filter{Provider: elevenlabs.Name})
	if len(models) == 0 {
		t.Fatal("the catalog has none")
	}
	for _, m := range models {
		if m.Kind != provider.KindVoice || m.Capabilities.MaxCharacters < 5_000 ||
			m.ProviderOptions[elevenlabs.OptionVoice] == "" {
			t.Errorf("%s: kind %s, %d characters, options %v", m.ID, m.Kind, m.Capabilities.MaxCharacters,
				m.ProviderOptions)
		}
		for _, language := range append([]string{"", "en-GB", "zh-Hant-TW", "nb-NO", "nn", "cmn-CN", "arb"},
			m.Capabilities.Languages...) {
			req := provider.Request{
				Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions, ClientToken: m.ID + language,
				Prompt: "Speak to me", Language: language,
			}
			if _, err := w.Submit(t.Context(), req); err != nil {
				t.Errorf("%s in %q: %v", m.ID, language, err)
			}
		}
		long := provider.Request{Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions,
			Prompt: strings.Repeat("я", m.Capabilities.MaxCharacters)}
		if _, err := w.Submit(t.Context(), long); err != nil {
			t.Errorf("%s: as long as it may be: %v", m.ID, err)
		}
		long.Prompt += "я"
		if _, err := w.Submit(t.Context(), long); provider.KindOf(err) != provider.BadInput {
			t.Errorf("%s: longer than it may be: %v", m.ID, err)
		}
	}
}

func TestWhatIsSentOfElevenLabs(t *testing.T) {
	w := newElevenLabsWorld(t, elevenlabsKey)
	for name, c := range map[string]struct {
		change func(*provider.Request)
		want   map[string]any
	}{
		"a language": {func(r *provider.Request) {}, map[string]any{"language_code": "pt"}},
		"Norwegian": {func(r *provider.Request) { r.Language = "nb-NO" },
			map[string]any{"language_code": "no"}},
		"Filipino":    {func(r *provider.Request) { r.Language = "tl" }, map[string]any{"language_code": "fil"}},
		"no language": {func(r *provider.Request) { r.Language = "" }, map[string]any{"language_code": nil}},
		"what a model hears": {func(r *provider.Request) { r.Model = "eleven_multilingual_v2" },
			map[string]any{"language_code": nil}},
		"a track": {func(r *provider.Request) { *r = track() }, map[string]any{"music_length_ms": 30000.0,
			"prompt": "A calm guitar\n\nLyrics:\nLa la la", "seed": nil}},
		"a track of any length": {func(r *provider.Request) { *r = track(); r.Seconds = 0; r.Lyrics = "" },
			map[string]any{"music_length_ms": nil, "prompt": "A calm guitar"}},
	} {
		w.control.Reset()
		req := voice()
		c.change(&req)
		if _, err := w.Submit(t.Context(), req); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sent := w.control.Accepted()[0].Input
		for member, want := range c.want {
			if sent[member] != want {
				t.Errorf("%s: %s is %v, want %v", name, member, sent[member], want)
			}
		}
	}
}

func TestARepeatHasTheSameSeed(t *testing.T) {
	w := newElevenLabsWorld(t, elevenlabsKey)
	for _, token := range []string{"one", "one", "two"} {
		req := voice()
		req.ClientToken = token
		if _, err := w.Submit(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	var seeds []any
	for _, a := range w.control.Accepted() {
		seeds = append(seeds, a.Input["seed"])
	}
	if len(seeds) != 3 || seeds[0] != seeds[1] || seeds[1] == seeds[2] {
		t.Errorf("seeds %v", seeds)
	}
}

func TestRefusedBeforeItIsSent(t *testing.T) {
	w := newElevenLabsWorld(t, elevenlabsKey)
	for name, change := range map[string]func(*provider.Request){
		"a voice that is a path":   func(r *provider.Request) { r.Voice = "../music" },
		"a language that is none":  func(r *provider.Request) { r.Language = "!" },
		"too long a text":          func(r *provider.Request) { r.Prompt = strings.Repeat("x", 40_001) },
		"too short a track":        func(r *provider.Request) { *r = track(); r.Seconds = 2 },
		"too long a track":         func(r *provider.Request) { *r = track(); r.Seconds = 601 },
		"too long lyrics":          func(r *provider.Request) { *r = track(); r.Lyrics = strings.Repeat("x", 4100) },
		"what it does not make":    func(r *provider.Request) { r.Kind = provider.KindVideo },
		"speech to speak after it": func(r *provider.Request) { r.AudioURL = "https://example.test/a.mp3" },
	} {
		req := voice()
		change(&req)
		if _, err := w.Submit(t.Context(), req); provider.KindOf(err) != provider.BadInput {
			t.Errorf("%s: got %v, want bad input", name, err)
		}
	}
	if n := len(w.control.Accepted()); n != 0 {
		t.Errorf("%d requests were accepted", n)
	}
}

// The provider's errors, as in its reference and its help pages.
func TestRefusalsOfElevenLabs(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		kind   provider.ErrorKind
		code   string
	}{
		"no such voice": {404, `{"detail":{"status":"voice_not_found","message":"m"}}`, provider.BadInput,
			"unknown_voice"},
		"too long": {400, `{"detail":{"status":"max_character_limit_exceeded","message":"m"}}`,
			provider.BadInput, "text_too_long"},
		"a bad prompt": {400, `{"detail":{"status":"bad_prompt","message":"m","data":{"prompt_suggestion":"x"}}}`,
			provider.BadInput, "content_policy"},
		"another 400": {400, `{"detail":{"status":"model_not_found","message":"m"}}`, provider.BadInput, ""},
		"a wrong member": {422, `{"detail":[{"type":"missing","loc":["body","text"],"msg":"m"}]}`,
			provider.BadInput, ""},
		"a bad key":          {401, `{"detail":{"status":"invalid_api_key","message":"m"}}`, provider.Quota, ""},
		"a key that may not": {403, `{"detail":{"status":"missing_permissions","message":"m"}}`, provider.Quota, ""},
		"no credit": {402, `{"detail":{"status":"payment_required","message":"m"}}`, provider.Quota,
			"provider_quota"},
		"an allowance": {401, `{"detail":{"status":"quota_exceeded","message":"m"}}`, provider.Quota,
			"provider_quota"},
		"too many at once": {429, `{"detail":{"status":"too_many_concurrent_requests","message":"m"}}`,
			provider.Transient, "provider_busy"},
		"a busy system": {429, `{"detail":{"status":"system_busy","message":"m"}}`, provider.Transient,
			"provider_busy"},
		"a text as a detail": {500, `{"detail":"Internal Server Error"}`, provider.Transient, ""},
		"no JSON":            {502, `<html>`, provider.Transient, ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		p := elevenlabs.New(wire.Config{BaseURL: server.URL,
			Key: func(context.Context) (string, error) { return elevenlabsKey, nil }})
		_, err := p.Submit(t.Context(), voice())
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != c.kind || c.code != "" && e.Code != c.code {
			t.Errorf("%s: got %v, want %s %s", name, err, c.kind, c.code)
		}
		server.Close()
	}
}

func TestNothingShowsTheKeyOfElevenLabs(t *testing.T) {
	const secret = "sk_very_secret"
	// A fake that knows another key, and one that answers with the request's body.
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "the key %s is none", r.Header.Get("Xi-Api-Key"))
	}))
	defer echo.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	providers := map[string]*elevenlabs.Provider{"refused": newElevenLabsWorld(t, secret).Provider}
	for name, url := range map[string]string{"repeated": echo.URL, "not there": gone.URL} {
		providers[name] = elevenlabs.New(wire.Config{BaseURL: url,
			Key: func(context.Context) (string, error) { return secret, nil }})
	}
	for name, p := range providers {
		_, err := p.Submit(t.Context(), voice())
		if err == nil {
			t.Fatalf("%s: accepted", name)
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Error("submit", "error", err, "provider", p)
		shown := fmt.Sprintf("%v %+v %#v %v %+v %s", err, err, err, p, p, log.String())
		if strings.Contains(shown, secret) {
			t.Errorf("%s: %s", name, shown)
		}
	}
}

func TestMarksSayWhenWordsAreSpoken(t *testing.T) {
	w := newElevenLabsWorld(t, elevenlabsKey)
	req := voice()
	req.Marks = true
	submission, err := w.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	each := provider.SpokenLength(req.Prompt) / time.Duration(utf8.RuneCountInString(req.Prompt))
	want := []provider.Mark{{Offset: 0}, {Offset: 3, At: 3 * each}, {Offset: 7, At: 7 * each},
		{Offset: 11, At: 11 * each}, {Offset: 16, At: 16 * each}, {Offset: 18, At: 18 * each}}
	got := submission.Result.Marks
	if len(got) != len(want) || len(submission.Result.Media) != 1 {
		t.Fatalf("%+v", submission.Result)
	}
	for i, m := range want {
		if got[i].Offset != m.Offset || (got[i].At-m.At).Abs() > 2*time.Millisecond {
			t.Errorf("word %d: %+v, want %+v", i, got[i], m)
		}
	}
	req.Marks = false
	if submission, err = w.Submit(t.Context(), req); err != nil || submission.Result.Marks != nil {
		t.Errorf("not asked for: %+v, %v", submission, err)
	}
}

func TestTimesOfAnotherTextAreNone(t *testing.T) {
	spoken, err := fs.ReadFile(sample.Files, sample.VoiceMP3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answer string
		marks  int
		fails  bool
	}{
		"the text":          {`{"audio_base64":"AAAA","alignment":{"characters":["a"," ","b"],"character_start_times_seconds":[0,0.1,0.2]}}`, 2, false},
		"another text":      {`{"audio_base64":"AAAA","alignment":{"characters":["a"," ","c"],"character_start_times_seconds":[0,0.1,0.2]}}`, 0, false},
		"times are missing": {`{"audio_base64":"AAAA","alignment":{"characters":["a"," ","b"],"character_start_times_seconds":[0]}}`, 0, false},
		"no times":          {`{"audio_base64":"AAAA","alignment":null}`, 0, false},
		"no audio":          {`{"alignment":null}`, 0, true},
		"no object":         {`[]`, 0, true},
	} {
		answer := strings.Replace(c.answer, "AAAA", base64.StdEncoding.EncodeToString(spoken), 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(answer))
		}))
		p := elevenlabs.New(wire.Config{BaseURL: server.URL, HTTP: server.Client(),
			Key: func(context.Context) (string, error) { return elevenlabsKey, nil }})
		req := voice()
		req.Prompt, req.Marks = "a b", true
		got, err := p.Submit(t.Context(), req)
		server.Close()
		if (err != nil) != c.fails || err == nil && (len(got.Result.Media) != 1 || len(got.Result.Marks) != c.marks) {
			t.Errorf("%s: %+v, %v", name, got.Result, err)
		}
	}
}
