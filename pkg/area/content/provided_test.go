package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
)

// picture is the file of a picture of the caller.
func picture(width, height int) *media.File {
	return &media.File{ID: "med_1_1", Type: media.Image, MIMEType: "image/jpeg", Key: "media/a/test/med_1/1/1.jpg",
		Width: width, Height: height, Bytes: 4711, SHA256: strings.Repeat("0", 64)}
}

// provide creates an item of the caller's media.
func (w *world) provide(members ...any) (it item.Item) {
	w.T.Helper()
	b := w.body(append([]any{"source", "provided"}, members...)...)
	delete(b, "prompt")
	w.Call(http.MethodPost, "/v1/content-items", b).Into(w.T, http.StatusAccepted, &it)
	w.Clock.Add(time.Second)
	return it
}

func TestOwnPostsAreGeneratedAtOnceAndPublished(t *testing.T) {
	w := newWorld(t)
	channel := w.connect("telegram")
	w.attach(channel)
	mine := w.own(w.Caller, picture(1080, 1350))
	it := w.provide("media", []string{mine}, "caption", "Made by hand", "ai_generated", false)
	if it.State != item.Generated || it.Source != "provided" || it.CostCredits != 0 || it.ReservedCredits != 0 ||
		it.AIGenerated || len(it.Media) != 1 || it.Media[0].Role != media.Final || it.Progress != 100 {
		t.Fatalf("%+v", it)
	}
	w.happened(it.ID, event.ContentGenerated)
	w.publish(it.ID)
	w.work()
	got := w.get(it.ID)
	if got.State != item.Published || got.Publications[0].Posted == nil ||
		got.Publications[0].Posted.Text != "Made by hand" {
		t.Errorf("%+v", got)
	}
}

func TestTextAloneIsPublishedWhereItIsTaken(t *testing.T) {
	w := newWorld(t)
	telegram, instagram := w.connect("telegram"), w.connect("instagram")
	w.attach(instagram)
	refused := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words"}
	a := w.Call(http.MethodPost, "/v1/content-items", refused)
	a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/media")
	if !strings.Contains(a.Error.Message, "Instagram takes 1 to 1 media") {
		t.Errorf("%s", a.Error.Message)
	}
	w.attach(telegram)
	it := w.provide("caption", "Words")
	w.publish(it.ID, "social_account_ids", []string{telegram})
	w.work()
	if got := w.get(it.ID); got.State != item.Published {
		t.Errorf("%+v", got)
	}
}

func TestOwnMediaThatNoTargetTakesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.attach(w.connect("instagram"))
	wide := w.own(w.Caller, picture(3000, 1000))
	body := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words",
		"media": []string{wide}}
	a := w.Call(http.MethodPost, "/v1/content-items", body)
	a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/media/0")
	if !strings.Contains(a.Error.Message, "Instagram takes ratios") {
		t.Errorf("%s", a.Error.Message)
	}
	w.attach(w.connect("telegram")) // which takes it
	w.provide("media", []string{wide}, "caption", "Words")
}

func TestOwnPicturesAreFittedOnlyIfAsked(t *testing.T) {
	for fit, whole := range map[string]bool{"pad": true, "crop": false} {
		w := newWorld(t)
		it := w.provide("media", []string{w.own(w.Caller, picture(3000, 1000))}, "caption", "Words", "fit", fit)
		if it.State != item.Queued || it.ReservedCredits != 0 {
			t.Fatalf("%s: %+v", fit, it)
		}
		w.do(it.ID)
		got := w.get(it.ID)
		if got.State != item.Generated || got.Caption != "Words" || shape(got.Media[0]) != "image image/png 4:5" &&
			shape(got.Media[0]) != "image image/jpeg 4:5" {
			t.Errorf("%s: %+v", fit, got)
		}
		if len(w.composed) != 1 || strings.Contains(jsonOf(t, w.composed[0]), `"Whole":true`) != whole {
			t.Errorf("%s: composed %+v", fit, w.composed)
		}
	}
}

// clipOf is the file of a video of the caller.
func clipOf(width, height int, seconds float64) *media.File {
	return &media.File{ID: "med_3_1", Type: media.Video, MIMEType: "video/mp4", Key: "media/a/test/med_3/1/1.mp4",
		Width: width, Height: height, DurationSeconds: seconds, Bytes: 4711, SHA256: strings.Repeat("0", 64)}
}

// A video is fitted whole or cut, in its own length; a wide one becomes 16:9.
func TestOwnVideosAreFittedOnlyIfAsked(t *testing.T) {
	for fit, whole := range map[string]bool{"pad": true, "crop": false} {
		for format, size := range map[generate.Format][2]int{generate.Portrait: {1000, 1000},
			generate.Landscape: {1000, 800}} {
			w := newWorld(t)
			mine := w.own(w.Caller, clipOf(size[0], size[1], 9.5))
			it := w.provide("kind", "video", "media", []string{mine}, "caption", "Words", "fit", fit)
			w.do(it.ID)
			got := w.get(it.ID)
			if got.State != item.Generated || got.CostCredits != 0 || got.Media[0].Role != media.Final ||
				got.Media[0].Type != media.Video || !slices.Equal(roles(got, false), []media.Role{media.Clip}) {
				t.Fatalf("%s: %+v", fit, got)
			}
			v, ok := w.composed[0].(generate.Video)
			if !ok || v.Format != format || len(v.Scenes) != 1 || v.Scenes[0].Whole != whole ||
				v.Scenes[0].Length != 9500*time.Millisecond || v.Scenes[0].Clip.Width != size[0] {
				t.Errorf("%s: composed %+v", fit, w.composed[0])
			}
		}
	}
	w := newWorld(t)
	mine := w.own(w.Caller, clipOf(1000, 1000, 5))
	it := w.provide("kind", "story", "media", []string{mine}, "fit", "pad")
	w.do(it.ID)
	if v, ok := w.composed[0].(generate.Video); !ok || v.Format != generate.Portrait || !v.Scenes[0].Whole {
		t.Errorf("composed %+v", w.composed[0])
	}
}

func TestOwnPostsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	mine, clip := w.own(w.Caller, picture(1080, 1350)), w.own(w.Caller, &media.File{ID: "med_2_1", Type: media.Video,
		MIMEType: "video/mp4", Key: "media/a/test/med_2/1/1.mp4", Width: 1080, Height: 1920, DurationSeconds: 9, Bytes: 9})
	long := w.own(w.Caller, clipOf(1080, 1920, 181))
	foreign := w.own(w.Stranger(), picture(1080, 1350))
	for name, c := range map[string]struct {
		members []any
		param   string
	}{
		"a prompt":                 {[]any{"prompt", "x", "caption", "c"}, "/prompt"},
		"a model":                  {[]any{"model", "flux-pro-1.1", "caption", "c"}, "/model"},
		"a rehearsal":              {[]any{"sandbox", object{"outcome": "failed"}, "caption", "c"}, "/sandbox"},
		"music":                    {[]any{"kind", "music_clip"}, "/kind"},
		"a carousel of one":        {[]any{"kind", "carousel", "media", []string{mine}}, "/media"},
		"a video as a post":        {[]any{"media", []string{clip}}, "/media/0"},
		"a picture as a video":     {[]any{"kind", "video", "media", []string{mine}}, "/media/0"},
		"nothing":                  {nil, "/caption"},
		"the media of others":      {[]any{"media", []string{foreign}}, "/media/0"},
		"a long video that is cut": {[]any{"kind", "video", "media", []string{long}, "fit", "crop"}, "/fit"},
		"a video in a carousel":    {[]any{"kind", "carousel", "media", []string{mine, clip}, "fit", "pad"}, "/fit"},
		"text that is cut":         {[]any{"caption", "c", "fit", "crop"}, "/fit"},
		"media of a generated":     {[]any{"source", "generated", "prompt", "p", "media", []string{mine}}, "/media"},
		"a generated without":      {[]any{"source", "generated"}, "/prompt"},
		"an AI of a generated":     {[]any{"source", "generated", "prompt", "p", "ai_generated", true}, "/ai_generated"},
		"eleven media":             {[]any{"kind", "carousel", "media", strings.Split("abcdefghijk", "")}, "/media"},
		"a fit that is not one":    {[]any{"media", []string{mine}, "fit", "stretch"}, "/fit"},
		"a source that is no one":  {[]any{"source", "stolen"}, "/source"},
	} {
		b := w.body(append([]any{"source", "provided"}, c.members...)...)
		if len(c.members) == 0 || c.members[0] != "prompt" && !(len(c.members) > 3 && c.members[2] == "prompt") {
			delete(b, "prompt")
		}
		a := w.Call(http.MethodPost, "/v1/content-items", b)
		if a.Status == http.StatusUnprocessableEntity && a.Error.Param == c.param {
			continue
		}
		if a.Unusable(t, c.param); t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestMediaStayAsLongAsTheirItems(t *testing.T) {
	w := newWorld(t)
	mine := w.own(w.Caller, picture(1080, 1350))
	first := w.provide("media", []string{mine}, "caption", "One")
	second := w.provide("caption", "Two", "variants", object{"telegram": object{"media": []string{mine}}})
	holders := func() (r struct{ Holders int }) {
		w.document(mine, &r)
		return r
	}
	if n := holders().Holders; n != 2 {
		t.Errorf("%d items show the media", n)
	}
	w.Call(http.MethodPatch, "/v1/content-items/"+second.ID, object{"variants": nil}).Into(t, 200, new(item.Item))
	w.Call(http.MethodDelete, "/v1/content-items/"+first.ID, nil).Into(t, 200, new(item.Item))
	if n := holders().Holders; n != 0 {
		t.Errorf("%d items show the media", n)
	}
}
