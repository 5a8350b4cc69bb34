package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// own brings a media of a caller in, which is ready where it has a type.
func (w *factoryWorld) own(c *apitest.Caller, of media.Type, length ...float64) string {
	w.T.Helper()
	now := w.Now()
	commit := func(write func(tx *store.Tx) error) {
		tx := &store.Tx{}
		if err := write(tx); err != nil {
			w.T.Fatal(err)
		}
		if err := w.DB.Commit(w.T.Context(), tx); err != nil {
			w.T.Fatal(err)
		}
	}
	r := incoming.New(id.New(id.Media, now), now, incoming.Declared{}, "", nil)
	commit(func(tx *store.Tx) error { return incoming.Create(tx, now, c.Principal.Owner, r) })
	if of != "" {
		plays := 4.0
		if len(length) > 0 {
			plays = length[0]
		}
		it, err := w.DB.Get(w.T.Context(), store.IDKey(r.ID))
		if err != nil {
			w.T.Fatal(err)
		}
		commit(func(tx *store.Tx) error {
			return incoming.Settle(tx, now, it, r, &media.File{ID: r.ID, Type: of, Key: "media/" + r.ID,
				DurationSeconds: plays}, nil)
		})
	}
	w.Clock.Add(time.Second)
	return r.ID
}

// files returns the files that the table has of a factory.
func (w *factoryWorld) files(factoryID string) factory.Files {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(factoryID))
	if err != nil {
		w.T.Fatal(err)
	}
	f, err := factory.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	return f.Files
}

// logo returns the id of the logo that the table has of a factory.
func (w *factoryWorld) logo(factoryID string) string { return idOf(w.files(factoryID).Logo) }

func idOf(f *media.File) string {
	if f == nil {
		return ""
	}
	return f.ID
}

func TestALogoIsAPictureOfTheAccount(t *testing.T) {
	w := newFactoryWorld(t)
	one, other := w.own(w.Caller, media.Image), w.own(w.Caller, media.Image)
	settings := func(logo string) object {
		return object{"type": "brand", "settings": object{"brand_name": "Acme", "logo": logo}}
	}
	for name, logo := range map[string]string{
		"a song": w.own(w.Caller, media.Audio), "pending": w.own(w.Caller, ""),
		"unknown":            "med_01h455vb4pex5vsknk084sn02q",
		"of another account": w.own(w.Stranger(), media.Image), "of the other mode": w.own(w.Live(), media.Image),
		"an address": "https://example.com/a.png",
	} {
		b := settings(logo)
		b["name"] = "Acme"
		w.Call(http.MethodPost, "/v1/factories", b).Unusable(t, "/settings/logo")
		if t.Failed() {
			t.Fatal(name)
		}
	}
	f := w.create("type", "brand", "settings", settings(one)["settings"])
	if w.logo(f.ID) != one {
		t.Errorf("the logo is %q", w.logo(f.ID))
	}
	it, err := w.DB.Get(t.Context(), store.IDKey(one))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := incoming.Decode(&it); err != nil || !r.InUse {
		t.Errorf("%+v, %v", r, err)
	}
	path := "/v1/factories/" + f.ID
	change := func(patch object, trips, want string) {
		t.Helper()
		w.Faults.Reset()
		w.Call(http.MethodPatch, path, patch).Into(t, http.StatusOK, new(any))
		if got := w.logo(f.ID); got != want || w.Faults.Operations() != trips+" GetItem" {
			t.Errorf("after %v the logo is %q; it took %s", patch, got, w.Faults.Operations())
		}
	}
	change(object{"name": "Acme & Co"}, "GetItem TransactWriteItems", one)
	change(object{"settings": object{"logo": other}}, "GetItem BatchGetItem TransactWriteItems", other)
	w.Call(http.MethodPatch, path, object{"settings": object{"logo": w.own(w.Caller, media.Audio)}}).Refused(t, 422,
		errs.ValidationFailed, "/settings/logo")
	change(object{"settings": object{"logo": nil}}, "GetItem TransactWriteItems", "")
}

// An intro or outro is a video or a picture of the account.
func TestAnIntroIsAMediaOfTheAccount(t *testing.T) {
	w := newFactoryWorld(t)
	video, picture, song := w.own(w.Caller, media.Video), w.own(w.Caller, media.Image), w.own(w.Caller, media.Audio)
	f := w.create("type", "seller", "settings", object{"currency": "EUR", "intro": video, "outro": picture})
	if got := w.files(f.ID); idOf(got.Intro) != video || idOf(got.Outro) != picture || got.Logo != nil {
		t.Errorf("the files are %+v", got)
	}
	for _, kept := range []string{video, picture} {
		it, err := w.DB.Get(t.Context(), store.IDKey(kept))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := incoming.Decode(&it); err != nil || !r.InUse {
			t.Errorf("%+v, %v", r, err)
		}
	}
	path := "/v1/factories/" + f.ID
	long := w.own(w.Caller, media.Video, 30.5)
	for name, bad := range map[string]string{
		"a song": song, "pending": w.own(w.Caller, ""), "unknown": "med_01h455vb4pex5vsknk084sn02q",
		"of another account": w.own(w.Stranger(), media.Video), "of the other mode": w.own(w.Live(), media.Image),
		"too long": long, "too short": w.own(w.Caller, media.Video, 0.4),
	} {
		for _, member := range []string{"intro", "outro"} {
			w.Call(http.MethodPatch, path, object{"settings": object{member: bad}}).Unusable(t, "/settings/"+member)
			if t.Failed() {
				t.Fatal(name)
			}
		}
	}
	if a := w.Call(http.MethodPatch, path, object{"settings": object{"intro": song, "outro": long}}); a.Status != 422 ||
		!strings.Contains(a.Raw, "/settings/intro") || !strings.Contains(a.Raw, "/settings/outro") {
		t.Errorf("two bad media: %s", a.Raw)
	}
	w.Call(http.MethodPatch, path, object{"settings": object{"intro": picture, "outro": nil}}).Into(t, http.StatusOK,
		new(any))
	if got := w.files(f.ID); idOf(got.Intro) != picture || got.Outro != nil {
		t.Errorf("the files are %+v", got)
	}
}

// A model's proposal cannot name a media.
func TestAProposalChangesNoMedia(t *testing.T) {
	f := factory.Factory{Type: factory.Brand, Name: "Acme", Language: "en", State: factory.StateActive,
		Settings: factory.TypeSettings(`{"brand_name":"Acme"}`)}
	for _, member := range []string{"logo", "intro", "outro"} {
		f := f
		_, err := f.Change(object{"settings": object{member: "med_01h455vb4pex5vsknk084sn02q"}}, time.Time{})
		if e := errs.As(err); err == nil || e.Param != "/settings/"+member {
			t.Errorf("%s: %v", member, err)
		}
	}
}

// A logo that cannot be read is not taken for none: the next change would drop its file.
func TestALogoThatCannotBeReadIsAnError(t *testing.T) {
	f := factory.Factory{Type: factory.Brand, Name: "Acme", Language: "en", State: factory.StateActive,
		Settings: factory.TypeSettings(`{"brand_name":"Acme","logo":7}`)}
	if _, err := f.Change(object{"name": "Acme & Co", "settings": object{"logo": nil}}, time.Time{}); err == nil ||
		!strings.Contains(err.Error(), "media of settings") {
		t.Errorf("%v", err)
	}
}
