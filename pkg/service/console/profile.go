package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
)

const profilePath = "/settings/profile"

func addProfile(open func(string, func(*request) error)) {
	open("GET "+profilePath, func(r *request) error { return r.showProfile() })
	open("GET "+profilePath+"/sessions/end", guarded("", confirmOthers))
	open("POST "+profilePath+"/sessions/end", guarded(profilePath, endOthers))
	open("GET "+profilePath+"/sessions/{session}/end", guarded("", confirmSession))
	open("POST "+profilePath+"/sessions/{session}/end", guarded(profilePath, endSession))
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
	all, err := r.site.Sessions.List(r.Context(), r.session.ID)
	if err != nil {
		return err
	}
	shown := make([]browser, len(all))
	for i, s := range all {
		shown[i] = browser{Session: s, Here: s.Is(r.session)}
		shown[i].Browser, shown[i].System = device(s.UserAgent)
	}
	v := r.view("Your profile", profilePath)
	v.Notice = map[string]string{"one": "The browser is signed out.",
		"others": "All other browsers are signed out."}[r.URL.Query().Get("ended")]
	v.Data = map[string]any{"Sessions": shown, "Role": role}
	return r.show(http.StatusOK, "profile", v)
}

// endSession signs one browser of the person out.
func endSession(r *request) error {
	return r.end("one", func(s *session.Session) bool { return s.Name() == r.PathValue("session") })
}

// endOthers signs all browsers of the person out but this one.
func endOthers(r *request) error {
	return r.end("others", func(s *session.Session) bool { return !s.Is(r.session) })
}

// end ends the chosen sessions of the person. Ending one that has just ended has no effect.
func (r *request) end(what string, chosen func(*session.Session) bool) error {
	all, err := r.site.Sessions.List(r.Context(), r.session.ID)
	if err != nil {
		return err
	}
	here := false
	for _, s := range all {
		if !chosen(s) {
			continue
		}
		if err := r.site.leave(r.Request, s); err != nil {
			return err
		}
		here = here || s.Is(r.session)
		r.site.note(r.Request, r.session.Account, auth.Actor{Kind: auth.Person, ID: r.session.ID},
			chain.Entry{OperationID: endedSessionOperation, Path: r.URL.Path, Status: http.StatusSeeOther})
	}
	if here {
		r.site.clear(r.w, sessionCookie)
		return r.redirect("/settings")
	}
	return r.redirect(profilePath + "?ended=" + what)
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
