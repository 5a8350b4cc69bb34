package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media/compose/theme"
	record "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

// templateWorld has templates, and what uses them.
type templateWorld struct{ *servicetest.World }

func newTemplateWorld(t *testing.T) *templateWorld {
	t.Helper()
	w := &templateWorld{servicetest.New(t)}
	signer := apitest.Signer(t, w.Now)
	w.Serve(template.NewService(w.DB, signer, w.Now), factory.NewService(w.DB, w.Now),
		profile.NewService(w.DB, signer, w.Now))
	return w
}

const templatePath = "/v1/templates"

// make creates a template that begins with a theme.
func (w *templateWorld) make(members ...any) template.Details {
	w.T.Helper()
	var d template.Details
	w.Call(http.MethodPost, templatePath, servicetest.Body(object{"name": "Acme", "theme": "bold"}, members...)).Into(w.T,
		http.StatusCreated, &d)
	w.Clock.Add(time.Minute)
	return d
}

func (w *templateWorld) id(method, path string, body any) string {
	w.T.Helper()
	var made struct{ ID string }
	want := http.StatusOK
	if method == http.MethodPost {
		want = http.StatusCreated
	}
	w.Call(method, path, body).Into(w.T, want, &made)
	w.Clock.Add(time.Minute)
	return made.ID
}

// A template begins with a theme of the service, or has all members; a patch changes single ones.
func TestATemplateBeginsWithATheme(t *testing.T) {
	w := newTemplateWorld(t)
	bold, _ := theme.Own("bold")
	d := w.make("design", object{"band": "#0a7cff", "post": object{"heading": 96}})
	if d.Design.Band != "#0a7cff" || d.Design.Post.Heading != 96 || d.Design.Post.Ground != bold.Post.Ground ||
		d.Version != 1 || d.Preview != nil || !strings.HasPrefix(d.ID, "tpl_") {
		t.Errorf("it begins as %+v", d)
	}
	var whole template.Details
	w.Call(http.MethodPost, templatePath, object{"name": "Copy", "design": d.Design}).Into(t, http.StatusCreated, &whole)
	if whole.Design.Post != d.Design.Post {
		t.Errorf("what was read and sent again is %+v", whole.Design)
	}
	var changed template.Details
	w.Call(http.MethodPatch, templatePath+"/"+d.ID, object{"design": object{"sticker": object{"shape": "burst"}}},
		"If-Match", `"1"`).Into(t, http.StatusOK, &changed)
	if changed.Design.Sticker.Shape != "burst" || changed.Design.Sticker.Color != bold.Sticker.Color ||
		changed.Version != 2 || changed.Design.Band != "#0a7cff" {
		t.Errorf("the patch makes it %+v", changed)
	}
	w.Call(http.MethodPatch, templatePath+"/"+d.ID, object{"name": "Late"}, "If-Match", `"1"`).RefusedAs(t,
		errs.VersionMismatch, "If-Match")
}

// Each fault of a design names its member, in a new template and in a patch.
func TestAFaultOfADesignNamesItsMember(t *testing.T) {
	w := newTemplateWorld(t)
	d := w.make()
	area := func(x, width float64) object { return object{"x": x, "y": 0, "width": width, "height": 50} }
	for param, design := range map[string]object{
		"/design/post/text/width":       {"post": object{"text": object{"width": 140}}},
		"/design/post/picture/x":        {"post": object{"picture": object{"x": -4}}},
		"/design/story/picture/width":   {"story": object{"picture": area(30, 90)}},
		"/design/product/picture/width": {"product": object{"picture": object{"width": 40}}},
		"/design/font":                  {"font": "comic_sans"},
		"/design/motion":                {"motion": "spin"},
		"/design/band":                  {"band": "pink"},
		"/design/last/letters":          {"last": object{"letters": "#12"}},
		"/design/post/heading":          {"post": object{"heading": 20}},
		"/design/post/body":             {"post": object{"body": 8}},
		"/design/captions/size":         {"captions": object{"size": 12}},
		"/design/sticker/shape":         {"sticker": object{"shape": "heart"}},
		"/design/slides":                {"slides": []any{}},
		"/design/slides/0/ground": {"slides": []object{{"picture": area(0, 90), "text": area(0, 90),
			"heading": 90}}},
		"/design/logo":           {"logo": "med_1"},
		"/design/post/shadow":    {"post": object{"shadow": true}},
		"/design/end_card/color": {"end_card": object{"color": 7}},
	} {
		w.Call(http.MethodPost, templatePath, object{"name": "Bad", "theme": "calm", "design": design}).RefusedAs(t,
			errs.ValidationFailed, param)
		w.Call(http.MethodPatch, templatePath+"/"+d.ID, object{"design": design}).RefusedAs(t, errs.ValidationFailed, param)
	}
	for param, body := range map[string]object{
		"/design":        {"name": "No design"},
		"/design/motion": {"name": "Part", "design": object{"font": "lora"}},
		"/theme":         {"name": "Loud", "theme": "loud"},
		"/design/slides": {"name": "Long", "theme": "calm", "design": object{"slides": make([]object, 5)}},
	} {
		w.Call(http.MethodPost, templatePath, body).RefusedAs(t, errs.ValidationFailed, param)
	}
	long := object{"name": "Long", "theme": "calm", "design": object{"font": strings.Repeat("x", 2<<20)}}
	w.Call(http.MethodPost, templatePath, long).RefusedAs(t, errs.BodyTooLarge, "")
}

// What uses a template keeps it, and is named. What uses it no more, or is gone, does not.
func TestATemplateInUseIsNotDeleted(t *testing.T) {
	w := newTemplateWorld(t)
	d := w.make()
	fac := w.id(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog", "template_id": d.ID})
	prf := w.id(http.MethodPost, "/v1/profiles", object{"name": "Client"})
	w.id(http.MethodPatch, "/v1/profiles/"+prf, object{"template_id": d.ID})
	gone := w.id(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Gone"})
	w.id(http.MethodPatch, "/v1/factories/"+gone, object{"template_id": d.ID})
	w.id(http.MethodDelete, "/v1/factories/"+gone, nil)

	used := w.Call(http.MethodDelete, templatePath+"/"+d.ID, nil)
	used.RefusedAs(t, errs.InvalidState, "")
	if !strings.Contains(used.Raw, fac) || !strings.Contains(used.Raw, prf) || strings.Contains(used.Raw, gone) {
		t.Errorf("the refusal is %s", used.Raw)
	}
	w.id(http.MethodPatch, "/v1/factories/"+fac, object{"template_id": nil})
	used = w.Call(http.MethodDelete, templatePath+"/"+d.ID, nil)
	used.RefusedAs(t, errs.InvalidState, "")
	if strings.Contains(used.Raw, fac) {
		t.Errorf("the factory uses it no more: %s", used.Raw)
	}
	w.id(http.MethodPatch, "/v1/profiles/"+prf, object{"template_id": nil})
	w.id(http.MethodDelete, templatePath+"/"+d.ID, nil)
	w.Call(http.MethodGet, templatePath+"/"+d.ID, nil).RefusedAs(t, errs.NotFound, "")
	w.Call(http.MethodPatch, "/v1/factories/"+fac, object{"template_id": d.ID}).RefusedAs(t, errs.NotFound,
		"/template_id")
}

// A factory begins to use a template at the moment in which it is deleted: one of the two calls fails.
func TestATemplateIsNotUsedWhileItIsDeleted(t *testing.T) {
	w := newTemplateWorld(t)
	d := w.make()
	key := store.IDKey(d.ID)
	it, err := w.DB.Get(t.Context(), record.NotesKey(d.ID))
	if err != nil {
		t.Fatal(err)
	}
	n, err := record.NotesOf(it) // as the deletion reads them
	if err != nil {
		t.Fatal(err)
	}
	w.id(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog", "template_id": d.ID})
	tx := &store.Tx{}
	n.Delete(tx)
	tx.Remove(key)
	if err := w.DB.Commit(t.Context(), tx); err != store.ErrConflict {
		t.Errorf("the deletion ends with %v", err)
	}
}

// Templates of others, of the other mode and of other profiles are not found; those of the account as a whole are for
// all profiles.
func TestATemplateIsOfItsOwner(t *testing.T) {
	w := newTemplateWorld(t)
	whole := w.make()
	one := w.id(http.MethodPost, "/v1/profiles", object{"name": "One"})
	two := w.id(http.MethodPost, "/v1/profiles", object{"name": "Two"})
	own := w.make("profile_id", one)
	for _, c := range []struct {
		profile, template string
		status            int
	}{{one, own.ID, http.StatusCreated}, {one, whole.ID, http.StatusCreated}, {two, own.ID, http.StatusNotFound},
		{"", own.ID, http.StatusNotFound}, {"", whole.ID, http.StatusCreated},
		{"", "tpl_01h455vb4pex5vsknk084sn02q", http.StatusNotFound}, {"", one, http.StatusNotFound}} {
		body := object{"type": "blogger", "name": "Blog", "template_id": c.template}
		if c.profile != "" {
			body["profile_id"] = c.profile
		}
		if got := w.Call(http.MethodPost, "/v1/factories", body); got.Status != c.status {
			t.Errorf("a factory of %q with %s answers %s", c.profile, c.template, got.Raw)
		}
		w.Clock.Add(time.Minute)
	}
	w.Call(http.MethodPatch, "/v1/profiles/"+two, object{"template_id": own.ID}).RefusedAs(t, errs.NotFound,
		"/template_id")

	// A key that is bound to a profile sees and uses those of the profile.
	bound := w.As(func(p *auth.Principal) {
		p.Profiles, p.Profile = []tenant.Profile{tenant.Profile(one)},
			tenant.Profile(one)
	})
	for templateID, status := range map[string]int{own.ID: http.StatusOK, whole.ID: http.StatusNotFound} {
		if got := bound.Call(http.MethodGet, templatePath+"/"+templateID, nil); got.Status != status {
			t.Errorf("a bound key gets %s", got.Raw)
		}
	}
	other := w.As(func(p *auth.Principal) { p.Account = "acc_other" })
	live := w.As(func(p *auth.Principal) { p.Mode = tenant.Live })
	for _, c := range []*apitest.Caller{other, live} {
		c.Call(http.MethodGet, templatePath+"/"+whole.ID, nil).RefusedAs(t, errs.NotFound, "")
		c.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog",
			"template_id": whole.ID}).RefusedAs(t, errs.NotFound, "/template_id")
		c.Call(http.MethodDelete, templatePath+"/"+whole.ID, nil).RefusedAs(t, errs.NotFound, "")
	}
}

// A design is no null: a new template needs one, with a theme or without, and that of a template cannot be removed.
func TestADesignIsNotNull(t *testing.T) {
	w := newTemplateWorld(t)
	d := w.make()
	const none, kept = "must be an object, not null", "must not be null: it can be changed, but not removed"
	for _, c := range []struct {
		method, path string
		body         object
		message      string
	}{
		{http.MethodPost, templatePath, object{"name": "Acme", "design": nil}, none},
		{http.MethodPost, templatePath, object{"name": "Acme", "theme": "bold", "design": nil}, none},
		{http.MethodPatch, templatePath + "/" + d.ID, object{"design": nil}, kept},
	} {
		got := w.Call(c.method, c.path, c.body)
		got.RefusedAs(t, errs.ValidationFailed, "/design")
		if !strings.Contains(got.Raw, `"message":"`+c.message+`"`) {
			t.Errorf("%s %v: %s", c.method, c.body, got.Raw)
		}
	}
}
