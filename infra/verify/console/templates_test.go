package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A template is made from a theme, changed as JSON with what is wrong at the field, shown with samples, and deleted
// once nobody uses it.
func TestATemplateInTheAccountArea(t *testing.T) {
	s := start(t)
	profile := s.must(t, "POST", "/v1/profiles", object{"name": "Harbour Coffee"}, 201)["id"].(string)
	b := s.signedIn(t, "owner")
	b.get("/settings/templates").shows(t, "There are no templates yet", "Create a template")
	b.get("/settings/templates/new").shows(t, `value="editorial"`, "The whole account", "Harbour Coffee")
	made := b.post("/settings/templates", url.Values{"name": {"Spring"}, "theme": {"bold"}})
	made.shows(t, "The template is created.", "Spring", "Nobody yet.", "&#34;font&#34;")
	path, _, _ := strings.Cut(s.path(made.at), "?")
	id := path[strings.LastIndex(path, "/")+1:]
	get := func() map[string]any { return s.must(t, "GET", "/v1/templates/"+id, nil, 200) }
	design := func() string {
		_, text, _ := strings.Cut(b.get(path).body, `<textarea id="design"`)
		_, text, _ = strings.Cut(text, ">")
		text, _, _ = strings.Cut(text, "</textarea>")
		return strings.ReplaceAll(text, "&#34;", `"`)
	}
	whole := design()
	form := func(version, text string) url.Values {
		return url.Values{"name": {"Spring"}, "version": {version}, "design": {text}}
	}
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":    {whole[:len(whole)-3], `id="design-error"`},
		"a number":   {strings.Replace(whole, `"round": `, `"round": 999`, 1), "round: "},
		"a member":   {strings.Replace(whole, `"round"`, `"rounded"`, 1), "rounded"},
		"a deletion": {strings.Replace(whole, `"font"`, `"form"`, 1), "form"},
	} {
		p := b.post(path, form("1", c.text))
		if p.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, p.status)
		}
		p.shows(t, `id="design-error"`, c.want, `aria-invalid="true"`)
	}
	b.post(path, form("1", strings.ReplaceAll(whole, "\n", "\r\n"))).shows(t, "The template is changed.")
	changed := strings.Replace(design(), `"motion": "`, `"motion": "none", "was": "`, 1)
	changed = changed[:strings.Index(changed, `"was"`)] + changed[strings.Index(changed, `"was"`)+strings.Index(
		changed[strings.Index(changed, `"was"`):], "\n"):]
	b.post(path, form(b.get(path).field("version"), changed)).shows(t, "The template is changed.")
	if got := get()["design"].(object)["motion"]; got != "none" {
		t.Errorf("the motion is %v", got)
	}
	b.get(path).shows(t, `<option value="video">`, `<option value="music">`, `name="language"`)
	b.post(path+"/preview", url.Values{"kind": {"video"}, "language": {"ar"}, "factory_id": {""}}).shows(t,
		`alt="Picture of the template"`)
	if p := b.post(path+"/preview", url.Values{"kind": {"post"}, "language": {"ta"}}); p.status !=
		http.StatusUnprocessableEntity {
		t.Errorf("a language without a font: %d", p.status)
	}
	preview := b.post(path+"/preview", url.Values{"kind": {"carousel"}})
	preview.shows(t, `alt="Picture of the template"`)
	if csp := preview.header.Get("Content-Security-Policy"); !strings.Contains(csp, "img-src 'self' http") {
		t.Errorf("the pictures are not permitted: %s", csp)
	}
	s.must(t, "PATCH", "/v1/profiles/"+profile, object{"template_id": id}, 200)
	b.get(path).shows(t, `title="`+profile+`">Harbour Coffee`)
	b.get(path+"/delete").shows(t, "It is used by: 1.")
	if p := b.post(path+"/delete", url.Values{}); p.status != http.StatusConflict {
		t.Errorf("a template that is used: %d", p.status)
	}
	if used := get()["used_by"].([]any); len(used) != 1 || used[0] != profile {
		t.Errorf("it is used by %v", used)
	}
	s.must(t, "PATCH", "/v1/profiles/"+profile, object{"template_id": nil}, 200)
	b.get("/settings/search?q=SPRING").shows(t, path)
	auditor := s.signedIn(t, "auditor")
	auditor.get(path).hides(t, ">Save<", "Show it with samples", `/delete"`)
	b.post(path+"/delete", url.Values{}).shows(t, "The template is deleted.", "There are no templates yet")
}
