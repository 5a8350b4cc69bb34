package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// confirmation is what a page asks before something that cannot be undone. Its form is sent to the path of the page
// itself, and its focus is on the link that changes nothing.
type confirmation struct {
	Title, Subject, Text, Verb string
	// Effects are what the change does, in numbers and in the language of the page.
	Effects []string
	// Active is the link of the menu, and Back the path that leads back without a change.
	Active, Back string
	// Action is the path of the form, if it is another one, and Fields are its further fields.
	Action string
	Fields []choice
	// Name is the name that the person types before it happens. Empty: a click is enough.
	Name string
	// Choice is what the person chooses before it happens, if they choose something.
	Choice *chosen
	// Harmless reports that nothing is lost.
	Harmless bool
}

// chosen is a choice of the page that asks: its field, its value and its legend. Counts tell about single values.
type chosen struct {
	Name, Legend, Value string
	Of                  []choice
	Counts              map[string]string
}

// confirm shows a page that asks before something is changed. The message is why the last form did nothing.
func (r *request) confirm(status int, c confirmation, message string) error {
	v := r.view(c.Title, c.Active)
	v.mend(about("typed", message))
	if c.Action == "" {
		c.Action = r.URL.Path
	}
	c.Action, c.Back = r.site.prefix+c.Action, r.site.prefix+c.Back
	if c.Verb == "" {
		c.Verb = "Delete"
	}
	v.Data = c
	return r.show(status, "confirm", v)
}

const messageTyped = "Type the name as it is shown above."

// confirmed returns the handler of a form whose person has typed the name, and otherwise asks again.
func confirmed(r *request, c confirmation, act func() error) error {
	if strings.TrimSpace(r.PostFormValue("typed")) != strings.TrimSpace(c.Name) {
		return r.confirm(http.StatusUnprocessableEntity, c, messageTyped)
	}
	return act()
}

// waiting is a number of rows. More reports that there are more than one page has.
type waiting struct {
	N    int
	More bool
}

// Text returns the number, or an empty text for none.
func (w waiting) Text() string {
	if w.N == 0 && !w.More {
		return ""
	}
	return number(w.N, w.More)
}

// countOf counts the rows of the first page of a list.
func countOf(ctx context.Context, a api, path string, query url.Values) (waiting, error) {
	q := url.Values{"limit": {"100"}}
	maps.Copy(q, query)
	var rows []struct{ ID string }
	next, err := a.list(ctx, path, q, &rows)
	return waiting{len(rows), next != ""}, err
}

// number returns a number of rows in words.
func number(n int, more bool) string {
	if more {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// confirmSession asks before one browser of the person is signed out.
func confirmSession(r *request) error {
	some, err := r.browsers(r.named)
	if err == nil && len(some) == 0 {
		err = errNoPage
	}
	if err != nil {
		return err
	}
	b, v := some[0], r.view("", "")
	return r.confirm(http.StatusOK, confirmation{Title: "Sign out the browser", Verb: "Sign out", Active: profilePath,
		Subject: strings.Trim(b.Browser+" · "+b.System, " ·"), Back: profilePath,
		Text:    "It is signed out with its next request.",
		Effects: []string{v.T("Last used") + ": " + v.ago(&b.SeenAt), v.T("Address") + ": " + b.IP}}, "")
}

// confirmOthers asks before all other browsers of the person are signed out.
func confirmOthers(r *request) error {
	others, err := r.browsers(r.other)
	if err != nil {
		return err
	}
	return r.confirm(http.StatusOK, confirmation{Title: "Sign out all other browsers", Verb: "Sign out",
		Active: profilePath, Back: profilePath, Text: "They are signed out with their next request.",
		Effects: []string{r.view("", "").T("Browsers that are signed out: %d.", len(others))}}, "")
}

// proposal is a page that lists what a form would change before it is saved. Its form repeats the fields.
type proposal struct {
	Title, Subject string
	// Changes are the changes in the language of the page, and Effects what follows from them.
	Changes, Effects []string
	// Active is the link of the menu. The form is sent to the path of the page itself.
	Active string
}

// formField is a field of a form that was sent.
type formField struct{ Name, Value string }

// sentFields are the fields of the form, without those that belong to one page.
func sentFields(r *request) (all []formField) {
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		if slices.Contains([]string{tokenField, "once", "step"}, name) {
			continue
		}
		for _, value := range r.PostForm[name] {
			all = append(all, formField{name, value})
		}
	}
	return all
}

// The values of the field step: a form is proposed first, then saved, unless the person goes back to it.
const (
	stepSave = "save"
	stepBack = "back"
)

func propose(r *request, p proposal) error {
	v := r.view(p.Title, p.Active)
	v.Data = map[string]any{"Of": p, "Fields": sentFields(r), "Action": r.site.prefix + r.URL.Path}
	return r.show(http.StatusOK, "changes", v)
}

// changedSet adds lines about the members that a list has gained and lost.
func changedSet(v *view, to []string, added, removed string, before, after []string) []string {
	for _, one := range after {
		if !slices.Contains(before, one) {
			to = append(to, v.T(added, one))
		}
	}
	for _, one := range before {
		if !slices.Contains(after, one) {
			to = append(to, v.T(removed, one))
		}
	}
	return to
}

const messageNoChange = "The form has no change. Nothing was saved."
