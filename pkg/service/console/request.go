package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
)

// sessionCookie has the token of the session. Browsers accept a name with this prefix only from the host itself, over a
// secure connection.
const sessionCookie = "__Host-session"

// request is a request of a signed-in person.
type request struct {
	*http.Request
	site    *site
	w       http.ResponseWriter
	session *session.Session
	api     api
	// known is the role of the person at the begin of the request.
	known auth.Role
	// found is what to mend in the form of the request.
	found fieldErrors
}

// hostOf returns the host that the browser has asked for.
func hostOf(r *http.Request) string { return cmp.Or(r.Header.Get("Host"), r.Host) }

func setHeaders(h http.Header) {
	web.SetHeaders(h)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	// A page of the explorer, which has another policy, cannot reach a window of the account area.
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Add("Vary", "HX-Request")
}

// find returns the session of a request, or session.ErrNone.
func (s *site) find(r *http.Request) (*session.Session, error) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || cookie.Value == "" {
		return nil, session.ErrNone
	}
	return s.Sessions.Find(r.Context(), cookie.Value)
}

// The purposes of the tokens of a session. The token of dialogs is in addresses, which logs keep; that of forms is in
// the bodies of forms only.
const (
	forDialogs = "dialog"
	forForms   = "form"
)

// tokenOf returns what the pages of a session know, and no other script: a value that nobody can compute without the
// cookie. It changes with the session, at each sign-in.
func tokenOf(r *http.Request, purpose string) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(purpose + ":" + c.Value))
	return hex.EncodeToString(sum[:16])
}

// hasToken reports whether a value is the session's token for a purpose.
func hasToken(r *http.Request, purpose, given string) bool {
	want := tokenOf(r, purpose)
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// ofPage reports whether a request opens a page in a window of its own, or comes from a dialog of one. The explorer is
// on the same origin, and its scripts could send requests with the session. They cannot make them look like this,
// because browsers set these headers themselves. A request without them is refused too: an old browser would let a
// script read the pages.
func ofPage(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return true
	}
	return r.Method == http.MethodGet && hasToken(r, forDialogs, r.URL.Query().Get("dialog"))
}

const (
	messageNotPage = "Only the pages of the account area may ask for this, in a browser of 2023 or later."
	messageToken   = "This form is not of your current sign-in. Open the page again and repeat."
)

// permitted returns an error unless a request with a session comes from a page of that session. A form needs the token
// of the session, because a script of the explorer can send a form without seeing the answer.
func permitted(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return &failure{Status: http.StatusBadRequest, Message: "The form cannot be read."}
	}
	if !hasToken(r, forForms, r.PostFormValue(tokenField)) {
		return &failure{Status: http.StatusForbidden, Message: messageToken}
	}
	return nil
}

// signedIn returns a handler that only signed-in persons reach.
func (s *site) signedIn(handle func(*request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !ofPage(r) {
			s.failed(w, r, http.StatusForbidden, messageNotPage)
			return
		}
		found, err := s.find(r)
		if err == nil {
			err = permitted(r)
		}
		if err == nil {
			var token string
			if token, err = s.Sessions.AccessToken(r.Context(), found, s.Issuer); err == nil {
				q := &request{r, s, w, found, s.apiOf(r, found, token), s.roleOf(r, found), nil}
				if err = handle(q); r.Method != http.MethodGet {
					forgetCorner(q)
				}
			}
		}
		if err != nil {
			s.answer(w, r, found, err)
		}
	}
}

func (s *site) answer(w http.ResponseWriter, r *http.Request, found *session.Session, err error) {
	var failed *failure
	var public *errs.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, session.ErrNone):
		s.signInAgain(w, r)
	case errors.As(err, &failed) && failed.Status == http.StatusUnauthorized:
		// The issuer's token is valid, but the person is out: so is the session.
		if err := s.Sessions.End(r.Context(), found); err != nil {
			slog.Error("a session was not ended", "error", err)
		}
		s.signInAgain(w, r)
	case errors.As(err, &failed):
		s.failedAs(w, r, found, failed.Status, failed.Message)
	case errors.As(err, &tooLarge):
		s.failedAs(w, r, found, http.StatusRequestEntityTooLarge, "The form is too large.")
	case errors.As(err, &public):
		slog.Warn("a page failed", "page", r.Pattern, "error", err)
		s.failedAs(w, r, found, errs.InfoOf(public.Code).Status, public.Message)
	case errors.Is(err, context.Canceled):
	default:
		slog.Error("a page failed", "page", r.Pattern, "error", err)
		s.failedAs(w, r, found, http.StatusServiceUnavailable, messageUnavailable)
	}
}

const messageUnavailable = "The account area cannot answer at the moment. Try again in a few seconds."

// signInAgain leads to the sign-in, and from there back to the page. A form that was sent is lost, so the page says so.
func (s *site) signInAgain(w http.ResponseWriter, r *http.Request) {
	s.clear(w, sessionCookie)
	to := s.prefix + "/auth/sign-in"
	if r.Method == http.MethodGet {
		to += "?" + url.Values{"return": {r.URL.RequestURI()}}.Encode()
	} else {
		to += "?ended=form"
	}
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// redirect answers with another page of the account area.
func (r *request) redirect(path string) error {
	http.Redirect(r.w, r.Request, r.site.prefix+path, http.StatusSeeOther)
	return nil
}

// errAgain is returned for a sensitive change if the last sign-in was too long ago.
var errAgain = errors.New("console: sign in again")

// sensitive returns an error after it has asked for another sign-in, unless the last one was recent. The form is at the
// path, where the person comes back to.
func (r *request) sensitive(path string) error {
	if r.session.SignedInRecently(r.site.Now()) {
		return nil
	}
	q := url.Values{"return": {path}, "again": {"1"}}
	v := r.view("Confirm that it is you", "")
	v.Data = r.site.prefix + "/auth/sign-in?" + q.Encode()
	if err := r.show(http.StatusForbidden, "again", v); err != nil {
		return err
	}
	return errAgain
}

// guarded wraps the handler of a sensitive page. The path of the form is that of the request, or the given one.
func guarded(form string, handle func(*request) error) func(*request) error {
	return func(r *request) error {
		path := form
		if path == "" {
			path = r.URL.Path
		}
		err := r.sensitive(path)
		if err == nil {
			err = handle(r)
		}
		if errors.Is(err, errAgain) {
			return nil
		}
		return err
	}
}

// view returns what a page shows.
func (r *request) view(title, active string) *view {
	v := r.site.newView(r.Request, r.session)
	v.Title, v.Active, v.Role, v.FieldErrors = title, active, r.known, r.found
	if r.Header.Get("HX-Request") == "" {
		v.Corner = cornerOf(r)
	}
	return v
}

// roleOf returns the role of the person of a session, which decides what pages offer. The API decides what it permits.
func (s *site) roleOf(r *http.Request, found *session.Session) auth.Role {
	if found == nil || s.RoleOf == nil {
		return ""
	}
	role, err := s.RoleOf(r.Context(), found.Account, found.ID)
	if err != nil {
		slog.Warn("the role of a person is not known", "error", err)
	}
	return role
}

// show renders a page.
func (r *request) show(status int, name string, v *view) error {
	return r.site.render(r.w, r.Request, status, name, v)
}

// render renders a page, or only its content for a dialog.
func (s *site) render(w http.ResponseWriter, r *http.Request, status int, name string, v *view) error {
	var out bytes.Buffer
	v.Dialog = r.Header.Get("HX-Request") != ""
	if err := s.pages[name].render(&out, v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", v.Language)
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes())
	return nil
}

// failed shows an error to a visitor.
func (s *site) failed(w http.ResponseWriter, r *http.Request, status int, message string) {
	found, _ := s.find(r)
	s.failedAs(w, r, found, status, message)
}

func (s *site) failedAs(w http.ResponseWriter, r *http.Request, found *session.Session, status int, message string) {
	v := s.newView(r, found)
	v.Title, v.Data, v.Role = titleOf(status), message, s.roleOf(r, found)
	if err := s.render(w, r, status, "failed", v); err != nil {
		slog.Error("an error was not shown", "error", err)
		http.Error(w, message, status)
	}
}

// titleOf returns the title of the page of an error.
func titleOf(status int) string {
	switch {
	case status == http.StatusForbidden:
		return "You may not do this"
	case status == http.StatusNotFound:
		return "Not found"
	case status == http.StatusTooManyRequests:
		return "Too many requests"
	case status < http.StatusInternalServerError:
		return "This did not work"
	default:
		return "Something went wrong"
	}
}

// once returns the idempotency key of a form: the repeat of a form has one effect.
func (r *request) once() string { return cmp.Or(r.PostFormValue("once"), rand.Text()) }

// own reports whether a path leads to a page of the account area.
func own(path string) bool {
	return strings.HasPrefix(path, "/settings") && !strings.ContainsAny(path, "\\\r\n") && !strings.Contains(path, "//")
}

// chooseMode changes between live data and the sandbox.
func chooseMode(r *request) error {
	mode := tenant.Mode(r.PostFormValue("mode"))
	if mode != tenant.Live && mode != tenant.Test {
		return &failure{Status: http.StatusUnprocessableEntity, Message: "The mode is live or test."}
	}
	if err := r.site.Sessions.Change(r.Context(), r.session, func(s *session.Session) { s.Mode = mode }); err != nil {
		return err
	}
	return r.redirect(listOf(r.PostFormValue("return")))
}

// listOf returns the list that the page of one resource belongs to: a resource is in one mode only. Other pages are
// lists themselves, and lose the place in them.
func listOf(path string) string {
	if !own(path) {
		return "/settings"
	}
	path, _, _ = strings.Cut(path, "?")
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if len(parts) == 3 && parts[2] == "new" {
		return path
	}
	if len(parts) < 2 {
		return path
	}
	if list := "/" + parts[0] + "/" + parts[1]; list != contentPath {
		return list
	}
	return approvalsPath
}

// chooseLanguage changes the language of the pages.
func chooseLanguage(r *request) error {
	language := r.PostFormValue("language")
	if !known(language) {
		return &failure{Status: http.StatusUnprocessableEntity, Message: "There are no pages in this language."}
	}
	if err := r.site.Sessions.Change(r.Context(), r.session,
		func(s *session.Session) { s.Language = language }); err != nil {
		return err
	}
	return r.back()
}

// back returns to the page of the form.
func (r *request) back() error {
	path := r.PostFormValue("return")
	if !own(path) {
		path = "/settings"
	}
	return r.redirect(path)
}
