package content_test

import (
	"net/http"
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

// bumpered makes a factory whose intro plays some seconds, and whose outro is a picture, which is shown for 2 s.
func (w *world) bumpered(seconds float64) {
	w.T.Helper()
	intro := w.own(w.Caller, &media.File{ID: "intro", Type: media.Video, Key: "media/intro", MIMEType: "video/mp4",
		DurationSeconds: seconds})
	outro := w.own(w.Caller, &media.File{ID: "outro", Type: media.Image, Key: "media/outro", MIMEType: "image/png"})
	w.factory = w.makeFactory(object{"type": "brand", "name": "Acme", "language": "de",
		"settings": object{"brand_name": "Acme", "intro": intro, "outro": outro}})
}

// video returns the last composition.
func (w *world) video() generate.Video { return w.composed[len(w.composed)-1].(generate.Video) }

// The intro and the outro count in the length of a video: what is made for it is shorter by them.
func TestAnIntroCountsInTheLength(t *testing.T) {
	w := newWorld(t)
	w.bumpered(2.5)
	it := w.generated("kind", "video", "visuals", "stills", "music", "generated", "duration_seconds", 20)
	v := w.video()
	if v.Intro.ID != "intro" || v.Outro.ID != "outro" || v.Length != 15500*time.Millisecond || *it.DurationSeconds != 20 {
		t.Errorf("%d s: %+v", *it.DurationSeconds, v)
	}
	if n := len(it.Scenes); n != 3 {
		t.Errorf("it has %d scenes", n)
	}
	for _, req := range w.provider.requests {
		if req.Kind == provider.KindMusic && req.Seconds > 15 {
			t.Errorf("the music plays %d s", req.Seconds)
		}
		if strings.Contains(req.User, "med_") {
			t.Errorf("a model reads %q", req.User)
		}
	}
	// A correction keeps them, also when the factory has none any more.
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"settings": object{"intro": nil, "outro": nil}}).Into(t,
		http.StatusOK, new(any))
	if _, kinds := w.corrected(it, object{"music": "none"}); len(kinds) != 0 || w.video().Intro == nil ||
		w.video().Outro == nil || w.video().Length != v.Length {
		t.Errorf("%v were made: %+v", kinds, w.video())
	}
	if w.generated("kind", "video", "duration_seconds", 10); w.video().Intro != nil {
		t.Errorf("%+v", w.video())
	}
}

func TestStoriesThatAreClipsHaveAnIntro(t *testing.T) {
	w := newWorld(t)
	w.bumpered(1.5)
	it := w.generated("kind", "story", "model", "kling-2.5-turbo-pro")
	v := w.video()
	if *it.DurationSeconds != 8 || v.Intro == nil || v.Scenes[0].Length != 4500*time.Millisecond {
		t.Errorf("%d s: %+v", *it.DurationSeconds, v)
	}
	// A picture has none.
	if w.generated("kind", "post"); w.composed[len(w.composed)-1].(generate.Picture).File == nil {
		t.Error("a post was not composed")
	}
}

func TestAScriptIsSpokenBetweenIntroAndOutro(t *testing.T) {
	w := newWorld(t)
	it := w.create("kind", "video", "visuals", "stills", "script", script)
	w.bumpered(2.5)
	if with := w.create("kind", "video", "visuals", "stills", "script", script); *with.DurationSeconds !=
		*it.DurationSeconds+5 || len(with.Scenes) != len(it.Scenes) {
		t.Errorf("%d s with, %d s without", *with.DurationSeconds, *it.DurationSeconds)
	}
	w.bumpered(9)
	a := w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "video", "prompt": "Netze",
		"script": "Der neue Laufschuh ist jetzt da. Er ist aus Netzen. Komm vorbei und sieh ihn dir einmal an."})
	a.Refused(t, 422, errs.ValidationFailed, "/script")
	if !strings.Contains(a.Raw, "take 11.0 seconds, and may take half of the video at most") {
		t.Error(a.Raw)
	}
}

func TestALengthThatLeavesLittleIsRefused(t *testing.T) {
	w := newWorld(t)
	w.bumpered(4.2)
	for seconds, fits := range map[int]bool{10: false, 12: false, 14: true} {
		a := w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "video",
			"prompt": "Netze", "visuals": "stills", "duration_seconds": seconds})
		if fits {
			a.Into(t, http.StatusAccepted, new(any))
			continue
		}
		a.Refused(t, 422, errs.ValidationFailed, "/duration_seconds")
		if !strings.Contains(a.Raw, "must be at least 14: the intro and the outro of the factory take 6.2 seconds") {
			t.Error(a.Raw)
		}
	}
	w.bumpered(25)
	if it := w.create("kind", "video", "visuals", "stills"); *it.DurationSeconds != 54 {
		t.Errorf("without a length it is %d s long", *it.DurationSeconds)
	}
	w.bumpered(29)
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "video", "prompt": "Netze",
		"visuals": "stills"}).Refused(t, 422, errs.ValidationFailed, "/factory_id")
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "story", "prompt": "Netze",
		"model": "kling-2.5-turbo-pro", "duration_seconds": 10}).Refused(t, 422, errs.ValidationFailed, "/factory_id")
}

// TikTok permits no brand in media: a video for it has no intro and no outro, and others are not published there.
func TestVideosForTikTokHaveNoIntro(t *testing.T) {
	w := newWorld(t)
	w.bumpered(2.5)
	branded := w.generated("kind", "video", "visuals", "stills", "duration_seconds", 20)
	tiktok := w.connect("tiktok")
	w.Call(http.MethodPost, path(branded.ID, "publish"), object{"social_account_ids": []string{tiktok},
		"options": choices()}).Refused(t, 422, errs.ValidationFailed, "/media")
	w.attach(tiktok)
	plain := w.generated("kind", "video", "visuals", "stills", "duration_seconds", 20)
	if v := w.video(); v.Intro != nil || v.Outro != nil || v.Length != 15500*time.Millisecond {
		t.Errorf("%+v", v)
	}
	w.publish(plain.ID, "social_account_ids", []string{tiktok}, "options", choices())
	// A shop without a name has nothing else of a brand.
	intro := w.own(w.Caller, &media.File{ID: "intro", Type: media.Video, Key: "media/intro", DurationSeconds: 2})
	w.factory = w.makeFactory(object{"type": "seller", "name": "Acme", "language": "de",
		"settings": object{"currency": "EUR", "intro": intro}})
	w.attach(tiktok)
	if w.generated("kind", "video", "visuals", "stills"); w.video().Intro != nil {
		t.Errorf("%+v", w.video())
	}
}

// A broken intro is the caller's: the completed parts are charged.
func TestABrokenIntroIsPaidFor(t *testing.T) {
	broken := provider.FailureOf(provider.FailedInputUnreadable)
	for _, part := range []string{"/intro", "media/outro"} {
		broken.Part = part
		w := newWorld(t)
		w.live(10_000)
		w.bumpered(2.5)
		w.composer = failing{broken}
		w.kernel = w.kernelAt(w.Now)
		it := w.create("kind", "video", "visuals", "stills", "duration_seconds", 20)
		w.do(it.ID)
		if got := w.get(it.ID); got.State != item.Failed || got.CostCredits == 0 ||
			w.events(it.ID)[event.ContentFailed] != 1 {
			t.Errorf("%s: it has cost %d: %+v", part, got.CostCredits, got.Failure)
		}
	}
}
