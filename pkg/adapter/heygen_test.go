// Package adapter_test has the tests of the packages below that name none of their internals.
package adapter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/heygen"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/testdata/providers/control"
	fake "github.com/content-automation/api/testdata/providers/heygen"
	"github.com/content-automation/api/testdata/providers/sample"
)

const key = "hg_0123456789abcdef"

// world is the provider before its fake.
type world struct {
	*heygen.Provider
	*apitest.Clock
	control *control.Control
}

func newWorld(t *testing.T, with string) world {
	t.Helper()
	w := world{control: control.New(), Clock: apitest.NewClock()}
	server := httptest.NewServer(fake.New(fake.Config{Control: w.control, Media: sample.Files, Now: w.Now,
		Took: time.Minute, Key: key}))
	t.Cleanup(server.Close)
	w.Provider = heygen.New(wire.Config{
		BaseURL: server.URL, HTTP: server.Client(), Now: w.Now,
		Files: wire.NewFiles(safehttp.Options{AllowLoopback: true}),
		Key:   func(context.Context) (string, error) { return with, nil },
	})
	return w
}

func request(token string) provider.Request {
	return provider.Request{
		Kind: provider.KindAvatar, Model: "v3", ClientToken: token, Prompt: "Good morning.", Language: "en-GB",
		Options: map[string]string{heygen.OptionAvatar: "Angela-inTshirt-20220820",
			heygen.OptionVoice: "1bd001e7e50f421d891986aad5158bc8", heygen.OptionResolution: "1080p"},
	}
}

func TestConformance(t *testing.T) {
	w := newWorld(t, key)
	wide := request("wide")
	wide.AspectRatio, wide.Avatar, wide.Voice = "16:9", "Daisy-inskirt-20220818", "2d5b0e6cf36f460aa7fc47e3eee4ba54"
	picture := request("picture")
	picture.ImageURL, picture.Options = "https://example.test/a.png",
		map[string]string{heygen.OptionVoice: "1bd001e7e50f421d891986aad5158bc8"}
	audio := request("audio")
	audio.Prompt, audio.AudioURL = "", "https://example.test/a.mp3"

	queue := func(operation string, f control.Fault) func(*testing.T) {
		return func(*testing.T) {
			w.control.Reset() // net/http repeats a question on a new connection, or does not
			w.control.Queue(fake.Name, operation, f)
		}
	}
	submitted := 0
	submit := func(ctx context.Context, p provider.Provider) error {
		submitted++ // a video is found by its token
		_, err := p.Submit(ctx, request(fmt.Sprint("fault-", submitted)))
		return err
	}
	// The calls that come after a submission.
	then := func(call func(context.Context, provider.Handle) error) func(context.Context, provider.Provider) error {
		return func(ctx context.Context, p provider.Provider) error {
			s, err := p.Submit(ctx, request("fault"))
			if err != nil {
				return err
			}
			w.Add(time.Minute)
			return call(ctx, s.Handle)
		}
	}
	poll := then(func(ctx context.Context, h provider.Handle) error { _, err := w.Poll(ctx, h); return err })
	fetch := then(func(ctx context.Context, h provider.Handle) error { _, err := w.Fetch(ctx, h); return err })
	open := func(late time.Duration) func(context.Context, provider.Provider) error {
		return then(func(ctx context.Context, h provider.Handle) error {
			r, err := w.Fetch(ctx, h)
			if err != nil {
				return fmt.Errorf("fetch: %v", err)
			}
			w.Add(late)
			_, err = r.Media[0].Open(ctx)
			return err
		})
	}
	// The calls of somebody who does not wait.
	impatientSubmit := func(ctx context.Context, p provider.Provider) error {
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		return submit(ctx, p)
	}
	impatientPoll := then(func(ctx context.Context, h provider.Handle) error {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		_, err := w.Poll(ctx, h)
		return err
	})
	failed := then(func(ctx context.Context, h provider.Handle) error {
		s, err := w.Poll(ctx, h)
		if err != nil || s.State != provider.Failed {
			return fmt.Errorf("polled %+v, %v", s, err)
		}
		_, err = w.Fetch(ctx, h)
		return err
	})

	limited := control.Fault{Kind: control.RateLimited, Seconds: 7}
	slow := control.Fault{Kind: control.Slow, Seconds: 60}
	providertest.Run(t, providertest.Suite{
		Provider: w.Provider,
		Requests: []provider.Request{request("script"), wide, picture, audio},
		Advance:  w.Add,
		Faults: []providertest.Fault{
			{Name: "too many requests", Arrange: queue(control.Submit, limited), Call: submit,
				Want: provider.Transient},
			{Name: "too many questions", Arrange: queue(control.Status, limited), Call: poll, Want: provider.Transient},
			{Name: "unavailability", Arrange: queue(control.Submit, control.Fault{Kind: control.ServerError}),
				Call: submit, Want: provider.Transient},
			{Name: "an error when asked", Arrange: queue(control.Status,
				control.Fault{Kind: control.ServerError, Status: 500}), Call: fetch, Want: provider.Transient},
			{Name: "a time-out", Arrange: queue(control.Submit, slow), Call: impatientSubmit,
				Want: provider.UnknownOutcome},
			{Name: "a time-out when asked", Arrange: queue(control.Status, slow), Call: impatientPoll,
				Want: provider.Transient},
			{Name: "garbage when asked", Arrange: queue(control.Status, control.Fault{Kind: control.Garbage}),
				Call: poll, Want: provider.Transient},
			{Name: "a cut connection", Arrange: queue(control.Submit, control.Fault{Kind: control.Drop}), Call: submit,
				Want: provider.UnknownOutcome},
			{Name: "a cut connection when asked",
				Arrange: queue(control.Status, control.Fault{Kind: control.Drop, Times: 2}), Call: poll,
				Want: provider.Transient},
			{Name: "a failed video", Arrange: queue(control.Submit, control.Fault{Kind: control.JobFailed}),
				Call: failed, Want: provider.Rejected},
			{Name: "a file that is gone", Arrange: queue(control.Media, control.Fault{Kind: control.ResultExpired}),
				Call: open(0), Want: provider.Transient},
			{Name: "an address that has ended", Arrange: func(*testing.T) {}, Call: open(fake.AddressTime),
				Want: provider.Transient},
			{Name: "a video that nobody knows", Arrange: func(*testing.T) {}, Want: provider.BadInput,
				Call: func(ctx context.Context, p provider.Provider) error {
					_,
						err := p.Poll(ctx, "video:v_0")
					return err
				}},
			{Name: "a video that is not done", Arrange: func(*testing.T) {}, Want: provider.Transient,
				Call: func(ctx context.Context, p provider.Provider) error {
					s, err := p.Submit(ctx, request("early"))
					if err != nil {
						return err
					}
					_, err = p.Fetch(ctx, s.Handle)
					return err
				}},
		},
	})
}

// The provider takes no idempotency key here: the video of a lost answer is found by its title.
func TestALostAnswerIsFoundByItsTitle(t *testing.T) {
	w := newWorld(t, key)
	for range 2 { // others
		if _, err := w.Submit(t.Context(), request("token-1-longer")); err != nil {
			t.Fatal(err)
		}
	}
	for n, kind := range []control.Kind{control.DropAfterAccept, control.Garbage} {
		token := []string{"token-1", "token-0"}[n]
		w.control.Queue(fake.Name, control.Submit, control.Fault{Kind: kind})
		s, err := w.Submit(t.Context(), request(token))
		if err != nil {
			t.Fatal(kind, err)
		}
		made := w.control.Accepted()
		if len(made) != 3+n || string(s.Handle) != "video:"+made[2+n].ID {
			t.Errorf("of %+v, the handle is %s", made, s.Handle)
		}
		w.Add(time.Minute)
		if r, err := w.Fetch(t.Context(), s.Handle); err != nil || len(r.Media) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	// A search that fails, and a video that is not listed, leave the outcome unknown.
	w.control.Queue(fake.Name, control.Submit, control.Fault{Kind: control.DropAfterAccept})
	w.control.Queue(fake.Name, control.Status, control.Fault{Kind: control.ServerError})
	if _, err := w.Submit(t.Context(), request("token-2")); provider.KindOf(err) != provider.UnknownOutcome {
		t.Error(err)
	}
	w.control.Queue(fake.Name, control.Submit, control.Fault{Kind: control.Drop})
	if _, err := w.Submit(t.Context(), request("token-3")); provider.KindOf(err) != provider.UnknownOutcome {
		t.Error(err)
	}
}

func TestAnAddressThatHasEndedIsReplaced(t *testing.T) {
	w := newWorld(t, key)
	s, err := w.Submit(t.Context(), request("a"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.Add(2 * fake.AddressTime)
		result, err := w.Fetch(t.Context(), s.Handle)
		if err != nil {
			t.Fatal(err)
		}
		r, err := result.Media[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheModelOfTheCatalogIsTaken(t *testing.T) {
	w := newWorld(t, key)
	models := catalog.Models(catalog.Filter{Provider: heygen.Name})
	if len(models) == 0 {
		t.Fatal("the catalog has none")
	}
	for _, m := range models {
		c := w.Capabilities().Kinds[m.Kind]
		if !reflect.DeepEqual(m.Capabilities.AspectRatios, c.AspectRatios) || m.Capabilities.FromImage != c.FromImage ||
			m.Capabilities.FromAudio != c.FromAudio ||
			m.Capabilities.Resolution != m.ProviderOptions[heygen.OptionResolution] {
			t.Errorf("%s: %+v, but the provider does %+v", m.ID, m.Capabilities, c)
		}
		for _, ratio := range append([]string{""}, m.Capabilities.AspectRatios...) {
			for _, audio := range []string{"", "https://example.test/a.mp3"} {
				for _, language := range []string{"", "de", "pt-BR", "es-419", "zh-Hant-TW"} {
					req := provider.Request{Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions,
						Prompt: "Hello", AspectRatio: ratio, AudioURL: audio, Language: language}
					if _, err := w.Submit(t.Context(), req); err != nil {
						t.Errorf("%s of %q in %q: %v", m.ID, ratio, language, err)
					}
				}
			}
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	w := newWorld(t, key)
	for name, c := range map[string]struct {
		change func(*provider.Request)
		want   map[string]any
	}{
		"the defaults": {func(r *provider.Request) {}, map[string]any{
			"type": "avatar", "title": "t", "avatar_id": "Angela-inTshirt-20220820",
			"voice_id": "1bd001e7e50f421d891986aad5158bc8",
			"script":   "Good morning.", "voice_settings": map[string]any{"locale": "en-GB"}, "aspect_ratio": "9:16",
			"resolution": "1080p",
		}},
		"a language without a region": {func(r *provider.Request) { r.Language = "de" },
			map[string]any{"voice_settings": nil}},
		"speech": {func(r *provider.Request) { r.AudioURL = "https://example.test/a.mp3" }, map[string]any{
			"audio_url": "https://example.test/a.mp3", "script": nil, "voice_id": nil, "voice_settings": nil,
		}},
		"a picture": {func(r *provider.Request) { r.ImageURL = "https://example.test/a.png" }, map[string]any{
			"type": "image", "image": map[string]any{"type": "url", "url": "https://example.test/a.png"},
			"avatar_id": nil,
		}},
	} {
		w.control.Reset()
		req := request("t")
		c.change(&req)
		if _, err := w.Submit(t.Context(), req); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sent := w.control.Accepted()[0].Input
		for member, want := range c.want {
			if !reflect.DeepEqual(sent[member], want) {
				t.Errorf("%s: %s is %v, want %v", name, member, sent[member], want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*provider.Request)
		code   string
	}{
		"no avatar": {func(r *provider.Request) { r.Options = map[string]string{heygen.OptionVoice: "x"} },
			"unknown_avatar"},
		"no voice": {func(r *provider.Request) { r.Options = map[string]string{heygen.OptionAvatar: "x"} },
			"unknown_voice"},
		"no such avatar":       {func(r *provider.Request) { r.Avatar = "Nobody" }, "unknown_avatar"},
		"no such voice":        {func(r *provider.Request) { r.Voice = "nobody" }, "unknown_voice"},
		"a language of none":   {func(r *provider.Request) { r.Language = "!" }, "invalid_input"},
		"what nobody can read": {func(r *provider.Request) { r.AudioURL = "http://example.test/a.mp3" }, ""},
	} {
		req := request("t")
		c.change(&req)
		_, err := newWorld(t, key).Submit(t.Context(), req)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.BadInput || c.code != "" && e.Code != c.code {
			t.Errorf("%s: got %v, want bad input, %s", name, err, c.code)
		}
	}
}

// The codes of the provider's list of errors.
func TestCodes(t *testing.T) {
	for code, c := range map[string]struct {
		status int
		kind   provider.ErrorKind
	}{
		"unauthorized":           {401, provider.Quota},
		"forbidden":              {403, provider.Quota},
		"resource_access_denied": {403, provider.BadInput},
		"insufficient_credit":    {402, provider.Quota},
		"quota_exceeded":         {429, provider.Quota},
		"rate_limit_exceeded":    {429, provider.Transient},
		"invalid_parameter":      {400, provider.BadInput},
		"content_moderation":     {400, provider.BadInput},
		"avatar_not_found":       {404, provider.BadInput},
		"internal_error":         {500, provider.Transient},
	} {
		p := answering(t, c.status, `{"error":{"code":"`+code+`","message":"m","param":null,"doc_url":null}}`)
		_, err := p.Submit(t.Context(), request("t"))
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != c.kind {
			t.Errorf("%s: got %v, want %s", code, err, c.kind)
		}
	}
}

// Answers that are JSON and say nothing.
func TestAnswersThatLackSomething(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		call func(*heygen.Provider) error
		kind provider.ErrorKind
	}{
		"no id":           {`{"data":{}}`, submit, provider.UnknownOutcome},
		"an id of others": {`{"data":{"video_id":"../x"}}`, submit, provider.UnknownOutcome},
		"no state":        {`{"data":{}}`, fetch, provider.Transient},
		"no such state":   {`{"data":{"status":"thinking"}}`, fetch, provider.Transient},
		"no address":      {`{"data":{"status":"completed"}}`, fetch, provider.Transient},
		"what offends": {`{"data":{"status":"failed","failure_code":"MODERATION_FAILED"}}`, fetch,
			provider.Rejected},
	} {
		if err := c.call(answering(t, 200, c.body)); provider.KindOf(err) != c.kind || err == nil {
			t.Errorf("%s: got %v, want %s", name, err, c.kind)
		}
	}
}

func submit(p *heygen.Provider) error {
	_, err := p.Submit(context.Background(), request("t"))
	return err
}

func fetch(p *heygen.Provider) error {
	_, err := p.Fetch(context.Background(), "video:v_1")
	return err
}

// An address within the network that the service runs in is not read.
func TestResultsAreFetchedFromOutsideOnly(t *testing.T) {
	p := answering(t, 200, `{"data":{"status":"completed","video_url":"http://169.254.169.254/latest/meta-data"}}`)
	result, err := p.Fetch(t.Context(), "video:v_1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Media[0].Open(t.Context()); provider.KindOf(err) != provider.Rejected {
		t.Errorf("got %v, want it rejected", err)
	}
}

// answering is the provider before a server that always answers the same.
func answering(t *testing.T, status int, body string) *heygen.Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return heygen.New(wire.Config{BaseURL: server.URL, Key: func(context.Context) (string, error) { return key, nil }})
}

func TestNothingShowsTheKey(t *testing.T) {
	const secret = "hg_very_secret"
	// A fake that knows another key, and one that answers with the request's body.
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "the key %s is none", r.Header.Get("X-Api-Key"))
	}))
	defer echo.Close()
	repeated := heygen.New(wire.Config{BaseURL: echo.URL,
		Key: func(context.Context) (string, error) { return secret, nil }})
	for name, p := range map[string]*heygen.Provider{"refused": newWorld(t, secret).Provider, "repeated": repeated} {
		for _, err := range []error{submit(p), fetch(p)} {
			if err == nil {
				t.Fatalf("%s: accepted", name)
			}
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Error("call", "error", err, "provider", p)
			shown := fmt.Sprintf("%v %+v %#v %v %+v %s", err, err, err, p, p, log.String())
			if strings.Contains(shown, secret) {
				t.Errorf("%s: %s", name, shown)
			}
		}
	}
}
