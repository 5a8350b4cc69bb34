package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
)

// A headline is written and drawn if the item or its factory wants one. Own words need no writer.
func TestPostsHaveHeadlines(t *testing.T) {
	w := newWorld(t)
	wants := w.makeFactory(object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme",
		"post_headlines": true}})
	for name, c := range map[string]struct {
		members []any
		asked   bool
		own     string
	}{
		"nothing":      {nil, false, ""},
		"the item":     {[]any{"show_headline", true}, true, ""},
		"the factory":  {[]any{"factory_id", wants}, true, ""},
		"not the item": {[]any{"factory_id", wants, "show_headline", false}, false, ""},
		"own words":    {[]any{"headline", "  From the   sea "}, false, "From the sea"},
	} {
		before := len(w.composed)
		it := w.generated(c.members...)
		picture := w.composed[before].(generate.Picture)
		asked := w.input()
		last := asked[len(asked)-1]
		if last.Headline != c.asked || strings.Contains(last.System, `"headline"`) != c.asked ||
			string(it.Headline) != picture.Text ||
			(picture.Text != "") != (c.asked || c.own != "") || c.own != "" && string(it.Headline) != c.own {
			t.Errorf("%s: asked %t, the item has %q, the picture %q", name, last.Headline, it.Headline, picture.Text)
		}
	}
	// It is written again with the rest, and can be left out later, free of charge.
	it := w.generated("show_headline", true)
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{}).Into(t, http.StatusAccepted, &it)
	w.doAttempt(it.ID, 2)
	if again := w.get(it.ID); again.Headline == "" || !w.input()[len(w.input())-1].Headline {
		t.Errorf("it is %q", again.Headline)
	}
	plain, kinds := w.corrected(w.get(it.ID), object{"show_headline": false})
	if len(kinds) != 0 || plain.Headline != "" || w.composed[len(w.composed)-1].(generate.Picture).Text != "" {
		t.Errorf("%v were made, and it has %q", kinds, plain.Headline)
	}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"reuse": true, "show_headline": true}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/headline")
	w.Call(http.MethodPatch, "/v1/content-items/"+it.ID, object{"headline": "x"}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/headline")
}

// The price of a headline is part of the estimate, and is charged as reserved.
func TestAHeadlineCostsWhatWasEstimated(t *testing.T) {
	for _, quality := range item.Qualities {
		w := newWorld(t)
		w.live(1000)
		it := w.create("show_headline", true, "quality", quality)
		reserved := it.ReservedCredits
		w.do(it.ID)
		if got := w.get(it.ID); got.State != item.Generated || got.CostCredits != reserved ||
			w.credits() != 1000-reserved {
			t.Errorf("%s: %d credits were reserved, and %d charged: %s", quality, reserved, got.CostCredits, got.State)
		}
	}
}

func TestDrawnTextsThatDoNotFitAreRefused(t *testing.T) {
	w := newWorld(t)
	bengali := "পাহাড়ি পথে দৌড়"
	for param, members := range map[string][]any{
		"/headline":           {"headline", bengali},
		"/show_headline":      {"kind", "story", "show_headline", true},
		"/slides/0/body":      {"kind", "carousel", "slides", []object{{"body": "Alone"}, {}}},
		"/slides/1/body":      {"kind", "carousel", "slides", []object{{}, {"text": "Nets", "body": bengali}}},
		"/scenes/0/on_screen": {"kind", "video", "scenes", []object{{"text": strings.Repeat("Netze ", 14), "on_screen": bengali}}},
	} {
		w.Call(http.MethodPost, "/v1/content-items", w.body(members...)).
			Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, param)
	}
	own := w.body("source", "provided", "caption", "x", "headline", "x")
	delete(own, "prompt")
	for _, body := range []object{w.body("headline", "x", "show_headline", false),
		w.body("kind", "carousel", "headline", "x"), own} {
		w.Call(http.MethodPost, "/v1/content-items", body).
			Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/headline")
	}
}

// Carousels show headings and bodies, videos the texts of scenes, and stories that are clips their title.
func TestTextsAreDrawn(t *testing.T) {
	w := newWorld(t)
	it := w.generated("kind", "carousel", "slides", []object{{}, {"text": "Own"}, {"text": "Own", "body": " Mine "}, {}})
	slides := w.composed[0].(generate.Carousel).Slides
	for i, s := range slides {
		if s.Heading != it.Slides[i].Text || s.Body != string(it.Slides[i].Body) || s.Heading == "" {
			t.Errorf("slide %d is %+v, of %+v", i, s, it.Slides[i])
		}
	}
	if slides[0].Body != "" || slides[1].Body != "" || slides[2].Body != "Mine" || slides[3].Body == "" {
		t.Errorf("%+v", slides)
	}
	it = w.generated("kind", "video", "duration_seconds", 10)
	scenes := w.composed[1].(generate.Video).Scenes
	if scenes[0].OnScreen == "" || scenes[0].OnScreen != string(it.Scenes[0].OnScreen) {
		t.Errorf("%+v of %+v", scenes, it.Scenes)
	}
	changed := []object{{"text": it.Scenes[0].Text}, {"text": it.Scenes[1].Text, "on_screen": "Nets 🎣"}}
	got, kinds := w.corrected(it, object{"scenes": changed})
	scenes = w.composed[2].(generate.Video).Scenes
	if len(kinds) != 0 || scenes[0].OnScreen != "" || scenes[1].OnScreen != "Nets 🎣" || got.Scenes[1].OnScreen != "Nets 🎣" {
		t.Errorf("%v were made: %+v", kinds, scenes)
	}
	it = w.generated("kind", "story", "model", "kling-3-turbo-pro")
	if clip := w.composed[3].(generate.Video); clip.Scenes[0].OnScreen != string(it.Title) || clip.Language != "de" {
		t.Errorf("%+v", clip)
	}
	w.Call(http.MethodPatch, "/v1/content-items/"+it.ID, object{"title": "Another"}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/title")
}

// A script may have what no font has if its captions are in a file alone.
func TestCaptionsThatAreNotDrawnNeedNoFont(t *testing.T) {
	w := newWorld(t)
	said := "This is the old corner shop, which is called მაღაზია by the locals. Come by and see it one day."
	members := []any{"kind", "video", "script", said}
	a := w.Call(http.MethodPost, "/v1/content-items", w.body(members...))
	a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/script")
	if !strings.Contains(a.Error.Message, "caption_style to none") {
		t.Error(a.Error.Message)
	}
	unseen := w.makeFactory(object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme",
		"caption_style": "none"}})
	w.generated(append(members, "factory_id", unseen)...)
	if v := w.composed[0].(generate.Video); v.Captions || v.CaptionStyle != "" || v.Scenes[0].Text == "" {
		t.Errorf("%+v", v)
	}
}
