package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/resource"
)

// sessionCookie has the token of the session. Browsers accept a name with this prefix only from the host itself, over a
// secure connection.
const sessionCookie = "__Host-session"

// partHeader is the header of a request of the script for a part of a page, such as the content of a dialog.
const partHeader = "X-Part"

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
	// newest reads the newest names once.
	newest func() (names, error)
	// wholes are the lists that were read to their end, by their paths.
	wholes    map[string][]named
	wholeLock sync.Mutex
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
	h.Add("Vary", partHeader)
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

// The failures of several pages.
var (
	errNoPage  = &failure{Status: http.StatusNotFound, Message: "There is no such page."}
	errForm    = &failure{Status: http.StatusBadRequest, Message: "The form cannot be read."}
	errNotPage = &failure{Status: http.StatusForbidden,
		Message: "Only the pages of the account area may ask for this, in a browser of 2023 or later."}
	errToken = &failure{Status: http.StatusForbidden,
		Message: "This form is not of your current sign-in. Open the page again and repeat."}
	errLanguage = &failure{Status: http.StatusUnprocessableEntity, Message: "There are no pages in this language."}
)

// visited returns a handler that visitors reach, too. Its request has no session.
func (s *site) visited(handle func(*request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handle(&request{Request: r, site: s, w: w}); err != nil {
			found, _ := s.find(r) // whoever is signed in sees the error among their pages
			s.answer(w, r, found, err)
		}
	}
}

// permitted returns an error unless a request with a session comes from a page of that session. A form needs the token
// of the session, because a script of the explorer can send a form without seeing the answer.
func permitted(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	parse := r.ParseForm
	if hasFile(r) {
		parse = func() error { return r.ParseMultipartForm(maxLogoForm) }
	}
	if err := parse(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return err
		}
		return errForm
	}
	if !hasToken(r, forForms, r.PostFormValue(tokenField)) {
		return errToken
	}
	return nil
}

// signedIn returns a handler that only signed-in persons reach.
func (s *site) signedIn(handle func(*request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, err := s.find(r)
		if !ofPage(r) {
			err = errNotPage
		}
		if err == nil {
			err = permitted(r)
		}
		var token string
		if err == nil {
			token, err = s.Sessions.AccessToken(r.Context(), found, s.Issuer)
		}
		if err == nil {
			q := &request{Request: r, site: s, w: w, session: found, api: s.apiOf(r, found, token),
				known: s.roleOf(r, found), wholes: map[string][]named{}}
			q.newest = sync.OnceValues(q.readNewest)
			if err = handle(q); r.Method != http.MethodGet {
				forgetCorner(q)
			}
		}
		if err != nil && !errors.Is(err, errAgain) {
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

// signInAgain leads to the sign-in, and from there back to the page. A form that was sent is kept.
func (s *site) signInAgain(w http.ResponseWriter, r *http.Request) {
	s.clear(w, sessionCookie)
	to := s.prefix + "/auth/sign-in"
	kept, keeps := s.keep(r, "")
	switch {
	case r.Method == http.MethodGet:
		to += "?" + url.Values{"return": {r.URL.RequestURI()}}.Encode()
	case keeps:
		to += "?" + url.Values{"ended": {"kept"}, "return": {kept}}.Encode()
	default:
		to += "?ended=form"
	}
	if r.Header.Get(partHeader) != "" {
		w.WriteHeader(http.StatusUnauthorized) // the script opens the page then
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// redirect answers with another page of the account area.
func (r *request) redirect(path string) error {
	http.Redirect(r.w, r.Request, r.site.prefix+path, http.StatusSeeOther)
	return nil
}

// errAgain is returned for a sensitive change if the last sign-in was too long ago. The person has been asked then.
var errAgain = errors.New("console: sign in again")

// sensitive returns an error after it has asked for another sign-in, unless the last one was recent. The form is at the
// path, where the person comes back to.
func (r *request) sensitive(path string) error {
	if r.session.SignedInRecently(r.site.Now()) {
		return nil
	}
	kept, keeps := r.site.keep(r.Request, r.session.ID)
	if keeps {
		path = kept
	}
	q := url.Values{"return": {path}, "again": {"1"}}
	v := r.view("Confirm that it is you", "")
	v.Data = map[string]any{"Path": r.site.prefix + "/auth/sign-in?" + q.Encode(), "Keeps": keeps}
	if err := r.show(http.StatusForbidden, "again", v); err != nil {
		return err
	}
	return errAgain
}

// guarded wraps the handler of a sensitive page. The path of the form is that of the request, or the given one.
func guarded(form string, handle func(*request) error) func(*request) error {
	return func(r *request) error {
		if err := r.sensitive(cmp.Or(form, r.URL.Path)); err != nil {
			return err
		}
		return handle(r)
	}
}

// view returns what a page shows.
func (r *request) view(title, active string) *view {
	v := r.site.newView(r.Request, r.session)
	v.Title, v.Active, v.Role, v.FieldErrors = title, active, r.known, r.found
	if r.session != nil && r.Header.Get(partHeader) == "" {
		v.Corner = cornerOf(r)
	}
	return v
}

// roleOf returns the role of the person of a session, which decides what pages offer. The API decides what it permits.
func (s *site) roleOf(r *http.Request, found *session.Session) auth.Role {
	if found == nil || s.People == nil {
		return ""
	}
	role, err := s.role(r.Context(), found.Account, found.ID)
	if err != nil {
		slog.Warn("the role of a person is not known", "error", err)
	}
	return role
}

// page renders a page that belongs to no link of the menu.
func (r *request) page(status int, name, title string, data any) error {
	v := r.view(title, "")
	v.Data = data
	return r.show(status, name, v)
}

// show renders a page.
func (r *request) show(status int, name string, v *view) error {
	return r.site.render(r.w, r.Request, status, name, v)
}

// render renders a page, or only its content for a dialog.
func (s *site) render(w http.ResponseWriter, r *http.Request, status int, name string, v *view) error {
	var out bytes.Buffer
	v.Dialog = r.Header.Get(partHeader) != ""
	if err := screens()[name].render(&out, v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", v.Language)
	if r.Method == http.MethodPost && status >= http.StatusBadRequest { // others may have a secret
		web.KeepAnswer(w.Header())
	}
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
	if len(parts) < 2 || len(parts) == 3 && parts[2] == "new" {
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
		return errLanguage
	}
	err := r.site.Sessions.Change(r.Context(), r.session, func(s *session.Session) { s.Language = language })
	if err != nil {
		return err
	}
	return r.redirect(r.back(homePath))
}

// back returns the page that the form was sent from, or the usual one.
func (r *request) back(usual string) string { return ownOr(r.FormValue("return"), usual) }

// ownOr returns a path if it leads to a page of the account area, and otherwise the usual one.
func ownOr(path, usual string) string {
	if own(path) {
		return path
	}
	return usual
}

// modeHeader makes a call of a person one in test mode.
const modeHeader = "X-Account-Mode"

// maxAnswer bounds an answer of the API.
const maxAnswer = 8 << 20

// api calls the API as a person.
type api struct {
	site  *site
	token string
	mode  tenant.Mode
	// caller is the sealed address of the person: see vouch.
	caller string
	// version is the version of the resource that a change is for. Empty: any.
	version string
}

// apiOf returns the API as the person of a session.
func (s *site) apiOf(r *http.Request, of *session.Session, token string) api {
	a := api{site: s, token: token, mode: of.Mode}
	gateway, _ := proxy.Gateway(r.Context())
	var err error
	a.caller, err = auth.SealVouch(r.Context(), s.Seal, of.ID, auth.Browser{IP: gateway.Identity.SourceIP,
		UserAgent: clip.ClipText(r.UserAgent(), session.MaxAgent), At: s.Now()})
	if err != nil {
		// The audit log has the address of the account area then.
		slog.Error("the address of a person is not passed on", "error", err)
	}
	return a
}

// failure is an answer of the API that is an error.
type failure struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
	// Details are all members that were refused.
	Details []detail `json:"details"`
}

// detail is a member that was refused.
type detail struct {
	Param   string `json:"param"`
	Message string `json:"message"`
}

func (f *failure) Error() string {
	return fmt.Sprintf("console: the API answers %d %s", f.Status, f.Code)
}

// errSent is the error of a form whose answer was shown before, such as the secret of a key.
var errSent = &failure{Status: http.StatusConflict, Message: "This form was sent before. Open the page again."}

// messageOf returns the message of a failure that the person can mend in the form, or the error itself.
func messageOf(err error) (message string, other error) {
	failed, ok := errors.AsType[*failure](err)
	named := ok && failed.Status == http.StatusNotFound && strings.HasPrefix(failed.Param, "/") // by the form
	if ok && failed != errSent && (named || slices.Contains([]int{
		http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusPreconditionFailed,
		http.StatusPaymentRequired}, failed.Status)) {
		return failed.Message, nil
	}
	return "", err
}

// missing reports whether the API has no such resource.
func missing(err error) bool {
	failed, ok := errors.AsType[*failure](err)
	return ok && failed.Status == http.StatusNotFound
}

// answer is the envelope of all answers.
type answer struct {
	Data  json.RawMessage `json:"data"`
	Next  *string         `json:"next_cursor"`
	Error *failure        `json:"error"`
}

// get reads a resource.
func (a api) get(ctx context.Context, path string, query url.Values, into any) error {
	_, err := a.list(ctx, path, query, into)
	return err
}

// list reads a page of a list, and returns the cursor of the next page.
func (a api) list(ctx context.Context, path string, query url.Values, into any) (next string, err error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	out, err := a.call(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return "", err
	}
	if out.Next != nil {
		next = *out.Next
	}
	return next, json.Unmarshal(out.Data, into)
}

// change calls an operation that changes something. A repeat with the same key has one effect. Into may be nil.
func (a api) change(ctx context.Context, method, path, once string, body, into any) error {
	out, err := a.call(ctx, method, path, once, body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(out.Data, into)
}

// maxCalls bounds the attempts of a call. All calls can be repeated: reads are safe, and changes have a key.
const maxCalls = 3

func (a api) call(ctx context.Context, method, path, once string, body any) (out answer, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return out, fmt.Errorf("console: encode %s: %w", path, err)
		}
	}
	for try := range maxCalls {
		if werr := backoff.Wait(ctx, try, 100*time.Millisecond, time.Second); werr != nil {
			return out, werr
		}
		var again bool
		if out, again, err = a.send(ctx, method, path, once, text); err == nil || !again {
			return out, err
		}
	}
	return out, err
}

// send sends a call, and reports whether another attempt may succeed.
func (a api) send(ctx context.Context, method, path, once string, body []byte) (out answer, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, a.site.API+path, bytes.NewReader(body))
	if err != nil {
		return out, false, fmt.Errorf("console: call the API: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "account-area")
	if a.caller != "" {
		req.Header.Set(auth.VouchHeader, a.caller)
	}
	if a.mode == tenant.Test {
		req.Header.Set(modeHeader, string(tenant.Test))
	}
	if body != nil {
		kind := "application/json"
		if method == http.MethodPatch {
			kind = "application/merge-patch+json"
		}
		req.Header.Set("Content-Type", kind)
	}
	if a.version != "" {
		req.Header.Set("If-Match", `"`+a.version+`"`)
	}
	if once != "" {
		req.Header.Set("Idempotency-Key", once)
	}
	resp, err := a.site.client.Do(req)
	if err != nil {
		return out, true, fmt.Errorf("console: call the API: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return out, true, fmt.Errorf("console: call the API: %w", err)
	}
	if err := json.Unmarshal(content, &out); err != nil {
		return out, resp.StatusCode >= 500, fmt.Errorf("console: the API answers %d without an envelope: %w",
			resp.StatusCode, err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return out, false, nil
	}
	failed := out.Error
	if failed == nil {
		failed = &failure{}
	}
	failed.Status = resp.StatusCode
	busy := resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusBadGateway ||
		failed.Code == "idempotency_in_progress"
	return out, busy, failed
}

// The acts of people that no call of the API records, as the audit log names them.
const (
	signedInOperation  = "person.sign_in"
	signedOutOperation = "person.sign_out"
	// endedSessionOperation signs another browser of the person out.
	endedSessionOperation = "person.end_session"
)

// noteSignIn writes a sign-in to the audit log. Provider is the provider that the person came by, or empty. Reason is
// that of a refusal.
func (s *site) noteSignIn(r *http.Request, account tenant.Account, by auth.Actor, provider, reason string) {
	e := auditlog.Entry{OperationID: signedInOperation, Path: r.URL.Path, Status: http.StatusSeeOther}
	if provider != "" {
		e.Path += " " + connection.IDOf(provider)
	}
	if reason != "" {
		e.Status, e.ErrorCode = http.StatusForbidden, &reason
	}
	s.note(r, account, by, e)
}

// noteSignOn writes a change of sign-on to the audit log, with its error. The path has what it concerns, and no secret.
func (s *site) noteSignOn(r *http.Request, account tenant.Account, by auth.Actor, operation, path string, err error) {
	e := auditlog.Entry{OperationID: resource.Text(operation), Path: path, Status: http.StatusOK}
	if err != nil {
		found := errs.As(err)
		code := string(found.Code)
		e.Status, e.ErrorCode = errs.InfoOf(found.Code).Status, &code
	}
	s.note(r, account, by, e)
}

// note writes an entry to the audit log. A sign-in or sign-out has happened by then, so it stays even if this fails.
func (s *site) note(r *http.Request, account tenant.Account, by auth.Actor, e auditlog.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), noteTimeout)
	defer cancel()
	gateway, _ := proxy.Gateway(r.Context())
	now := s.Now()
	at := now
	if gateway.RequestTimeEpoch > 0 {
		at = time.UnixMilli(gateway.RequestTimeEpoch)
	}
	e.At, e.LatencyMS, e.Count, e.Method = resource.Instant(at), now.Sub(at).Milliseconds(), 1, resource.Text(r.Method)
	e.RequestID, e.IP = id.OfRequest(at, gateway.RequestID), resource.Text(gateway.Identity.SourceIP)
	e.UserAgent = resource.Text(r.UserAgent())
	if err := s.Record(ctx, account, by, e); err != nil {
		slog.Error("audit entry lost", "request_id", e.RequestID, "operation_id", e.OperationID, "error", err)
	}
}

const noteTimeout = 3 * time.Second

// atOnce reads several things at the same time.
func atOnce(reads ...func() error) error {
	failed := make([]error, len(reads))
	places := make(chan struct{}, mostAtOnce)
	var all sync.WaitGroup
	for i, read := range reads {
		places <- struct{}{}
		all.Go(func() {
			failed[i] = read()
			<-places
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// mostAtOnce bounds the reads at the same time.
const mostAtOnce = 16

// each reads something about each row of a list at the same time.
func each[T any](rows []T, read func(row *T) error) error {
	reads := make([]func() error, len(rows))
	for i := range rows {
		reads[i] = func() error { return read(&rows[i]) }
	}
	return atOnce(reads...)
}

// fieldErrors are what to mend in a form, by the names of its fields, in English. The empty name has what is about no
// field.
type fieldErrors map[string]string

// formFields are the fields of forms in the order in which pages show them: the first with an error gets the focus.
var formFields = []string{"url", "name", "email", "kind", "expires", "ips", "limit", "profiles",
	"credits_a_day", "until", "quiet_from", "quiet_to", "quiet_zone", "description",
	"event_types", "scopes", "logo", "region", "factory_id", "trigger", "cron", "prompt", "most", "domain", "groups",
	"media_id", "format", "mapping", "theme", "design", "currency", "schedule", "daily_time", "remake_per_day",
	"metadata_url", "metadata", "issuer", "client_id", "client_secret", "daily_limit", "from", "to",
	"operation_id", "status",
	"key_id", "request_id", "type", "object_id", "role", "may", "days", "zone", "note", "at", "typed"}

// mend is a field of a form and what to do if the API refuses it.
type mend struct{ field, text string }

// mends are the fields of forms by the members and parameters of the API that they fill.
var mends = map[string]mend{
	"/name":                {"name", "Give it a name of up to 100 characters."},
	"/scopes":              {"scopes", "Choose at least one scope."},
	"/ip_allow_list":       {"ips", "Write address ranges such as 192.0.2.0/24, with commas between them."},
	"/expires_at":          {"expires", "Choose a time in the future."},
	"/spend_limit_credits": {"limit", "The spending limit is a whole number of credits."},
	"/profile_ids":         {"profiles", "Choose profiles of the key's environment."},
	"/url":                 {"url", "Write an address that begins with https:// and that the internet reaches."},
	"/event_types":         {"event_types", "Choose at least one event."},
	"/description":         {"description", "A description has up to 200 characters."},
	"/email":               {"email", "Write an e-mail address, such as ada@acme.example."},
	"/role":                {"role", "Choose a role that you may give."},
	"/logo":                {"logo", "Choose a PNG, JPEG or WebP picture of up to 64 KB."},
	"/region":              {"region", "Choose a country."},
	"/trigger/url":         {"url", "Write the address of an RSS, Atom or JSON Feed that the internet reaches."},
	"/trigger/cron":        {"cron", "Write five fields, such as 30 9 * * 1-5."},
	"/template/prompt":     {"prompt", "Write a prompt of up to 4000 characters, with known names in braces only."},
	"/max_per_day":         {"most", "The number of items a day is a whole number."},
	"/factory_id":          {"factory_id", "Choose a factory that fits."},
	"/domain":              {"domain", "Write a domain of your company, such as acme.example."},
	"/groups":              {"groups", "Write a line for each group, such as: api-admins = admin."},
	"/default_role":        {"role", "Choose a role that you may give."},
	"/metadata_url":        {"metadata_url", "Write the address of the metadata, or paste the metadata themselves."},
	"/metadata":            {"metadata", "Paste the metadata of your provider: an XML document."},
	"/issuer":              {"issuer", "Write the issuer as your provider names it: it begins with https://."},
	"/client_id":           {"client_id", "Write the client id that your provider has given you."},
	"/client_secret":       {"client_secret", "Write the client secret that your provider has given you."},
	"/source":              {"url", "Give the address of the feed, or the id of the file, and not both."},
	"/source/url":          {"url", "Write an address that begins with https:// and that the internet reaches."},
	"/source/media_id":     {"media_id", "Write the id of a file that you have uploaded, such as med_…"},
	"/format":              {"format", "Choose the format of the feed."},
	"/mapping": {"mapping", "Write a line for each member with its column, such as: sku = Number. Only the format " +
		"CSV has a mapping."},
	"/design":         {"design", "Write the design as JSON."},
	"/currency":       {"currency", "Write a currency in three letters, such as EUR. An export of Shopify needs it."},
	"/schedule":       {"schedule", "A file that you have uploaded does not change: choose by hand."},
	"/remake_per_day": {"remake_per_day", "Write how many posts are made again a day: 0 to 1000."},
	"/daily_time":     {"daily_time", "Write the time of day of a daily feed, such as 06:30."},
	"/daily_limit": {"daily_limit",
		"Write a whole number, 600 or more on X. Others than X and YouTube have none."},
	"from":                   {"from", "Choose a day, or leave it empty."},
	"to":                     {"to", "Choose a day after the first one, or leave it empty."},
	"status":                 {"status", "A status is a number from 100 to 599, or a class such as 4xx."},
	"key_id":                 {"key_id", "Choose a key of the list."},
	"request_id":             {"request_id", "Write the id of a request as the API has answered it."},
	"operation_id":           {"operation_id", "Write the name of an operation, such as createApiKey."},
	"type":                   {"type", "Choose a type of event, such as content.generated."},
	"object_id":              {"object_id", "Write the id of a resource, such as cnt_…"},
	"/overlap_seconds":       {"", "Choose when the earlier secret ends."},
	"/social_account_id":     {"", "This social account cannot be connected again."},
	"/trigger":               {"trigger", "Choose what starts the automation."},
	"/secondary_url":         {"url", "Write an address that begins with https:// and that the internet reaches."},
	"/metadata_url/metadata": {"metadata", "Paste the metadata of your provider: an XML document."},

	"/mandate/credits_a_day":        {"credits_a_day", "Credits a day are a whole number."},
	"/mandate/until":                {"until", "Choose the day on which the access ends."},
	"/mandate/quiet_hours/from":     {"quiet_from", "Write the time at which the quiet hours begin, such as 22:00."},
	"/mandate/quiet_hours/to":       {"quiet_to", "Write the time at which the quiet hours end, such as 08:00."},
	"/mandate/quiet_hours/timezone": {"quiet_zone", "Write a time zone such as Europe/Berlin."},
}

// codes are what to do about an error that is about no field.
var codes = map[errs.Code]string{
	errs.VersionMismatch:      "It has changed since you opened the page. Look at it again, and repeat.",
	errs.InsufficientBalance:  "The balance is too low for this.",
	errs.IdempotencyKeyReused: "This form was sent before with other values. Open the page again and repeat.",
}

// refused returns what to mend in a form that the API or the service itself has refused, or the error itself if the
// person cannot mend it.
func refused(err error) (fieldErrors, error) {
	found := fieldErrors{}
	if wrong, ok := errors.AsType[fieldErrors](err); ok {
		return wrong, nil
	}
	if public, ok := errors.AsType[*errs.Error](err); ok && statusOf(err) < http.StatusInternalServerError {
		param := public.Param
		if param != "" && !strings.HasPrefix(param, "/") {
			param = "/" + param
		}
		found.add(param, public.Code, public.Message)
		return found, nil
	}
	failed, _ := errors.AsType[*failure](err)
	if message, other := messageOf(err); message == "" {
		return nil, other
	}
	details := failed.Details
	if len(details) == 0 {
		details = []detail{{failed.Param, failed.Message}}
	}
	for _, d := range details {
		found.add(d.Param, errs.Code(failed.Code), d.Message)
	}
	return found, nil
}

// messageMarked is above a form with marked fields.
const messageMarked = "Fix the marked fields. Nothing was changed."

// form returns the message of a failure that the person can mend in the form, or the error itself. The views of the
// request mark its fields.
func (r *request) form(err error) (message string, other error) {
	r.found, other = refused(err)
	return r.found.message(), other
}

// message returns the message above a form, or an empty text without errors.
func (f fieldErrors) message() string {
	if f[""] == "" && len(f) > 0 {
		return messageMarked
	}
	return f[""]
}

// statusOf returns the status of the answer to a form with an error.
func statusOf(err error) int {
	if failed, ok := errors.AsType[*failure](err); ok {
		return failed.Status
	}
	if public, ok := errors.AsType[*errs.Error](err); ok {
		return errs.InfoOf(public.Code).Status
	}
	return http.StatusUnprocessableEntity
}

// mark marks a field in the views of the request, and returns the message above the form.
func mark(r *request, field, message string) string {
	r.found = about(field, message)
	return messageMarked
}

// add adds the error of a member or a parameter. An unknown one stays as the API says it.
func (f fieldErrors) add(param string, code errs.Code, message string) {
	for at := param; at != "" && at != "/"; {
		if m, ok := mends[at]; ok && at == "/design" { // the API says where in it
			f[m.field] = strings.TrimSpace(f[m.field] + "\n" + strings.TrimPrefix(param, at+"/") + ": " + message)
			return
		} else if ok {
			f[m.field] = m.text
			return
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = at[:i]
	}
	if text, ok := codes[code]; ok {
		message = text
	}
	f[""] = message
}

// Error implements error: the person can mend it.
func (f fieldErrors) Error() string { return "console: " + f.message() }

func about(field, message string) fieldErrors {
	if message == "" {
		return nil
	}
	return fieldErrors{field: message}
}

// mend marks the fields of a form that are to be mended.
func (v *view) mend(found fieldErrors) {
	v.FieldErrors, v.Error = found, found.message()
}

// FieldError returns what to mend in a field, or an empty text.
func (v *view) FieldError(field string) string { return v.FieldErrors[field] }

// Faulty returns the fields with errors in the order of the page.
func (v *view) Faulty() (all []string) {
	for _, field := range formFields {
		if v.FieldErrors[field] != "" {
			all = append(all, field)
		}
	}
	return all
}

// FirstError returns the first field with an error, which gets the focus.
func (v *view) FirstError() string {
	if all := v.Faulty(); len(all) > 0 {
		return all[0]
	}
	return ""
}

// faulty returns the status of a form with or without errors.
func faulty(found fieldErrors) int {
	if len(found) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// Manages reports whether the person manages people and sign-on.
func (v *view) Manages() bool { return v.Role.Manages() }

// Reads reports whether the person reads only.
func (v *view) Reads() bool { return v.Role == auth.Auditor }

// Changes reports whether the person may change or remove people of a role.
func (v *view) Changes(role client.Role) bool {
	return v.Manages() && (v.Role == auth.Owner || role != client.RoleOwner)
}
