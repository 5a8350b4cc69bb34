package fal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/infra/verify/harness/providertest/faulttest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/fal"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/testdata/providers/control"
	fake "github.com/content-automation/api/testdata/providers/fal"
	"github.com/content-automation/api/testdata/providers/sample"
)

// start returns the provider with a fake of fal behind it.
func start(t *testing.T) (*fal.Provider, *control.Control, *apitest.Clock) {
	t.Helper()
	c, faults := apitest.NewClock(), control.New()
	server := httptest.NewServer(fake.New(faults, sample.File, c.Now, 20*time.Second))
	t.Cleanup(server.Close)
	// On a kept connection net/http itself would repeat a question that got no answer.
	return fal.New(wire.Config{
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, BaseURL: server.URL, Now: c.Now,
		Key:   func(context.Context) (string, error) { return "key", nil },
		Files: wire.NewFiles(safehttp.Options{AllowLoopback: true}),
	}), faults, c
}

// requestFor asks a model for something with all that it cannot do without.
func requestFor(m catalog.Model) provider.Request {
	r := provider.Request{
		Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions, ClientToken: m.ID,
		Prompt: "Morning coffee above the clouds.\nAnd then the sun comes up.", Language: "en-GB",
	}
	for _, input := range m.Capabilities.Requires {
		switch input {
		case catalog.InputImage:
			r.ImageURL = "https://media.example.com/a.png?signature=1"
		case catalog.InputAudio:
			r.AudioURL = "https://media.example.com/a.mp3?signature=1"
		case catalog.InputVideo:
			r.VideoURL = "https://media.example.com/a.mp4?signature=1"
		case catalog.InputLyrics:
			r.Lyrics = "[Verse]\nCoffee in the morning,\nclouds beneath my feet"
		}
	}
	if ratios := m.Capabilities.AspectRatios; len(ratios) > 0 {
		r.AspectRatio = ratios[0]
	}
	return r
}

// falModels are the models of the catalog that fal runs.
func falModels(t *testing.T) []catalog.Model {
	t.Helper()
	all := slices.DeleteFunc(catalog.Models(catalog.Filter{}),
		func(m catalog.Model) bool { return m.Provider != fal.Name })
	if len(all) < 30 {
		t.Fatalf("%d models", len(all))
	}
	return all
}

func TestConformance(t *testing.T) {
	p, faults, c := start(t)
	suite := providertest.Suite{Provider: p, Advance: c.Add}
	for _, m := range falModels(t) {
		suite.Requests = append(suite.Requests, requestFor(m))
	}
	image := provider.Request{Kind: provider.KindImage, Model: "fal-ai/flux/schnell", Prompt: "Sea",
		ClientToken: "several", Count: 4}
	suite.Requests = append(suite.Requests, image)
	image.Prompt, image.ClientToken = "Not fit [unsafe] for anybody", "unsafe"
	suite.Failing = append(suite.Failing, image, provider.Request{
		Kind: provider.KindVideo, Model: "fal-ai/veo3.1", Prompt: "Sea",
		ClientToken: "a length that Veo has not", Seconds: 5,
	})
	suite.Faults = faulttest.Async{
		Control: faults, Name: fake.Name, Advance: c.Add, Result: control.Result,
		Request: provider.Request{Kind: provider.KindImage, Model: "fal-ai/flux-pro/v1.1", Prompt: "Sea"},
	}.Faults()
	providertest.Run(t, suite)
}

// Whatever the catalog says that a model can do is taken by a strict fal.
func TestEveryModelOfTheCatalogIsTaken(t *testing.T) {
	p, faults, c := start(t)
	for _, m := range falModels(t) {
		can := m.Capabilities
		var requests []provider.Request
		vary := func(change func(*provider.Request)) {
			r := requestFor(m)
			change(&r)
			requests = append(requests, r)
		}
		for _, ratio := range append([]string{""}, can.AspectRatios...) {
			vary(func(r *provider.Request) { r.AspectRatio = ratio })
		}
		for _, seconds := range append([]int{can.MinSeconds, can.MaxSeconds}, can.Seconds...) {
			vary(func(r *provider.Request) { r.Seconds = seconds })
		}
		if can.MaxSeconds > 0 && len(can.Seconds) == 0 && can.MinSeconds == 0 && m.Kind == provider.KindMusic {
			vary(func(r *provider.Request) { r.Seconds = 1 })
		}
		for _, n := range longestAndShortest(m) {
			vary(func(r *provider.Request) {
				if r.Prompt != "" && !slices.Contains(can.Requires, catalog.InputDialogue) {
					r.Prompt = strings.Repeat("ü", n)
				}
			})
		}
		for _, language := range can.Languages {
			vary(func(r *provider.Request) { r.Language = language })
		}
		if can.FromImage {
			vary(func(r *provider.Request) { r.ImageURL = "https://media.example.com/a.png" })
		}
		if can.FromAudio {
			vary(func(r *provider.Request) { r.AudioURL, r.Prompt = "https://media.example.com/a.mp3", "" })
		}
		for _, r := range requests {
			before := len(faults.Accepted())
			submission, err := p.Submit(t.Context(), r)
			if err != nil {
				t.Errorf("%s: %+v: %v", m.ID, r, err)
				continue
			}
			c.Add(time.Minute)
			status, err := p.Poll(t.Context(), submission.Handle)
			if err != nil || status.State != provider.Succeeded {
				t.Errorf("%s: %+v ended as %+v, %v", m.ID, r, status, err)
			}
			accepted := faults.Accepted()
			if len(accepted) != before+1 {
				t.Errorf("%s: accepted %d times", m.ID, len(accepted)-before)
				continue
			}
			checkSize(t, m, accepted[before].Input)
		}
	}
}

// longestAndShortest are the characters that a text for the model may have, by the
// catalog and by the operations of the studio.
func longestAndShortest(m catalog.Model) []int {
	switch can := m.Capabilities; {
	case len(can.PromptCharacters) == 2:
		return can.PromptCharacters
	case can.MaxCharacters > 0:
		return []int{1, can.MaxCharacters}
	case m.Kind == provider.KindVoice:
		return []int{1, 100_000}
	default:
		return []int{1, 4000}
	}
}

// checkSize checks that an image is no larger than the size that its price covers.
func checkSize(t *testing.T, m catalog.Model, input map[string]any) {
	t.Helper()
	size, ok := input["image_size"].(map[string]any)
	if m.Price == nil || m.Price.Megapixels == 0 {
		return
	}
	if !ok {
		t.Errorf("%s is charged by its size and was sent %v", m.ID, input)
		return
	}
	pixels := size["width"].(float64) * size["height"].(float64)
	if limit := float64(m.Price.Megapixels) * (1 << 20); pixels > limit || pixels < 0.8*limit {
		t.Errorf("%s: %v has %v pixels, want up to %v", m.ID, size, pixels, limit)
	}
}

func TestFamiliesAreAskedInTheirOwnWay(t *testing.T) {
	p, faults, _ := start(t)
	for name, c := range map[string]struct {
		req  provider.Request
		want map[string]any
	}{
		"Veo": {
			provider.Request{Kind: provider.KindVideo, Model: "fal-ai/veo3.1", Prompt: "Sea", Seconds: 6,
				Options: map[string]string{"generate_audio": "false", "resolution": "720p"}},
			map[string]any{"prompt": "Sea", "duration": "6s", "aspect_ratio": "9:16", "generate_audio": false,
				"resolution": "720p"},
		},
		"Kling": {
			provider.Request{Kind: provider.KindVideo, Model: "fal-ai/kling-video/v2.6/pro/image-to-video",
				Prompt: "Sea", Seconds: 10, ImageURL: "https://a.example.com/a", AspectRatio: "9:16"},
			map[string]any{"prompt": "Sea", "duration": "10", "start_image_url": "https://a.example.com/a"},
		},
		"FLUX": {
			provider.Request{Kind: provider.KindImage, Model: "fal-ai/flux-2-pro", Prompt: "Sea", AspectRatio: "4:5"},
			map[string]any{"prompt": "Sea", "image_size": map[string]any{"width": 1280.0, "height": 1600.0}},
		},
		"Nano Banana": {
			provider.Request{Kind: provider.KindImage, Model: "fal-ai/nano-banana-pro", Prompt: "Sea",
				AspectRatio: "4:5", Count: 3, Options: map[string]string{"resolution": "1K"}},
			map[string]any{"prompt": "Sea", "aspect_ratio": "4:5", "num_images": 3.0, "resolution": "1K"},
		},
		"Kontext keeps the shape of the picture": {
			provider.Request{Kind: provider.KindImage, Model: "fal-ai/flux-pro/kontext", Prompt: "Sea",
				ImageURL: "https://a.example.com/a"},
			map[string]any{"prompt": "Sea", "num_images": 1.0, "image_url": "https://a.example.com/a"},
		},
		"MiniMax's speech": {
			provider.Request{Kind: provider.KindVoice, Model: "fal-ai/minimax/speech-2.8-hd", Prompt: "Hallo",
				Language: "de-AT", Voice: "Calm_Woman"},
			map[string]any{"prompt": "Hallo", "output_format": "url", "language_boost": "German",
				"voice_setting": map[string]any{"voice_id": "Calm_Woman"}},
		},
		"a dialogue": {
			provider.Request{Kind: provider.KindVoice, Model: "fal-ai/elevenlabs/text-to-dialogue/eleven-v3",
				Prompt: "Kumusta", Language: "fil", Voice: "Sarah"},
			map[string]any{"inputs": []any{map[string]any{"text": "Kumusta", "voice": "Sarah"}}},
		},
		"a song": {
			provider.Request{Kind: provider.KindMusic, Model: "fal-ai/minimax-music/v2", Prompt: "Slow waltz",
				Lyrics: "La la la la la la"},
			map[string]any{"prompt": "Slow waltz", "lyrics_prompt": "La la la la la la"},
		},
		"Kling 4.0": {
			provider.Request{Kind: provider.KindVideo, Model: "kling/v4/text-to-video", Prompt: "Sea", Seconds: 30,
				AspectRatio: "9:16", Options: map[string]string{"resolution": "720p"}},
			map[string]any{"prompt": "Sea", "duration": 30.0, "aspect_ratio": "9:16", "resolution": "720p"},
		},
		"speech instead of a text to speak": {
			provider.Request{Kind: provider.KindAvatar, Model: "fal-ai/heygen/avatar4/image-to-video", Prompt: "Hello",
				ImageURL: "https://a.example.com/a", AudioURL: "https://a.example.com/b"},
			map[string]any{"image_url": "https://a.example.com/a", "audio_url": "https://a.example.com/b",
				"aspect_ratio": "9:16"},
		},
		"two speakers": {
			provider.Request{Kind: provider.KindAvatar, Model: "fal-ai/ai-avatar/multi-text",
				Prompt: "Hello. \n Good bye.\nTill tomorrow.", ImageURL: "https://a.example.com/a", Voice: "Brian"},
			map[string]any{
				"image_url": "https://a.example.com/a", "first_text_input": "Hello.",
				"second_text_input": "Good bye.\nTill tomorrow.", "voice1": "Brian",
				"prompt": "Two people talk to each other, calm and natural.",
			},
		},
		"an avatar by its id": {
			provider.Request{Kind: provider.KindAvatar, Model: "veed/avatars/text-to-video", Prompt: "Hello",
				Avatar: "emily_primary"},
			map[string]any{"text": "Hello", "avatar_id": "emily_primary"},
		},
	} {
		faults.Reset()
		if _, err := p.Submit(t.Context(), c.req); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		accepted := faults.Accepted()
		if len(accepted) != 1 || fmt.Sprint(accepted[0].Input) != fmt.Sprint(c.want) {
			t.Errorf("%s:\n got %+v\nwant %v", name, accepted, c.want)
		}
	}
}

// A request that the model cannot fulfil is refused before it costs anything.
func TestWhatAModelCannotDoIsRefused(t *testing.T) {
	p, faults, _ := start(t)
	image, speech := "https://a.example.com/a", "https://a.example.com/b"
	for name, req := range map[string]provider.Request{
		"no such model":   {Kind: provider.KindImage, Model: "fal-ai/sculptor", Prompt: "x"},
		"a path":          {Kind: provider.KindImage, Model: "fal-ai/flux/schnell/../../x", Prompt: "x"},
		"another kind":    {Kind: provider.KindVideo, Model: "fal-ai/flux/schnell", Prompt: "x"},
		"several at once": {Kind: provider.KindImage, Model: "fal-ai/flux-2-pro", Prompt: "x", Count: 2},
		"an image":        {Kind: provider.KindImage, Model: "fal-ai/flux/schnell", Prompt: "x", ImageURL: image},
		"no image": {Kind: provider.KindVideo, Model: "fal-ai/kling-video/v2.5-turbo/pro/image-to-video",
			Prompt: "x"},
		"no speech": {Kind: provider.KindAvatar, Model: "fal-ai/bytedance/omnihuman/v1.5", Prompt: "x",
			ImageURL: image},
		"a video": {Kind: provider.KindAvatar, Model: "fal-ai/bytedance/omnihuman/v1.5", ImageURL: image, AudioURL: speech,
			VideoURL: speech},
		"one speaker of two": {Kind: provider.KindAvatar, Model: "fal-ai/ai-avatar/multi-text", Prompt: "Hello.",
			ImageURL: image},
		"no lyrics": {Kind: provider.KindMusic, Model: "fal-ai/minimax-music/v2", Prompt: "Slow waltz"},
		"lyrics": {Kind: provider.KindMusic, Model: "fal-ai/stable-audio-25/text-to-audio", Prompt: "Slow waltz",
			Lyrics: "La la la la la la"},
		"too short a prompt": {Kind: provider.KindMusic, Model: "fal-ai/minimax-music/v2", Prompt: "Waltz",
			Lyrics: "La la la la la la"},
		"too long a prompt": {Kind: provider.KindMusic, Model: "fal-ai/minimax-music/v2",
			Prompt: strings.Repeat("Waltz ", 60), Lyrics: "La la la la la la"},
		"too short a song": {Kind: provider.KindMusic, Model: "fal-ai/minimax-music/v2", Prompt: "Slow waltz",
			Lyrics: "La"},
		"no text but a speech": {Kind: provider.KindVoice, Model: "fal-ai/minimax/speech-2.8-hd", AudioURL: speech},
	} {
		_, err := p.Submit(t.Context(), req)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.BadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(faults.Accepted()); n > 0 {
		t.Errorf("%d accepted", n)
	}
}
