package area_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// own makes a media of a caller: ready with a file, or rejected for a reason, or pending.
func (w *studioWorld) own(c *apitest.Caller, file *media.File, why *incoming.Reason) string {
	w.T.Helper()
	commit := func(fill func(tx *store.Tx) error) {
		w.T.Helper()
		tx := &store.Tx{}
		if err := fill(tx); err != nil {
			w.T.Fatal(err)
		}
		if err := w.DB.Commit(w.T.Context(), tx); err != nil {
			w.T.Fatal(err)
		}
	}
	now := w.Now()
	r := incoming.New(id.New(id.Media, now), now, incoming.Declared{}, "", nil)
	commit(func(tx *store.Tx) error { return incoming.Create(tx, now, c.Principal.Owner, r) })
	// Its task is not tested here.
	task, err := w.DB.Get(w.T.Context(), incoming.TaskKey(r.ID))
	if err != nil {
		w.T.Fatal(err)
	}
	commit(func(tx *store.Tx) error { tx.Delete(task); return nil })
	if file != nil || why != nil {
		it := w.item(r.ID)
		commit(func(tx *store.Tx) error { return incoming.Settle(tx, now, it, r, file, why) })
	}
	return r.ID
}

func (w *studioWorld) item(resourceID string) store.Item {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(resourceID))
	if err != nil {
		w.T.Fatal(err)
	}
	return it
}

var (
	ownPhoto  = &media.File{Type: media.Image, MIMEType: "image/png", Key: "media/a/live/med/1/photo.png"}
	ownSpeech = &media.File{Type: media.Audio, MIMEType: "audio/mpeg", Key: "media/a/live/med/1/speech.mp3",
		DurationSeconds: 2.5}
)

// The provider is sent signed addresses of the caller's media. A recording among them is charged by its length,
// without being fetched.
func TestMediaOfTheCallerAreUsed(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(1000)
	live := w.Live()
	photo, speech := w.own(live, ownPhoto, nil), w.own(live, ownSpeech, nil)
	body := object{"audio_url": speech, "image_url": photo}
	var estimate studio.Estimate
	live.Call(http.MethodPost, "/v1/studio/estimates", object{"kind": "avatar", "input": body}).Into(t,
		http.StatusOK, &estimate)
	made := create(live, t, "avatars", body)
	if made.Input.AudioURL != speech || made.Input.ImageURL != photo || made.Input.Seconds != 3 ||
		estimate.Credits != 25 || w.Balance() != 975 {
		t.Errorf("%+v; estimated are %d, the balance is %d", made.Input, estimate.Credits, w.Balance())
	}
	w.engine.Drain()
	if got := studioGet(live, t, made.ID); got.State != studio.Generated || got.CostCredits != 25 {
		t.Errorf("%+v", got)
	}
	req := w.provider.requests[0]
	for address, key := range map[string]string{req.AudioURL: ownSpeech.Key, req.ImageURL: ownPhoto.Key} {
		if u, err := url.Parse(address); err != nil || u.Path != "/"+key || u.Query().Get("X-Amz-Signature") == "" {
			t.Errorf("the provider was sent %s", address)
		}
	}
	if req.SpeechLength != 2500*time.Millisecond || w.urls.reads != 0 || len(w.bucket.objects) != 0 {
		t.Errorf("spoken are %v; there were %d fetches, %d files are kept", req.SpeechLength, w.urls.reads,
			len(w.bucket.objects))
	}
	video := create(live, t, "videos", object{"prompt": "A shoe", "image_url": photo, "model": "kling-2.6-pro"})
	w.engine.Drain()
	if got := studioGet(live, t, video.ID); got.State != studio.Generated ||
		!strings.Contains(w.provider.requests[1].ImageURL, ownPhoto.Key) {
		t.Errorf("%+v; the provider was sent %+v", got, w.provider.requests[1])
	}
}

func TestMediaThatCannotBeUsed(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(1000)
	live := w.Live()
	for name, c := range map[string]struct {
		id   string
		code errs.Code
		says string
	}{
		"pending": {w.own(live, nil, nil), errs.ValidationFailed, "pending"},
		"rejected": {w.own(live, nil, &incoming.Reason{Code: "unreadable", Message: "It is broken."}),
			errs.ValidationFailed, "It is broken."},
		"a recording":     {w.own(live, ownSpeech, nil), errs.UnsupportedMedia, "audio"},
		"another mode's":  {w.own(w.Caller, ownPhoto, nil), errs.NotFound, "No media"},
		"another account": {w.own(live.Stranger(), ownPhoto, nil), errs.NotFound, "No media"},
		"no media":        {id.New(id.Media, w.Now()), errs.NotFound, "No media"},
		"no id":           {"med_1", errs.NotFound, "not a whole id"},
	} {
		a := live.Call(http.MethodPost, "/v1/studio/videos", object{"prompt": "A shoe", "image_url": c.id,
			"model": "kling-2.6-pro"})
		a.RefusedAs(t, c.code, "/image_url")
		if a.Error != nil && !strings.Contains(a.Error.Message, c.says) {
			t.Errorf("%s: %s", name, a.Error.Message)
		}
		live.Call(http.MethodPost, "/v1/studio/estimates", object{"kind": "video", "model": "kling-2.6-pro",
			"input": object{"prompt": "A shoe", "image_url": c.id}}).RefusedAs(t, c.code, "/input/image_url")
	}
	if w.Balance() != 1000 {
		t.Errorf("the balance is %d", w.Balance())
	}
}

// Each day on which it is used moves the end of a media to 30 days later.
func TestAMediaThatIsUsedStays(t *testing.T) {
	w := newStudioWorld(t)
	photo := w.own(w.Caller, ownPhoto, nil)
	use := func() (version int64, ends time.Time) {
		t.Helper()
		create(w.Caller, t, "videos", object{"prompt": "A shoe", "image_url": photo, "model": "kling-2.6-pro"})
		it := w.item(photo)
		r, err := incoming.Decode(&it)
		if err != nil {
			t.Fatal(err)
		}
		return r.Version, r.ExpiresAt.Time
	}
	first, ends := use()
	w.Clock.Add(10 * 24 * time.Hour)
	if version, later := use(); version != first+1 || !later.Equal(ends.Add(10*24*time.Hour)) {
		t.Errorf("after ten days it ends at %v, was %v; version %d, was %d", later, ends, version, first)
	}
	w.Clock.Add(time.Hour)
	if version, _ := use(); version != first+1 {
		t.Errorf("an hour later it was written again: version %d", version)
	}
}
