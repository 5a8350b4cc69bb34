package area_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	profilerecord "github.com/content-automation/api/pkg/record/profile"
	record "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

// engine makes the previews of a world.
func (w *templateWorld) engine() *generatetest.Engine {
	return generatetest.New(w.T, w.DB, w.Clock, generatetest.Only{},
		map[string]generate.Loader{template.PreviewKind: template.Loader{}})
}

func (w *templateWorld) get(c *apitest.Caller, templateID string) (d template.Details) {
	w.T.Helper()
	c.Call(http.MethodGet, templatePath+"/"+templateID, nil).Into(w.T, http.StatusOK, &d)
	return d
}

// A preview has the pictures of its kind, and is replaced by the next one, whose files are the only ones left. One is
// made at a time.
func TestAPreviewReplacesTheLastOne(t *testing.T) {
	for _, mode := range []tenant.Mode{tenant.Test, tenant.Live} {
		w := newTemplateWorld(t)
		w.Caller = w.As(func(p *auth.Principal) { p.Mode = mode })
		e := w.engine()
		d := w.make()
		for kind, pictures := range map[string]int{"": 1, "carousel": 4, "story": 1, "product": 1, "video": 3,
			"music": 1} {
			var body any
			if kind != "" {
				body = object{"kind": kind, "heading": "Nets", "language": "ar"}
			}
			var asked template.Accepted
			w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", body).Into(t, http.StatusAccepted, &asked)
			if asked.State != "queued" || asked.ID != d.ID || asked.Version != 1 {
				t.Errorf("%q begins as %+v", kind, asked)
			}
			w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", body).RefusedAs(t, errs.InvalidState, "")
			e.Drain()
			got := w.get(w.Caller, d.ID).Preview
			if got.State != "generated" || len(got.Media) != pictures || got.Failure != nil {
				t.Fatalf("%q ends as %+v", kind, got)
			}
			for _, key := range e.Objects.Keys() {
				if !strings.Contains(key, strings.SplitN(got.Media[0].ID, "_1_", 2)[0]) {
					t.Errorf("%q leaves the file %s", kind, key)
				}
			}
		}
		if rows := storetest.Rows(t, w.DB, generate.RegisterKind); len(rows) > 0 {
			t.Errorf("the register of finished files has %v", rows)
		}
		w.id(http.MethodDelete, templatePath+"/"+d.ID, nil)
		e.Drain()
		if left := e.Objects.Keys(); len(left) > 0 {
			t.Errorf("%s: the files stay: %v", mode, left)
		}
	}
}

// A template is deleted while its preview is made: the work ends, and leaves nothing.
func TestADeletedTemplateEndsItsPreview(t *testing.T) {
	w := newTemplateWorld(t)
	e := w.engine()
	d := w.make()
	w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", nil)
	e.Step()
	w.id(http.MethodDelete, templatePath+"/"+d.ID, nil)
	e.Drain()
	if rows, left := storetest.Rows(t, w.DB, template.PreviewKind), e.Objects.Keys(); len(rows)+len(left) > 0 {
		t.Errorf("it leaves %v, %v", rows, left)
	}
}

// A preview shows the brand of a factory that the caller sees and that may use the template.
func TestAPreviewHasAFactoryOfItsOwner(t *testing.T) {
	w := newTemplateWorld(t)
	d := w.make()
	one := w.id(http.MethodPost, "/v1/profiles", object{"name": "One"})
	own := w.make("profile_id", one)
	fac := w.id(http.MethodPost, "/v1/factories", object{"type": "brand", "name": "Acme",
		"settings": object{"brand_name": "Acme"}})
	w.Call(http.MethodPost, templatePath+"/"+own.ID+"/preview", object{"factory_id": fac}).RefusedAs(t, errs.NotFound,
		"/factory_id")
	w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", object{"factory_id": "fac_01h455vb4pex5vsknk084sn02q"}).RefusedAs(
		t, errs.NotFound, "/factory_id")
	w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", object{"language": "klingon!"}).RefusedAs(t,
		errs.ValidationFailed, "/language")
	if got := w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", object{"factory_id": fac}); got.Status != 202 {
		t.Errorf("the factory is refused: %s", got.Raw)
	}
}

// A preview of a profile has its name and logo, and the rest of its newest factory, or without one that of a sample.
func TestAPreviewHasTheBrandOfAProfile(t *testing.T) {
	w := newTemplateWorld(t)
	one := w.id(http.MethodPost, "/v1/profiles", object{"name": "Harbour Coffee"})
	two := w.id(http.MethodPost, "/v1/profiles", object{"name": "Two"})
	shown := func() generate.Picture {
		d := w.make()
		w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", object{"profile_id": one}).Into(t, http.StatusAccepted,
			&template.Accepted{})
		return w.composed(d.ID).(generate.Picture)
	}
	if b := shown().Brand; b.Name != "Harbour Coffee" || b.Color != "#1f5eff" || b.Call != "Shop now" || b.Logo != nil {
		t.Errorf("without a factory it shows %+v", b)
	}
	add := func(of, name, color string) string {
		return w.id(http.MethodPost, "/v1/factories", object{"type": "brand", "name": name, "profile_id": of,
			"language": "de", "settings": object{"brand_name": name, "font": "lora", "colors": []string{color}}})
	}
	add(one, "Old", "#111111")
	add(one, "New", "#0a7cff")
	deleted := add(one, "Deleted", "#222222")
	w.Call(http.MethodDelete, "/v1/factories/"+deleted, nil)
	add(two, "Of another", "#333333")
	profileLogo(w, one)
	p := shown()
	if b := p.Brand; b.Name != "Harbour Coffee" || b.Color != "#0a7cff" || b.Font != "lora" || b.Logo == nil ||
		b.Logo.Key != "logo" || p.Language != "de" || b.Design == nil {
		t.Errorf("with factories it shows %+v in %s", p.Brand, p.Language)
	}
	own := w.make("profile_id", one)
	for member, body := range map[string]object{"another profile": {"profile_id": two},
		"no profile": {"profile_id": "prf_01h455vb4pex5vsknk084sn02q"}} {
		if got := w.Call(http.MethodPost, templatePath+"/"+own.ID+"/preview", body); got.Status != http.StatusNotFound ||
			!strings.Contains(got.Raw, `"/profile_id"`) {
			t.Errorf("%s: %d %s", member, got.Status, got.Raw)
		}
	}
	w.Call(http.MethodPost, templatePath+"/"+own.ID+"/preview", object{"profile_id": one, "factory_id": deleted}).RefusedAs(t,
		errs.ValidationFailed, "/profile_id")
}

// profileLogo gives a profile a logo, as if it had been brought in.
func profileLogo(w *templateWorld, profileID string) {
	w.T.Helper()
	it, err := w.DB.Lookup(w.T.Context(), store.IDKey(profileID))
	if err != nil {
		w.T.Fatal(err)
	}
	p, err := profilerecord.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	logo := incoming.New("med_01h455vb4pex5vsknk084sn02q", w.Now(), incoming.Declared{Type: media.Image}, "", nil)
	logo.State, logo.File = incoming.Ready, &media.File{ID: logo.ID, Type: media.Image, Key: "logo"}
	p.Logo = &logo.ID
	w.Commit(func(tx *store.Tx) error {
		file, err := store.NewItem(incoming.ItemKind, it.Owner, logo.ID, logo)
		if err == nil {
			err = it.Encode(p)
		}
		tx.Create(file, nil)
		tx.Replace(it)
		return err
	})
}

// composed returns the composition of the preview of a template.
func (w *templateWorld) composed(templateID string) generate.Composition {
	w.T.Helper()
	beside, err := w.DB.Lookup(w.T.Context(), record.NotesKey(templateID))
	if err != nil {
		w.T.Fatal(err)
	}
	n, err := record.NotesOf(beside)
	if err != nil {
		w.T.Fatal(err)
	}
	it, err := w.DB.Lookup(w.T.Context(), store.IDKey(n.Preview))
	if err != nil {
		w.T.Fatal(err)
	}
	one, err := template.Loader{}.Open(it)
	if err != nil {
		w.T.Fatal(err)
	}
	c, err := one.(generate.Composing).Composition(1, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}

// What a preview could not show is refused with the place of the member, as it is in a content item.
func TestWhatAPreviewCannotShowIsRefused(t *testing.T) {
	w := newTemplateWorld(t)
	d := w.make()
	long := strings.Repeat("漁網", 60)
	for name, c := range map[string]struct {
		body  object
		param string
	}{
		"letters without a font":          {object{"heading": "ꦲꦏ꧀ꦱꦫꦗꦮ"}, "/heading"},
		"a text without a font":           {object{"kind": "carousel", "text": "தமிழ் மொழி"}, "/text"},
		"a language without a font":       {object{"language": "ta"}, "/language"},
		"a language of the factory's own": {object{"language": "jv-Java"}, "/language"},
		"a heading too long for a scene":  {object{"kind": "video", "heading": long}, "/heading"},
		"a heading too long for a clip":   {object{"kind": "music", "heading": long}, "/heading"},
		"a body too long for a slide":     {object{"kind": "carousel", "text": strings.Repeat("漁網", 150)}, "/text"},
		"a kind that is none":             {object{"kind": "cover"}, "/kind"},
		"a heading of 121":                {object{"heading": strings.Repeat("a", 121)}, "/heading"},
		"a heading of two lines":          {object{"heading": "a\nb"}, "/heading"},
		"a blank heading":                 {object{"heading": " "}, "/heading"},
		"a number as a language":          {object{"language": 5}, "/language"},
		"a profile":                       {object{"profile_id": "prf_01h455vb4pex5vsknk084sn02q"}, "/profile_id"},
		"an id of another kind":           {object{"factory_id": d.ID}, "/factory_id"},
	} {
		got := w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", c.body)
		if got.Status != http.StatusUnprocessableEntity && got.Status != http.StatusNotFound ||
			!strings.Contains(got.Raw, `"`+c.param+`"`) {
			t.Errorf("%s: %d %s", name, got.Status, got.Raw)
		}
	}
}

// Without a text, a preview has a sample in its language, or else in English.
func TestAPreviewHasASampleInItsLanguage(t *testing.T) {
	w := newTemplateWorld(t)
	for language, want := range map[string]string{"": "From net", "en-GB": "From net", "de-CH": "Vom Netz",
		"pt-BR": "Da rede", "zh-Hant-TW": "從漁網", "zh-HK": "從漁網", "zh": "从渔网", "iw": "מהרשת", "fa": "از تور", "ur-PK": "جال", "el": "Από",
		"uk": "Від", "fi": "From net", "tlh": "From net"} {
		d := w.make()
		w.Call(http.MethodPost, templatePath+"/"+d.ID+"/preview", object{"language": language, "kind": "video"}).Into(t,
			http.StatusAccepted, &template.Accepted{})
		c := w.composed(d.ID)
		v, ok := c.(generate.Video)
		if !ok || !strings.HasPrefix(v.Headline, want) || v.Brand.Call == "" || v.Brand.Address == "" ||
			v.Offer.Until.IsZero() {
			t.Errorf("%q: %+v", language, c)
		}
	}
}
