package content_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// own brings a media of a caller in, which is ready where it has a file.
func (w *world) own(c *apitest.Caller, file *media.File) string {
	w.T.Helper()
	now := w.Now()
	r := incoming.New(id.New(id.Media, now), now, incoming.Declared{}, "", nil)
	tx := &store.Tx{}
	if err := incoming.Create(tx, now, c.Principal.Owner, r); err != nil {
		w.T.Fatal(err)
	}
	w.commit(tx)
	if file != nil {
		it, err := w.DB.Get(w.T.Context(), store.IDKey(r.ID))
		if err != nil {
			w.T.Fatal(err)
		}
		tx = &store.Tx{}
		if err := incoming.Settle(tx, now, it, r, file, nil); err != nil {
			w.T.Fatal(err)
		}
		w.commit(tx)
	}
	w.Clock.Add(time.Second)
	return r.ID
}

func TestItemsOfABatchShareTheirMusic(t *testing.T) {
	w := newWorld(t)
	mine := w.own(w.Caller, tune())
	body := w.body("kind", "video", "music", mine, "duration_seconds", 10)
	var made []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": []object{body, w.body(), body}}).Into(t,
		http.StatusAccepted, &made)
	if len(made) != 3 || *made[0].Music != mine || *made[2].Music != mine {
		t.Errorf("%+v", made)
	}
}

// tune is the file of music.
func tune() *media.File {
	return &media.File{ID: "tune", Type: media.Audio, MIMEType: "audio/mpeg", Key: "media/tune.mp3",
		DurationSeconds: 90, Bytes: 1000}
}

func TestMusicIsTheCallersOwn(t *testing.T) {
	w := newWorld(t)
	mine := w.own(w.Caller, tune())
	w.Faults.Reset()
	it := w.create("kind", "video", "music", mine, "duration_seconds", 10)
	if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" || *it.Music != mine {
		t.Errorf("%s, %+v", ops, it)
	}
	w.do(it.ID)
	if got := w.get(it.ID); got.State != item.Generated || *got.Music != mine || got.Media[0].Role != media.Final {
		t.Errorf("%+v", got)
	}
	for _, f := range w.get(it.ID).Media {
		if f.Role == media.Track {
			t.Errorf("music was generated: %+v", f)
		}
	}
	// It is used again by the next attempt, unless that asks for other music.
	var again item.Item
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{}).Into(t, http.StatusAccepted, &again)
	if *again.Music != mine {
		t.Errorf("%+v", again)
	}
	w.doAttempt(it.ID, 2)
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"music": "generated", "visuals": "stills",
		"duration_seconds": 15}).Into(t, http.StatusAccepted, &again)
	if *again.Music != "generated" || *again.Visuals != "stills" || *again.DurationSeconds != 15 ||
		again.Model != "flux-pro-1.1" || again.Progress != 0 {
		t.Errorf("%+v", again)
	}
	w.doAttempt(it.ID, 3)
	// A media that has gone is refused by then.
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"music": mine}).Into(t, http.StatusAccepted, &again)
	w.doAttempt(it.ID, 4)
	gone, err := w.DB.Get(t.Context(), store.IDKey(mine))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Delete(gone)
	w.commit(tx)
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{}).Refused(t, 404, errs.NotFound, "/music")
}

func TestMusicThatCannotBeUsedIsRefused(t *testing.T) {
	w := newWorld(t)
	long := tune()
	long.DurationSeconds = 1000
	it := w.generated("kind", "video", "duration_seconds", 10)
	for name, c := range map[string]struct {
		music string
		code  errs.Code
	}{
		"an unknown one": {"med_01h455vb4pex5vsknk084sn02q", errs.NotFound},
		"a picture": {w.own(w.Caller, &media.File{Type: media.Image, MIMEType: "image/png"}),
			errs.UnsupportedMedia},
		"too long": {w.own(w.Caller, long), errs.UnsupportedMedia},
		"another format": {w.own(w.Caller, &media.File{Type: media.Audio, MIMEType: "audio/mp4",
			DurationSeconds: 9}), errs.UnsupportedMedia},
		"pending":            {w.own(w.Caller, nil), errs.ValidationFailed},
		"of the other mode":  {w.own(w.Live(), tune()), errs.NotFound},
		"of another account": {w.own(w.Stranger(), tune()), errs.NotFound},
		"an address":         {"https://example.com/a.mp3", errs.ValidationFailed},
		"a wish":             {"jazz", errs.ValidationFailed},
	} {
		body := w.body("kind", "video", "music", c.music)
		w.Call(http.MethodPost, "/v1/content-items", body).RefusedAs(t, c.code, "/music")
		w.Call(http.MethodPost, batchPath, object{"items": []object{w.body(), body}}).RefusedAs(t, c.code, "/items/1/music")
		w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"music": c.music}).RefusedAs(t, c.code, "/music")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestWhatIsAskedOfVideosIsChecked(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		members []any
		code    errs.Code
		param   string
	}{
		"too short": {[]any{"kind", "video", "duration_seconds", 9}, errs.ValidationFailed,
			"/duration_seconds"},
		"too long": {[]any{"kind", "video", "duration_seconds", 61}, errs.ValidationFailed,
			"/duration_seconds"},
		"far too long": {[]any{"kind", "video", "format", "long", "duration_seconds", 181},
			errs.ValidationFailed, "/duration_seconds"},
		"a length of a post": {[]any{"duration_seconds", 20}, errs.ValidationFailed, "/duration_seconds"},
		"more than a model can": {[]any{"kind", "story", "model", "veo-3.1", "duration_seconds", 9},
			errs.ValidationFailed, "/duration_seconds"},
		"visuals of a story":  {[]any{"kind", "story", "visuals", "clips"}, errs.ValidationFailed, "/visuals"},
		"other visuals":       {[]any{"kind", "video", "visuals", "drawings"}, errs.ValidationFailed, "/visuals"},
		"music of a carousel": {[]any{"kind", "carousel", "music", "none"}, errs.ValidationFailed, "/music"},
		"stills of clips": {[]any{"kind", "video", "visuals", "stills", "model", "veo-3.1"},
			errs.UnsupportedModel, "/model"},
		"a language": {[]any{"kind", "video", "language", "bn"}, errs.ValidationFailed, "/language"},
		"a heading": {[]any{"kind", "carousel", "slides", []object{{"text": "এক"}, {}}},
			errs.ValidationFailed, "/slides/0/text"},
	} {
		w.Call(http.MethodPost, "/v1/content-items", w.body(c.members...)).Refused(t, 422, c.code, c.param)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	post := w.generated()
	w.Call(http.MethodPost, path(post.ID, "regenerate"), object{"duration_seconds": 20}).Refused(t, 422,
		errs.ValidationFailed, "/duration_seconds")
	// Emoji are shown.
	it := w.generated("kind", "carousel", "slides", []object{{"text": strings.Repeat("😀", 200)}, {}})
	if it.State != item.Generated {
		t.Errorf("%+v", it)
	}
}

func TestProgressIsShownInFewSteps(t *testing.T) {
	w := newWorld(t)
	it := w.create("kind", "video", "model", "kling-2.6-pro")
	shown := map[int]bool{}
	w.Faults.After = func(c storetest.Call) error {
		if c.Operation == "TransactWriteItems" {
			shown[w.get(it.ID).Progress] = true
		}
		return nil
	}
	w.do(it.ID)
	got := w.get(it.ID)
	// It was accepted, has begun and ended, and shown its progress at most four times.
	if got.State != item.Generated || got.Progress != 100 || got.Version > 3+4 || len(shown) < 4 || len(shown) > 6 {
		t.Errorf("version %d, progress %v", got.Version, shown)
	}
}

// A script of a live model that no font covers costs nothing but the time of a text.
func TestAnUnshowableScriptFailsBeforeItIsSpoken(t *testing.T) {
	w := newWorld(t)
	w.provider.Provider = writing{w.provider.Provider, "ট্রেইল দৌড়"}
	it := w.generated("kind", "video")
	if it.State != item.Failed || it.Failure.Code != provider.FailedScript || it.Failure.Retryable ||
		it.Failure.Stage != "compose" {
		t.Errorf("%+v, %+v", it.State, it.Failure)
	}
	for _, req := range w.provider.requests {
		if req.Kind != provider.KindText {
			t.Errorf("%s was made", req.Kind)
		}
	}
}

// writing is a provider whose scripts say something else.
type writing struct {
	provider.Provider
	said string
}

func (p writing) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	sub, err := p.Provider.Submit(ctx, req)
	if err == nil && sub.Result != nil && sub.Result.Text != nil {
		for i := range sub.Result.Text.Scenes {
			sub.Result.Text.Scenes[i].Text = p.said
		}
	}
	return sub, err
}

// failing is an engine of compositions that fails.
type failing struct{ err error }

func (f failing) Compose(context.Context, generate.Composition, generate.Origin, func(int), generate.Save) error {
	return f.err
}

// Silent music is detected after all parts have been made: they are charged, and do not count towards the limit of
// losses.
func TestSilentMusicOfTheCallerIsPaidFor(t *testing.T) {
	silent := provider.FailureOf(provider.FailedInputSilent)
	silent.Part = "/music"
	for music, free := range map[string]bool{"": false, "generated": true} {
		w := newWorld(t)
		w.live(10_000)
		if music == "" {
			music = w.own(w.Caller, tune())
		}
		w.composer = failing{silent}
		w.kernel = w.kernelAt(w.Now)
		it := w.create("kind", "video", "visuals", "stills", "music", music, "duration_seconds", 10)
		w.do(it.ID)
		got := w.get(it.ID)
		lost, risk := w.lost()
		if got.State != item.Failed || got.Failure.Code != provider.FailedInputSilent ||
			(got.CostCredits == 0) != free || (lost > 0) != free || risk != 0 || w.credits() != 10_000-got.CostCredits {
			t.Errorf("music %s: %+v has cost %d, %d are lost, and there are %d credits", music, got.Failure,
				got.CostCredits, lost, w.credits())
		}
		if _, sum := w.history(it.ID); sum.Credits != got.CostCredits || sum.Failed != 1 {
			t.Errorf("music %s: analytics count %+v", music, sum)
		}
	}
}

// Texts that finished media could not show are refused before anything is paid.
func TestTextsThatCannotBeShownAreRefused(t *testing.T) {
	const amharic = "\u12e8\u1218\u1295\u1308\u12f5 \u1229\u132b"
	w := newWorld(t)
	for name, c := range map[string]struct {
		members []any
		param   string
	}{
		"a title without a font":  {[]any{"kind", "story", "title", amharic}, "/title"},
		"a title of a track, too": {[]any{"kind", "music_clip", "title", amharic}, "/title"},
		"a title that is too long": {[]any{"kind", "music_clip", "title",
			strings.Repeat("Laufschuhe aus Netzen ", 9)}, "/title"},
		"a heading that is too wide": {[]any{"kind", "carousel", "slides",
			[]object{{}, {"text": strings.Repeat("\ufdfd", 60)}}}, "/slides/1/text"},
		"a heading without a font": {[]any{"kind", "carousel", "slides", []object{{"text": amharic}, {}}},
			"/slides/0/text"},
		"a brand's name without font": {[]any{"kind", "carousel", "factory_id",
			w.makeFactory(object{"type": "brand", "name": "B", "settings": object{"brand_name": amharic}})},
			"/factory_id"},
		"a brand's name, too long": {[]any{"kind", "carousel", "factory_id",
			w.makeFactory(object{"type": "brand", "name": "B",
				"settings": object{"brand_name": strings.Repeat("\ufdfd", 12)}})}, "/factory_id"},
	} {
		a := w.Call(http.MethodPost, "/v1/content-items", w.body(c.members...))
		if a.Refused(t, 422, errs.ValidationFailed, c.param); t.Failed() {
			t.Fatal(name)
		}
	}
	story, clip, post := w.create("kind", "story"), w.create("kind", "music_clip"), w.create()
	for _, it := range []item.Item{story, clip} {
		w.Call(http.MethodPatch, path(it.ID), object{"title": amharic}).Refused(t, 422, errs.ValidationFailed, "/title")
	}
	w.Call(http.MethodPatch, path(clip.ID), object{"title": strings.Repeat("M", 200)}).Refused(t, 422,
		errs.ValidationFailed, "/title")
	// which no picture shows
	w.Call(http.MethodPatch, path(post.ID), object{"title": amharic}).Into(t, http.StatusOK, new(item.Item))
	w.Call(http.MethodPatch, path(story.ID), object{"title": strings.Repeat("Laufschuhe ", 18)}).Into(t, http.StatusOK,
		new(item.Item))
}
