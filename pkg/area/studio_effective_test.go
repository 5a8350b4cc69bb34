package area_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/studio"
)

// A generation shows the inputs that apply, and the provider is asked for them.
func TestTheDefaultsAreShown(t *testing.T) {
	for path, c := range map[string]struct {
		body  object
		model string
		want  studio.Input
	}{
		"videos": {object{"prompt": "A shoe"}, "kling-3-turbo-pro",
			studio.Input{Prompt: "A shoe", AspectRatio: "9:16", Seconds: 5}},
		"images": {object{"prompt": "A shoe"}, "flux-pro-1.1",
			studio.Input{Prompt: "A shoe", AspectRatio: "1:1", Count: 1}},
		"music": {object{"prompt": "Calm"}, "stable-audio-2.5", studio.Input{Prompt: "Calm", Seconds: 30}},
		"voices": {object{"text": "Hello", "model": "polly-neural", "language": "de"}, "polly-neural",
			studio.Input{Text: "Hello", Language: "de", Voice: "Vicki"}},
		"avatars": {object{"text": "Hello"}, "veed-avatars",
			studio.Input{Text: "Hello", Avatar: "any_female_vertical_primary"}},
	} {
		w := newStudioWorld(t)
		made := create(w.Caller, t, path, c.body)
		if made.Model != c.model || made.Input != c.want {
			t.Errorf("%s: %s of %+v, want %s of %+v", path, made.Model, made.Input, c.model, c.want)
		}
		w.engine.Drain()
		if got := studioGet(w.Caller, t, made.ID); got.State != studio.Generated || got.Input != c.want {
			t.Errorf("%s: %+v", path, got)
		}
		req := w.provider.requests[0]
		if req.AspectRatio != c.want.AspectRatio || req.Voice != c.want.Voice || req.Avatar != c.want.Avatar ||
			req.Kind != provider.KindVoice && req.Seconds != c.want.Seconds {
			t.Errorf("%s: the provider is asked for %+v", path, req)
		}
	}
}
