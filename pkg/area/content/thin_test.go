package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// A short prompt to a channel that says nothing about itself is accepted with a warning, which names the three facts
// that would help most.
func TestAThinBriefIsWarnedOf(t *testing.T) {
	w := newWorld(t)
	told := object{"description": "Shoes of nets from the pier.", "audience": "People who run late"}
	of := func(kind string, settings, more object) string {
		body := object{"type": kind, "name": "Acme", "settings": settings}
		for name, value := range more {
			body[name] = value
		}
		return w.makeFactory(body)
	}
	long := "Our shoe of old nets: Ines of Elie sews the first pair by hand in April"
	for _, c := range []struct {
		factory, prompt, want string
	}{
		{w.factory, "Ein neuer Laufschuh", "prompt factory.description factory.audience"},
		{of("seller", object{"currency": "EUR"}, nil), "A new shoe", "prompt product_id factory.description"},
		{of("news", object{}, nil), "Storm", "prompt factory.settings.sources factory.description"},
		{of("expert", object{"field": "Tax"}, object{"description": "x"}), "VAT",
			"prompt factory.audience factory.settings.credentials"},
		{of("blogger", object{}, object{"audience": "x"}), "雨の日",
			"prompt factory.description factory.settings.voice.samples"},
		{of("blogger", object{}, told), "A new shoe", ""},
		{w.factory, long, ""},
		{w.factory, "古い網から作った新しいランニングシューズの話です", ""},
	} {
		var members []string
		got := w.create("factory_id", c.factory, "prompt", c.prompt)
		for _, warning := range got.Warnings {
			if warning.Code != item.ThinBrief || warning.Message == "" {
				t.Errorf("%q: %+v", c.prompt, warning)
			}
			for _, fact := range warning.Facts {
				members = append(members, fact.Member)
				if fact.Ask == "" {
					t.Errorf("%q does not say what to add", fact.Member)
				}
			}
		}
		if strings.Join(members, " ") != c.want || got.Warnings == nil {
			t.Errorf("%q lacks %v, want %s", c.prompt, members, c.want)
		}
	}
	// Texts of the caller need no facts.
	if got := w.create("caption", "Mine", "title", "Mine", "hashtags", []string{}); len(got.Warnings) != 0 {
		t.Errorf("%+v", got.Warnings)
	}
}

// A news channel makes no songs: the call says what to make instead.
func TestNewsAreNotSung(t *testing.T) {
	w := newWorld(t)
	news := w.makeFactory(object{"type": "news", "name": "Bay news"})
	w.Call(http.MethodPost, "/v1/content-items", w.body("factory_id", news, "kind", "music_clip")).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/kind")
	sung := object{"type": "news", "name": "x", "content_types": []string{"music_clip"}}
	w.Call(http.MethodPost, "/v1/factories", sung).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/content_types/0")
	w.create("factory_id", news, "kind", "story")
}

// Names of competitors and phrases that a channel never says are refused in its texts, for each type of factory, and
// its samples are what writers learn from.
func TestTheVoiceOfAFactoryHolds(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	samples := []string{"We cut the first net by hand, and it took a day.", "Rain again. The shoes dry on the stove.",
		"You asked how long they last. Ask Ines."}
	factoryID := w.makeFactory(object{"type": "expert", "name": "Shoes", "settings": object{"field": "Shoes",
		"voice": object{"samples": samples, "address": "du", "emoji": "none", "we_say": []string{"from net to sole"},
			"we_never_say": []string{"game changer"}, "competitors": []string{"Example Shoes"}}}})
	got := w.create("factory_id", factoryID)
	it, err := w.DB.Get(t.Context(), store.IDKey(got.ID))
	if err != nil {
		t.Fatal(err)
	}
	r, err := item.Decode(&it)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`addresses its readers with "du"`, "have no emojis", "from net to sole",
		"never says: game changer", "never names its competitors: Example Shoes"} {
		if !strings.Contains(r.Brief.Voice, want) {
			t.Errorf("the writer is told without %q:\n%s", want, r.Brief.Voice)
		}
	}
	if len(r.Brief.Samples) != 3 || len(r.Brief.Competitors) != 1 || r.Brief.Forbidden[0] != "game changer" {
		t.Errorf("%+v", r.Brief)
	}
}
