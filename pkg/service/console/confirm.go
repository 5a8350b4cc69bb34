package console

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/auth/session"
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

// countOf returns the number of rows of a list, which is at least the number of the first page.
func countOf(r *request, path string, query url.Values) (n int, more bool, err error) {
	q := url.Values{"limit": {"100"}}
	for name, values := range query {
		q[name] = values
	}
	var rows []struct {
		ID string `json:"id"`
	}
	next, err := r.api.list(r.Context(), path, q, &rows)
	return len(rows), next != "", err
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
	all, err := r.site.Sessions.List(r.Context(), r.session.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s *session.Session) bool { return s.Name() == r.PathValue("session") })
	if i < 0 {
		return &failure{Status: http.StatusNotFound, Message: "There is no such page."}
	}
	browser, system := device(all[i].UserAgent)
	v := r.view("", "")
	return r.confirm(http.StatusOK, confirmation{Title: "Sign out the browser", Verb: "Sign out", Active: profilePath,
		Subject: strings.Trim(browser+" · "+system, " ·"), Back: profilePath,
		Text:    "It is signed out with its next request.",
		Effects: []string{v.T("Last used") + ": " + v.ago(&all[i].SeenAt), v.T("Address") + ": " + all[i].IP}}, "")
}

// confirmOthers asks before all other browsers of the person are signed out.
func confirmOthers(r *request) error {
	all, err := r.site.Sessions.List(r.Context(), r.session.ID)
	if err != nil {
		return err
	}
	return r.confirm(http.StatusOK, confirmation{Title: "Sign out all other browsers", Verb: "Sign out",
		Active: profilePath, Back: profilePath, Text: "They are signed out with their next request.",
		Effects: []string{r.view("", "").T("Browsers that are signed out: %d.", len(all)-1)}}, "")
}

// connectionConfirmation returns the confirmation about the sign-on connection of the page, with its people.
func connectionConfirmation(r *request) (c confirmation, err error) {
	_, account, err := r.role()
	if err != nil {
		return c, err
	}
	all, err := r.site.Connections.List(r.Context(), account)
	if err != nil {
		return c, err
	}
	for _, one := range all {
		if one.ID == r.PathValue("id") {
			n, more, err := peopleBy(r, one.ID)
			c = confirmation{Subject: one.Name, Name: one.Name, Active: signOnPath, Back: signOnPath,
				Effects: []string{r.view("", "").T("People who sign in by it: %s. Verified domains: %d.",
					number(n, more), len(one.Verified()))}}
			return c, err
		}
	}
	return c, &failure{Status: http.StatusNotFound, Message: "There is no such page."}
}

// peopleBy returns the number of people of the account who sign in by a connection.
func peopleBy(r *request, connection string) (n int, more bool, err error) {
	var all []member
	next, err := r.api.list(r.Context(), "/v1/people", url.Values{"limit": {"100"}}, &all)
	for _, p := range all {
		if p.Connection != nil && *p.Connection == connection && !p.Gone() {
			n++
		}
	}
	return n, next != "", err
}

// removal is the confirmation before a provider is removed, and enforcement before it is required.
func removal(r *request) (confirmation, error) {
	c, err := connectionConfirmation(r)
	c.Title, c.Verb, c.Text = "Remove the provider", "Remove",
		"People of its domains sign in by it no longer. Its domains have to be verified again."
	return c, err
}

func enforcement(r *request) (confirmation, error) {
	c, err := connectionConfirmation(r)
	c.Title, c.Verb, c.Text = "Require single sign-on", "Require it for these domains",
		"People of its verified domains can sign in by this provider only. Owners with emergency access still can "+
			"otherwise."
	c.Fields = []choice{{"on", "true"}}
	return c, err
}

// confirmDomain asks before a domain is removed from a connection.
func confirmDomain(r *request) error {
	c, err := connectionConfirmation(r)
	if err != nil {
		return err
	}
	c.Title, c.Verb, c.Name, c.Subject = "Remove the domain", "Remove", "", r.URL.Query().Get("domain")
	c.Text = "People with addresses of the domain sign in by this provider no longer."
	c.Fields = []choice{{"domain", c.Subject}}
	return r.confirm(http.StatusOK, c, "")
}

// asking returns the handler of a page that shows a confirmation.
func asking(of func(*request) (confirmation, error)) func(*request) error {
	return func(r *request) error {
		c, err := of(r)
		if err != nil {
			return err
		}
		return r.confirm(http.StatusOK, c, "")
	}
}

// typing wraps the handler of a form that needs the name of a confirmation.
func typing(of func(*request) (confirmation, error), act func(*request) error) func(*request) error {
	return func(r *request) error {
		c, err := of(r)
		if err != nil {
			return err
		}
		return confirmed(r, c, func() error { return act(r) })
	}
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
