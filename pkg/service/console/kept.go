package console

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/cloud/seal"
)

const (
	continuePath = "/settings/continue"
	formPurpose  = "account area: form that waits for a sign-in"
	// mostShownValue bounds the characters of a value that the page of a kept form shows.
	mostShownValue = 200
)

// keptForm is a form that was sent when its person had to sign in again. It waits, sealed, until they have.
type keptForm struct {
	// Person is who has sent it. Empty: the session had ended, so that nobody is known.
	Person string
	Path   string
	Values url.Values
}

// keep keeps the form of a request, and returns the path on which its person goes on with it. A form that cannot be
// kept, such as one with a file, is lost, which the page then says.
func (s *site) keep(r *http.Request, person string) (path string, kept bool) {
	if r.Method != http.MethodPost || !own(r.URL.Path) || hasFile(r) || r.ParseForm() != nil {
		return "", false
	}
	values := maps.Clone(r.PostForm)
	delete(values, tokenField)
	text, err := json.Marshal(keptForm{person, r.URL.Path, values})
	var box *seal.Box
	if err == nil {
		box, err = s.box(r.Context(), formPurpose)
	}
	var id string
	if err == nil {
		id, err = s.Sessions.KeepForm(r.Context(), box.Seal(text, continuePath))
	}
	if err != nil {
		slog.Error("a form was not kept", "error", err)
		return "", false
	}
	return continuePath + "?form=" + id, true
}

const messageNotKept = "The form is not kept any more: more than half an hour has passed. Open the page again."

// keptFormOf returns the form of the page, which is that of its person.
func keptFormOf(r *request) (f keptForm, err error) {
	gone := &failure{Status: http.StatusNotFound, Message: messageNotKept}
	sealed, err := r.site.Sessions.Form(r.Context(), r.URL.Query().Get("form"))
	if errors.Is(err, session.ErrProgram) {
		return f, gone
	}
	var box *seal.Box
	if err == nil {
		box, err = r.site.box(r.Context(), formPurpose)
	}
	var text []byte
	if err == nil {
		text, err = box.Open(sealed, continuePath)
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err == nil && f.Person != "" && f.Person != r.session.ID {
		err = gone
	}
	return f, err
}

// labelOf returns the label of a field: that of an input of a declared form, or its name.
func labelOf(name string) string {
	for _, p := range pages {
		for _, one := range p.routes() {
			for _, in := range one.Inputs {
				if in.Name == name && in.Label != "" {
					return in.Label
				}
			}
		}
	}
	label := strings.ReplaceAll(strings.TrimSuffix(name, "_id"), "_", " ")
	return strings.ToUpper(label[:1]) + label[1:]
}

// showKept shows a form that has waited, and sends it when its person says so.
func showKept(r *request) error {
	f, err := keptFormOf(r)
	if err != nil {
		return err
	}
	v := r.view("Go on with your form", "")
	var fields, shown []formField
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		for _, value := range f.Values[name] {
			fields = append(fields, formField{name, value})
			hidden := slices.Contains([]string{"once", "version", "opened", "return", "seen", "queue"}, name) ||
				strings.HasPrefix(name, "of-") || value == ""
			secret := strings.Contains(name, "secret") || strings.Contains(name, "token") || name == "password"
			if !hidden && !secret && len(value) <= mostShownValue {
				shown = append(shown, formField{v.T(labelOf(name)), value})
			}
		}
	}
	v.Data = map[string]any{"Action": r.site.prefix + f.Path, "Fields": fields, "Shown": shown}
	return r.show(http.StatusOK, "continue", v)
}
