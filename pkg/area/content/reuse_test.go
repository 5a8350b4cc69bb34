package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
)

// corrected has an item composed again. It returns it with the kinds that were requested from providers.
func (w *world) corrected(it item.Item, body object) (got item.Item, kinds []provider.Kind) {
	w.T.Helper()
	body["reuse"] = true
	before := len(w.provider.requests)
	w.Call(http.MethodPost, path(it.ID, "regenerate"), body).Into(w.T, http.StatusAccepted, &got)
	w.doAttempt(it.ID, got.Attempt)
	for _, req := range w.provider.requests[before:] {
		kinds = append(kinds, req.Kind)
	}
	if got = w.get(it.ID); got.State != item.Generated {
		w.T.Fatalf("%+v %+v", got, got.Failure)
	}
	return got, kinds
}

func TestATypoIsCorrectedFreeOfCharge(t *testing.T) {
	for kind, c := range map[item.Kind]struct {
		body  object
		shows func(generate.Composition) bool
	}{
		item.Story: {object{"title": "Right"}, func(c generate.Composition) bool {
			return c.(generate.Picture).Text == "Right"
		}},
		item.MusicClip: {object{"title": "Right"}, func(c generate.Composition) bool {
			return c.(generate.MusicClip).Title == "Right"
		}},
		item.Carousel: {object{"slides": []object{{}, {"text": "Right"}, {"body": "Below"}, {"body": ""}, {}}},
			func(c generate.Composition) bool {
				s := c.(generate.Carousel).Slides
				return s[1].Heading == "Right" && s[0].Heading != "" && s[0].Heading != "Right" && s[1].Body != "" &&
					s[2].Body == "Below" && s[2].Heading != "" && s[3].Body == "" && s[4].Body != ""
			}},
		item.Post: {object{"headline": "Right"}, func(c generate.Composition) bool {
			return c.(generate.Picture).Text == "Right"
		}},
		item.Video: {object{"music": "none"}, func(c generate.Composition) bool {
			return c.(generate.Video).Narration != nil && c.(generate.Video).Captions
		}},
	} {
		w := newWorld(t)
		w.live(1000)
		it := w.generated("kind", kind)
		credits, parts := w.credits(), roles(it, false)
		got, kinds := w.corrected(it, c.body)
		if len(kinds) != 0 || w.credits() != credits || got.CostCredits != it.CostCredits || got.Version <= it.Version {
			t.Errorf("%s: %v were made, and it has cost %d", kind, kinds, credits-w.credits())
		}
		if !c.shows(w.composed[1]) || !slices.Equal(roles(got, false), parts) || got.Caption != it.Caption ||
			got.Media[0].ID == it.Media[0].ID || got.Script != it.Script {
			t.Errorf("%s: %+v, composed of %+v", kind, got, w.composed[1])
		}
		if e := w.events(it.ID); e[event.ContentGenerated] != 2 {
			t.Errorf("%s: the events are %v", kind, e)
		}
		if e := w.entries(); e["charged"] != it.CostCredits || e["held"] != 0 {
			t.Errorf("%s: the entries are %v", kind, e)
		}
		// A correction can be corrected.
		if got, kinds := w.corrected(got, c.body); len(kinds) != 0 || !slices.Equal(roles(got, false), parts) {
			t.Errorf("%s: %v, %+v", kind, kinds, got)
		}
	}
}

// roles are the roles of the media of an item, without or with the finished ones.
func roles(it item.Item, finished bool) (all []media.Role) {
	for _, f := range it.Media {
		if done := f.Role == media.Final || f.Role == media.Poster || f.Role == media.Subtitles; finished || !done {
			all = append(all, f.Role)
		}
	}
	return all
}

// A corrected script is spoken again. Its clips stay, as far as they show the same.
func TestACorrectedScriptIsSpokenAgain(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	it := w.generated("kind", "video", "duration_seconds", 10)
	said := strings.Replace(string(it.Script), it.Scenes[0].Text, "Ein anderer Satz am Anfang.", 1)
	got, kinds := w.corrected(it, object{"script": said})
	if !slices.Equal(kinds, []provider.Kind{provider.KindVoice}) || string(got.Script) != said ||
		len(got.Scenes) != 2 ||
		got.Scenes[0].Text != "Ein anderer Satz am Anfang." || got.Scenes[1] != it.Scenes[1] ||
		got.Scenes[0].Visual != it.Scenes[0].Visual {
		t.Errorf("%v were made: %q in %+v, was %+v", kinds, got.Script, got.Scenes, it.Scenes)
	}
	voice := w.provider.requests[len(w.provider.requests)-1]
	cost := got.CostCredits - it.CostCredits
	if voice.Prompt != said || cost < 1 || cost > 3 || w.credits() != 1000-got.CostCredits {
		t.Errorf("%q was spoken for %d", voice.Prompt, cost)
	}
	v := w.composed[1].(generate.Video)
	if v.Narration.ID == it.Media[3].ID || v.Scenes[0].Clip.ID != w.composed[0].(generate.Video).Scenes[0].Clip.ID {
		t.Errorf("%+v", v)
	}
	// Another picture of one scene is made alone, and the same words need no other voice.
	changed := []object{{"text": got.Scenes[0].Text}, {"text": got.Scenes[1].Text, "visual": "A harbor at dawn"}}
	again, kinds := w.corrected(got, object{"scenes": changed})
	if !slices.Equal(kinds, []provider.Kind{provider.KindVideo}) || again.Scenes[1].Visual != "A harbor at dawn" {
		t.Errorf("%v were made: %+v", kinds, again.Scenes)
	}
	if req := w.provider.requests[len(w.provider.requests)-1]; !strings.Contains(req.Prompt, "A harbor at dawn") {
		t.Errorf("the clip was requested by %q", req.Prompt)
	}
}

func TestMusicAndCoverAreMadeAgain(t *testing.T) {
	w := newWorld(t)
	it := w.generated("kind", "video", "visuals", "stills", "duration_seconds", 10)
	with, kinds := w.corrected(it, object{"music": "generated"})
	if !slices.Equal(kinds, []provider.Kind{provider.KindMusic}) || !slices.Contains(roles(with, false), media.Track) {
		t.Errorf("%v were made: %v", kinds, roles(with, false))
	}
	if _, kinds = w.corrected(it, object{}); len(kinds) != 0 {
		t.Errorf("%v were made", kinds)
	}
	if _, kinds = w.corrected(it, object{"music": "generated"}); len(kinds) != 1 {
		t.Errorf("%v were made", kinds)
	}
	if without, kinds := w.corrected(it, object{"music": "none"}); len(kinds) != 0 || slices.Contains(roles(without,
		false), media.Track) || w.composed[len(w.composed)-1].(generate.Video).Music != nil {
		t.Errorf("%v were made: %v", kinds, roles(without, false))
	}
	clip := w.generated("kind", "music_clip")
	if _, kinds = w.corrected(clip, object{"cover": "generated"}); !slices.Equal(kinds,
		[]provider.Kind{provider.KindImage}) {
		t.Errorf("%v were made", kinds)
	}
	mine := w.own(w.Caller, &media.File{ID: "mine", Type: media.Image, MIMEType: "image/png", Key: "media/mine.png",
		Width: 600, Height: 600, Bytes: 1000})
	got, kinds := w.corrected(clip, object{"cover": mine})
	if shown := w.composed[len(w.composed)-1].(generate.MusicClip).Cover; len(kinds) != 0 || *got.Cover != mine ||
		shown.Key != "media/mine.png" {
		t.Errorf("%v were made: %+v shows %+v", kinds, got, shown)
	}
}

// What was paid for before a cancel, or before the caller's input failed, is not paid for again.
func TestCompletedPartsAreReused(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	it := w.halfway()
	whole := it.ReservedCredits
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &it)
	got, kinds := w.corrected(it, object{})
	if len(kinds) != 2 || kinds[0] != provider.KindImage || got.CostCredits != whole || w.credits() != 1000-whole {
		t.Errorf("%v were made for %d of %d in all", kinds, got.CostCredits, whole)
	}
}

func TestReuseIsRefused(t *testing.T) {
	w := newWorld(t)
	video, carousel := w.generated("kind", "video", "duration_seconds", 10), w.generated("kind", "carousel")
	unmade := w.create()
	w.Call(http.MethodPost, path(unmade.ID, "cancel"), nil).Into(t, http.StatusOK, &unmade)
	untitled := w.generated()
	w.Call(http.MethodPatch, path(untitled.ID), object{"title": nil}).Into(t, http.StatusOK, &untitled)
	for name, c := range map[string]struct {
		it    item.Item
		body  object
		param string
	}{
		"another prompt":   {video, object{"prompt": "x"}, "/prompt"},
		"another model":    {video, object{"model": "veo-3.1"}, "/model"},
		"another length":   {video, object{"duration_seconds": 20}, "/duration_seconds"},
		"other pictures":   {video, object{"visuals": "stills"}, "/visuals"},
		"too few scenes":   {video, object{"scenes": []object{{"text": "Eins."}}}, "/scenes"},
		"too few words":    {video, object{"script": "Eins."}, "/script"},
		"too long":         {video, object{"script": strings.Repeat("Zu lang. ", 40)}, "/script"},
		"two scripts":      {video, object{"script": "Eins.", "scenes": []object{{"text": "Eins."}}}, "/scenes"},
		"slides of none":   {video, object{"slides": []object{{}, {}}}, "/slides"},
		"too few slides":   {carousel, object{"slides": []object{{}, {}}}, "/slides"},
		"music of a story": {carousel, object{"music": "none"}, "/music"},
		"a cover":          {video, object{"cover": "generated"}, "/cover"},
		"no parts":         {unmade, object{}, "/reuse"},
		"no title":         {untitled, object{}, "/reuse"},
	} {
		c.body["reuse"] = true
		t.Run(name, func(t *testing.T) {
			w.Call(http.MethodPost, path(c.it.ID, "regenerate"), c.body).Refused(t, 422, errs.ValidationFailed, c.param)
		})
	}
}

// The title of a finished story is changed by composing it again.
func TestATitleInAPictureIsNotChangedByAPatch(t *testing.T) {
	w := newWorld(t)
	it := w.create("kind", "story")
	var got item.Item
	w.Call(http.MethodPatch, path(it.ID), object{"title": "Before"}).Into(t, http.StatusOK, &got)
	w.do(it.ID)
	a := w.Call(http.MethodPatch, path(it.ID), object{"title": "After"})
	a.Refused(t, 422, errs.ValidationFailed, "/title")
	if !strings.Contains(a.Error.Message, "reuse") {
		t.Errorf("it says %s", a.Error.Message)
	}
	w.Call(http.MethodPatch, path(it.ID), object{"title": "Before", "caption": "Mine"}).Into(t, http.StatusOK, &got)
	w.Call(http.MethodPatch, path(it.ID), object{"slides": []object{}}).Refused(t, 422, errs.ValidationFailed, "/slides")
}

// A test key rehearses the end of an attempt of which nothing is made anew.
func TestACorrectionIsRehearsed(t *testing.T) {
	w := newWorld(t)
	it := w.generated("kind", "story")
	body := object{"reuse": true, "sandbox": object{"outcome": "failed", "failure_code": "input_silent",
		"delay_seconds": 10}}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), body).Into(t, http.StatusAccepted, &it)
	if wait := w.doAttempt(it.ID, 2); wait < 9*time.Second {
		t.Errorf("it waits %v", wait)
	}
	w.Clock.Add(10 * time.Second)
	w.doAttempt(it.ID, 2)
	if got := w.get(it.ID); got.State != item.Failed || got.Failure.Code != "input_silent" ||
		got.Failure.Stage != "compose" || len(got.Media) == 0 {
		t.Errorf("%+v %+v", got, got.Failure)
	}
}

// A correction waits for a paused factory, as any work that has not begun.
func TestACorrectionWaitsForItsFactory(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	it := w.generated("kind", "story")
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"reuse": true}).Into(t, http.StatusAccepted, &it)
	at := "/v1/factories/" + w.factory
	w.Call(http.MethodPatch, at, object{"state": "paused"}).Into(t, http.StatusOK, &object{})
	if wait := w.doAttempt(it.ID, 2); wait < time.Minute || w.get(it.ID).State != item.Queued {
		t.Errorf("it waits %v: %+v", wait, w.get(it.ID))
	}
	w.Call(http.MethodPatch, at, object{"state": "active"}).Into(t, http.StatusOK, &object{})
	w.Clock.Add(2 * time.Hour)
	w.doAttempt(it.ID, 2)
	if got := w.get(it.ID); got.State != item.Generated || len(w.composed) != 2 {
		t.Errorf("%+v", got)
	}
}
