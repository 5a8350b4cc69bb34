package area_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// paths are the operations that create generations.
var paths = map[provider.Kind]string{
	provider.KindVideo: "videos", provider.KindImage: "images", provider.KindMusic: "music",
	provider.KindVoice: "voices", provider.KindAvatar: "avatars",
}

// needs is a body with all that a model cannot do without.
func needs(m catalog.Model) object {
	body := object{"model": m.ID}
	switch m.Kind {
	case provider.KindVoice, provider.KindAvatar:
		body["text"] = "Made of nets."
	default:
		body["prompt"] = "A shoe on wet rock"
	}
	for _, input := range m.Capabilities.Requires {
		switch input {
		case catalog.InputImage:
			body["image_url"] = studioPublic
		case catalog.InputVideo:
			body["video_url"] = studioPublic
		case catalog.InputLyrics:
			body["lyrics"] = "Over rocks, over roots"
		case catalog.InputDialogue:
			body["text"] = "Made of what?\nOf nets."
		case catalog.InputAudio:
			body["audio_url"] = studioPublic
			if m.Kind == provider.KindAvatar {
				delete(body, "text")
			}
		}
	}
	return body
}

// Whatever is in the catalog can be asked for by an operation.
func TestEveryModelCanBeRehearsed(t *testing.T) {
	w := newStudioWorld(t)
	for _, m := range catalog.Models(catalog.Filter{}) {
		path, makes := paths[m.Kind]
		if !makes || m.State == catalog.Retired {
			continue
		}
		made := create(w.Caller, t, path, needs(m))
		w.engine.Drain()
		if got := studioGet(w.Caller, t, made.ID); got.State != studio.Generated || got.Model != m.ID ||
			len(got.Media) != 1 {
			t.Errorf("%s: %+v, %+v", m.ID, got, got.Failure)
		}
	}
}

// A language is kept as factories keep it, so that the same tag means the same.
func TestALanguageIsKeptInCanonicalForm(t *testing.T) {
	w := newStudioWorld(t)
	for sent, want := range map[string]string{"EN-us": "en-US", "en_GB": "en-GB", "deu": "de",
		"nb-NO": "nb-NO", "": ""} {
		body := object{"text": "Made of nets.", "model": "eleven-3"}
		if sent != "" {
			body["language"] = sent
		}
		made := create(w.Caller, t, "voices", body)
		w.engine.Drain()
		if asked := w.provider.requests[len(w.provider.requests)-1]; made.Input.Language != want ||
			asked.Language != want {
			t.Errorf("%q is kept as %q, and asked for as %q", sent, made.Input.Language, asked.Language)
		}
	}
}
