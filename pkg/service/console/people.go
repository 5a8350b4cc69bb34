package console

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/person"
)

const (
	peoplePath = "/settings/people"
	signOnPath = "/settings/sign-on"
)

// member is a person, with the link of the invitation when they were just invited.
type member struct {
	client.Person
	URL    *string `json:"invitation_url"`
	Mailed bool    `json:"invitation_mailed"`
}

func (p member) Gone() bool { return p.State == "removed" }

// roles are the roles, with what they may do.
var roles = []choice{{"owner", "Everything, also the account and its owners"},
	{"admin", "Everything but ending the account and managing owners"},
	{"developer", "Content, webhooks and own keys, but no people and no sign-on"},
	{"auditor", "Reading only"}}

var persons = page[member]{
	Title: "People", Lead: "Who signs in to this account, and what they may do.", Path: peoplePath, API: "/v1/people",
	List: "people",
	Columns: []column{{Text: "Person"}, {Text: "Role"}, {Text: "State", At: "sm"}, {Text: "Signs in by", At: "lg"},
		{Text: "Last seen", At: "md"}, {Text: "Actions", Quiet: true}},
	More: func(_ *request, _ *view, _ []member, to map[string]any) error {
		to["Roles"] = roles
		return nil
	},
	Name: func(p member) string { return p.Email }, Read: personOf,
	Create: &form[member]{Title: "Invite a person", Template: "invite", At: "/invite", Recent: true,
		Inputs: []input{{Name: "email", Member: "email", Label: "E-mail", Kind: asEmail},
			{Name: "role", Member: "role", Label: "Role", Kind: asOwn, Choices: roles}},
		Made: func(r *request, made member) error {
			v := r.view("The invitation", peoplePath)
			v.Data = made
			return r.show(http.StatusOK, "invited", v)
		}},
	Actions: []action[member]{{Name: "role", Method: http.MethodPatch, Recent: true, Done: "changed",
		Body: sentAs("role", "role")},
		{Name: "remove", Method: http.MethodDelete, Recent: true, Done: "removed",
			Ask: &confirmation{Title: "Remove the person", Verb: "Remove",
				Text: "They lose access with their next request. What they made stays."},
			Effects: keysOfPerson}},
	Done: map[string]string{"changed": "The role is changed.",
		"removed": "The person is removed. They lose access with their next request."},
}

// personOf returns the person of the page.
func personOf(r *request) (p member, err error) {
	all, err := listAll[member](r.Context(), r.api, "/v1/people", nil, mostNames)
	for _, p := range all {
		if p.ID == r.PathValue("id") {
			return p, nil
		}
	}
	if err == nil {
		err = &failure{Status: http.StatusNotFound, Message: "There is no such person."}
	}
	return p, err
}

// keysOfPerson tells which keys of a person stay.
func keysOfPerson(r *request, v *view, p member) ([]string, error) {
	keys, err := keysOfAccount(r)
	theirs := 0
	for _, k := range keys {
		if k.Active() && k.CreatedBy == p.ID {
			theirs++
		}
	}
	return []string{v.T("Active API keys that they made, and that stay: %d.", theirs)}, err
}

const profilePath = "/settings/profile"

func addProfile(open func(string, func(*request) error)) {
	open("GET "+profilePath, func(r *request) error { return r.showProfile() })
	open("GET "+profilePath+"/sessions/end", guarded("", confirmOthers))
	open("POST "+profilePath+"/sessions/end", guarded(profilePath, end("others", (*request).other)))
	open("GET "+profilePath+"/sessions/{session}/end", guarded("", confirmSession))
	open("POST "+profilePath+"/sessions/{session}/end", guarded(profilePath, end("one", (*request).named)))
}

// browser is a session of the person as the page shows it.
type browser struct {
	*session.Session
	Browser, System string
	// Here reports that it is the session of the request.
	Here bool
}

// Used returns the time of the last request, to the minute.
func (b browser) Used() *time.Time { return &b.SeenAt }

func (r *request) showProfile() error {
	role, _, err := r.role()
	if err != nil {
		return err
	}
	shown, err := r.browsers(func(*session.Session) bool { return true })
	if err != nil {
		return err
	}
	v := r.view("Your profile", profilePath)
	v.Notice = map[string]string{"one": "The browser is signed out.",
		"others": "All other browsers are signed out."}[r.URL.Query().Get("ended")]
	v.Data = map[string]any{"Sessions": shown, "Role": role}
	return r.show(http.StatusOK, "profile", v)
}

// browsers returns some of the sessions of the person.
func (r *request) browsers(which func(*session.Session) bool) ([]browser, error) {
	all, err := r.site.Sessions.List(r.Context(), r.session.ID)
	all = slices.DeleteFunc(all, func(s *session.Session) bool { return !which(s) })
	return mapped(all, func(s *session.Session) browser {
		name, system := device(s.UserAgent)
		return browser{s, name, system, s.Is(r.session)}
	}), err
}

// named reports whether a session is that of the path, and other whether it is not that of the request.
func (r *request) named(s *session.Session) bool { return s.Name() == r.PathValue("session") }

func (r *request) other(s *session.Session) bool { return !s.Is(r.session) }

// end returns the handler of a form that ends some sessions of the person. Ending one that has just ended has no
// effect.
func end(what string, which func(*request, *session.Session) bool) func(*request) error {
	return func(r *request) error {
		some, err := r.browsers(func(s *session.Session) bool { return which(r, s) })
		if err != nil {
			return err
		}
		here := false
		for _, b := range some {
			if err := r.site.leave(r.Request, b.Session); err != nil {
				return err
			}
			here = here || b.Here
			r.site.note(r.Request, r.session.Account, auth.Actor{Kind: auth.Person, ID: r.session.ID},
				auditlog.Entry{OperationID: endedSessionOperation, Path: r.URL.Path, Status: http.StatusSeeOther})
		}
		if here {
			r.site.clear(r.w, sessionCookie)
			return r.redirect(homePath)
		}
		return r.redirect(profilePath + "?ended=" + what)
	}
}

// The marks of browsers and systems in user agents. An earlier one counts, because browsers also name those that they
// descend from.
var (
	browserMarks = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"YaBrowser/", "Yandex Browser"},
		{"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	systemMarks = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"},
		{"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}}
)

// device returns the browser and the system that a user agent names, which are empty if it names none.
func device(agent string) (browser, system string) {
	return marked(agent, browserMarks), marked(agent, systemMarks)
}

func marked(agent string, marks [][2]string) string {
	for _, m := range marks {
		if strings.Contains(agent, m[0]) {
			return m[1]
		}
	}
	return ""
}

const notificationsPath = profilePath + "/notifications"

func addNotifications(open func(string, func(*request) error)) {
	open("GET "+notificationsPath, showNotifications)
	open("POST "+notificationsPath, chooseNotifications)
}

// noticeTexts are the kinds of e-mails, with what they tell.
var noticeTexts = map[person.Notice]choice{
	person.NoticeInvitation: {"Invitations", "Somebody invites you to an account."},
	person.NoticeWork: {"What waits and what failed", "Content waits for approval, a post has failed, or an erasure " +
		"can still be canceled."},
	person.NoticeWebhooks: {"Failing webhooks", "A webhook has failed for an hour, or was disabled."},
	person.NoticeBalance:  {"Low balance", "The balance is below the threshold of the account."},
}

// mailWish is a kind of e-mail on the page.
type mailWish struct {
	Notice person.Notice
	choice
	Wanted bool
}

// showNotifications shows what the person gets by e-mail.
func showNotifications(r *request) error {
	record, _, err := r.site.People.Find(r.Context(), r.session.Account, r.session.ID)
	if err != nil {
		return err
	}
	v := r.view("Notifications", notificationsPath)
	if r.URL.Query().Get("done") != "" {
		v.Notice = "Your choice is saved."
	}
	all := mapped(person.Notices, func(n person.Notice) mailWish {
		return mailWish{n, noticeTexts[n], record.Wants(n)}
	})
	v.Data = map[string]any{"All": all, "Chosen": cmp.Or(record.Choices.Language, v.Language),
		"Email": record.Email, "Mails": r.site.Mails, "Most": people.MostMails}
	return r.show(http.StatusOK, "notifications", v)
}

// chooseNotifications keeps the choice of the person.
func chooseNotifications(r *request) error {
	language := r.PostFormValue("language")
	if !known(language) {
		return errLanguage
	}
	err := r.site.People.Choose(r.Context(), r.session.Account, r.session.ID, func(c *person.Choices) {
		c.Language = language
		for _, n := range person.Notices {
			c.Kinds[n] = r.PostFormValue(string(n)) != ""
		}
	})
	if err != nil {
		return err
	}
	return r.redirect(notificationsPath + "?done=1")
}

// addLeave adds the page of the link in each e-mail. A program that only opens links changes nothing: GET shows a form,
// and POST, which mail programs send by RFC 8058 without the form, leaves. No session is needed.
func (s *site) addLeave(routes *http.ServeMux) {
	routes.HandleFunc("GET "+people.LeavePath+"{token}", s.visited(showLeave))
	routes.HandleFunc("POST "+people.LeavePath+"{token}", s.visited(showLeave))
}

func showLeave(r *request) error {
	leave, title := r.Method == http.MethodPost, "Stop these e-mails"
	of, err := r.site.People.OpenLeave(r.Context(), r.PathValue("token"))
	if errors.Is(err, person.ErrNoLeave) {
		return &failure{Status: http.StatusNotFound, Message: "This link has expired, or is not complete. Sign in, " +
			"and choose your e-mails in your profile."}
	}
	if err == nil && leave {
		title = "You get no more of these e-mails"
		err = r.site.People.Choose(r.Context(), of.Account, of.Person,
			func(c *person.Choices) { c.Kinds[of.Notice] = false })
		if errs.CodeOf(err) == errs.NotFound {
			err = nil // the person is gone, and gets no e-mails
		}
	}
	if err != nil {
		return err
	}
	return r.page(http.StatusOK, "leave", title, map[string]any{"Left": leave, "Kind": noticeTexts[of.Notice],
		"Path": r.URL.Path})
}

// look starts the hourly look for what no event tells, for the account of a person who has signed in. Without it the
// sign-in works all the same, and the next one tries again.
func (s *site) look(r *http.Request, of session.Person) {
	if !s.Mails {
		return
	}
	if err := s.People.Watch(r.Context(), of.Account); err != nil {
		slog.Error("the hourly look at an account has not begun", "account_id", of.Account, "error", err)
	}
}
