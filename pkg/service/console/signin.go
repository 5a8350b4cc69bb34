package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/store"
)

const (
	// progressCookie has the sealed state of a sign-in in progress.
	progressCookie = "__Host-sign-in"
	// progressLifetime is the time that a person has for the sign-in at the issuer.
	progressLifetime = 10 * time.Minute
	progressPurpose  = "sign-in"
)

// progress is the state of a sign-in between its start and its callback.
type progress struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Return   string    `json:"r"`
	Again    bool      `json:"a,omitempty"`
	At       time.Time `json:"t"`
}

func (s *site) addSignIn(routes *http.ServeMux) {
	routes.HandleFunc("GET /auth/sign-in", s.welcome)
	routes.HandleFunc("GET /auth/start", s.ask)
	routes.HandleFunc("POST /auth/start", s.started)
	routes.HandleFunc("GET /auth/callback", s.callback)
	routes.HandleFunc("GET /auth/invitations", s.invited)
	routes.HandleFunc("POST /auth/sign-out", s.signOut)
	routes.HandleFunc("GET /auth/signed-out", s.signedOut)
}

// welcome shows the page from which a sign-in starts. A person who is signed in already goes on, unless they are to
// sign in again: at the pool, whose form asks for it. A link that names a provider starts nothing.
func (s *site) welcome(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("again") != "" && q.Get("connection") == "" {
		s.start(w, r)
		return
	}
	if found, err := s.find(r); err == nil && found != nil {
		http.Redirect(w, r, s.prefix+returnOf(q), http.StatusSeeOther)
		return
	}
	v := s.newView(r, nil)
	v.Title = "Sign in"
	v.Data = map[string]any{"Start": s.prefix + "/auth/start?" + url.Values{"return": {returnOf(q)}}.Encode(),
		"Ended": q.Get("ended") != "" || q.Get("return") != "", "Kept": q.Get("ended") == "kept"}
	s.showPublic(w, r, http.StatusOK, "signin", v)
}

// invited shows the page of an invitation. Its link proves nothing: the invited person owns the e-mail address, which
// the sign-in decides by.
func (s *site) invited(w http.ResponseWriter, r *http.Request) {
	v := s.newView(r, nil)
	v.Title = "You are invited"
	v.Data = map[string]any{"Start": s.prefix + "/auth/start"}
	s.showPublic(w, r, http.StatusOK, "invitation", v)
}

// showPublic renders a page for visitors.
func (s *site) showPublic(w http.ResponseWriter, r *http.Request, status int, name string, v *view) {
	if err := s.render(w, r, status, name, v); err != nil {
		slog.Error("a page failed", "page", r.Pattern, "error", err)
		http.Error(w, messageUnavailable, http.StatusServiceUnavailable)
	}
}

// returnOf returns the page that follows a sign-in: one of the account area's own.
func returnOf(q url.Values) string {
	if path := q.Get("return"); own(path) {
		return path
	}
	return "/settings"
}

// cookie returns a cookie that scripts and other sites cannot use. An age of zero ends with the browser. Its requests
// from links of other sites carry it, because the issuer is another site.
func cookie(name, value string, age int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode}
}

// clear removes a cookie.
func (s *site) clear(w http.ResponseWriter, name string) { http.SetCookie(w, cookie(name, "", -1)) }

func (s *site) progressBox(ctx context.Context) (*seal.Box, error) {
	keys, err := s.Seal.Keys(ctx, nil, progressPurpose)
	if err != nil {
		return nil, err
	}
	return seal.New(keys...)
}

func (s *site) sealed(ctx context.Context, p progress) (string, error) {
	box, err := s.progressBox(ctx)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(box.Seal(text, progressCookie)), err
}

// opened returns the state of a sign-in, unless it is forged or too old.
func (s *site) opened(r *http.Request) (p progress, ok bool) {
	c, err := r.Cookie(progressCookie)
	if err != nil {
		return p, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return p, false
	}
	box, err := s.progressBox(r.Context())
	if err != nil {
		return p, false
	}
	text, err := box.Open(raw, progressCookie)
	return p, err == nil && json.Unmarshal(text, &p) == nil && s.Now().Sub(p.At) < progressLifetime
}

// The messages of sign-ins that fail.
const (
	messageNoState = "Your browser has not kept the sign-in in progress. It may block cookies, or more than ten " +
		"minutes have passed. Allow cookies for this site, and sign in again."
	messageState   = "This sign-in was not started in this browser. Start it here."
	messageRefused = "The sign-in was not completed. Try again, or ask the owner of your account."
	// The pool names the attribute that it does not take from a provider. Only the length of the groups is bounded.
	messageGroups = "Your company's sign-in sends too many groups: their list may have at most 2,048 characters. Ask " +
		"your IT to send only the groups that are assigned to this application, and sign in again."
	messageIssuer = "The sign-in service does not answer at the moment. Try again in a few seconds."
)

// callback ends a sign-in: it starts a session and goes on to the page that was asked for.
func (s *site) callback(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p, ok := s.opened(r)
	// The state works once, whatever comes of it.
	s.clear(w, progressCookie)
	switch {
	case !ok:
		s.refused(w, r, http.StatusBadRequest, messageNoState)
		return
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(p.State)) != 1:
		s.refused(w, r, http.StatusBadRequest, messageState)
		return
	case q.Get("error") != "" || q.Get("code") == "":
		said := q.Get("error_description")
		slog.Warn("a sign-in was not completed", "error", clip.ClipText(q.Get("error"), maxLogged), "description",
			clip.ClipText(said, maxSaid))
		message := messageRefused
		if strings.Contains(said, groupsAttribute) {
			message = messageGroups
		}
		s.refused(w, r, http.StatusForbidden, message)
		return
	}
	token, err := s.begin(r, p, q.Get("code"))
	var public *errs.Error
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		slog.Warn("a person was not admitted", "reason", refusal.Reason)
		if refusal.Account != "" {
			s.noteSignIn(r, refusal.Account, refusal.Actor, "", string(refusal.Reason))
		}
		s.refusedTo(w, r, http.StatusForbidden, refusal.Message, refusal.Provider)
	case err == nil:
		http.SetCookie(w, cookie(sessionCookie, token, 0))
		http.Redirect(w, r, s.prefix+p.Return, http.StatusSeeOther)
	case errors.Is(err, signin.ErrGrant), errors.Is(err, signin.ErrInvalid):
		slog.Warn("a sign-in was refused", "error", err)
		s.refused(w, r, http.StatusForbidden, messageRefused)
	case errors.As(err, &public):
		slog.Warn("a sign-in was refused", "error", err)
		s.refused(w, r, errs.InfoOf(public.Code).Status, public.Message)
	default:
		slog.Error("a sign-in failed", "error", err)
		s.refused(w, r, http.StatusServiceUnavailable, messageIssuer)
	}
}

// maxLogged bounds a text of a caller in the log, in bytes, and maxSaid an explanation.
const (
	maxLogged = 64
	maxSaid   = 200
)

// groupsAttribute is the attribute of the pool that the groups of a provider are mapped to.
const groupsAttribute = "custom:groups"

// refused shows why a sign-in has failed, with a way to start again.
func (s *site) refused(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.refusedTo(w, r, status, message, "")
}

// refusedTo is refused with the provider by which to start again.
func (s *site) refusedTo(w http.ResponseWriter, r *http.Request, status int, message, provider string) {
	v := s.newView(r, nil)
	v.Title = "Sign in"
	q := url.Values{"connection": {provider}, "again": {"1"}}
	v.Data = map[string]any{"Start": s.prefix + "/auth/start?" + q.Encode(), "Message": message}
	s.showPublic(w, r, status, "signin", v)
}

// begin redeems a code, and starts a session in place of the earlier one.
func (s *site) begin(r *http.Request, p progress, code string) (token string, err error) {
	ctx := r.Context()
	tokens, err := s.Issuer.Redeem(ctx, code, p.Verifier, s.URL+"/auth/callback")
	if err != nil {
		return "", err
	}
	identity, err := s.Verifier.Identity(ctx, tokens.ID, p.Nonce)
	if err != nil {
		return "", err
	}
	now := s.Now()
	// An issuer that ignores the request to sign in again has not confirmed anything.
	if p.Again && now.Sub(identity.AuthTime) >= session.Recent {
		return "", signin.ErrInvalid
	}
	s.recheck(r, identity)
	person, err := s.Admit(ctx, identity)
	if err != nil {
		return "", err
	}
	gateway, _ := proxy.Gateway(ctx)
	made := &session.Session{Person: person, AuthTime: identity.AuthTime, Mode: tenant.Live,
		UserAgent: clip.ClipText(r.UserAgent(), session.MaxAgent), IP: gateway.Identity.SourceIP}
	if made.AuthTime.IsZero() {
		made.AuthTime = now
	}
	earlier, err := s.find(r)
	if err == nil && earlier.Person.ID == person.ID {
		made.Mode, made.Language, made.Zone = earlier.Mode, earlier.Language, earlier.Zone
		made.ExplorerKey = earlier.ExplorerKey
	}
	if token, err = s.Sessions.Start(ctx, made, tokens); err != nil {
		return "", err
	}
	s.look(r, person)
	s.noteSignIn(r, person.Account, auth.Actor{Kind: auth.Person, ID: person.ID}, identity.Connection, "")
	// The earlier token is worthless from here on. Its session ends by itself if this fails.
	if earlier != nil {
		if err := s.Sessions.End(ctx, earlier); err != nil {
			slog.Warn("an earlier session was not ended", "error", err)
		}
	}
	return token, nil
}

// recheck looks the domains of the connection up that a person comes by, once a day. A failure locks nobody out.
func (s *site) recheck(r *http.Request, identity signin.Identity) {
	if identity.Connection == "" {
		return
	}
	account, c, lost, err := s.Connections.Recheck(r.Context(), identity.Connection)
	if err != nil {
		slog.Error("the domains of a connection were not looked up", "error", err)
	}
	for _, domain := range lost {
		slog.Warn("a connection has lost a domain", "connection_id", c.ID, "domain", domain)
		s.noteSignOn(r, account, auth.Actor{Kind: auth.Directory, ID: c.ID}, "sign_on.lose_domain", c.ID+" "+domain,
			nil)
	}
}

// signOut ends the session here and at the issuer, and revokes what was made for it.
func (s *site) signOut(w http.ResponseWriter, r *http.Request) {
	if !ofPage(r) {
		s.failed(w, r, http.StatusForbidden, messageNotPage)
		return
	}
	found, err := s.find(r)
	if err == nil {
		err = permitted(r)
	}
	if err != nil && !errors.Is(err, session.ErrNone) {
		s.answer(w, r, found, err)
		return
	}
	if found != nil {
		if err := s.leave(r, found); err != nil {
			s.answer(w, r, found, err)
			return
		}
		s.note(r, found.Account, auth.Actor{Kind: auth.Person, ID: found.ID},
			auditlog.Entry{OperationID: signedOutOperation, Path: r.URL.Path, Status: http.StatusOK})
	}
	s.clear(w, sessionCookie)
	s.clear(w, progressCookie)
	// What the browser has kept of the account is removed. The cookies of the issuer are on its own host.
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	v := s.newView(r, nil)
	v.Title, v.Data = "You are signed out", s.Issuer.LogoutURL(s.URL+"/auth/signed-out")
	// The policy for forms counts for redirects of their answers too, so the page itself leads on to the issuer.
	s.showPublic(w, r, http.StatusOK, "signingout", v)
}

// leave ends a session. The revocations are tried; the session ends even if they fail.
func (s *site) leave(r *http.Request, found *session.Session) error {
	ctx := r.Context()
	if found.ExplorerKey != "" {
		if token, err := s.Sessions.AccessToken(ctx, found, s.Issuer); err == nil {
			a := s.apiOf(r, found, token)
			a.mode = tenant.Test
			revokeExplorerKey(ctx, a, found.ExplorerKey)
		}
	}
	if tokens, err := s.Sessions.TokensOf(ctx, found); err == nil && tokens.Refresh != "" {
		if err := s.Issuer.Revoke(ctx, tokens.Refresh); err != nil {
			slog.Error("a refresh token was not revoked", "error", err)
		}
	}
	err := s.Sessions.End(ctx, found)
	if errors.Is(err, session.ErrNone) {
		return nil
	}
	return err
}

// signedOut is the page that follows a sign-out at the issuer.
func (s *site) signedOut(w http.ResponseWriter, r *http.Request) {
	v := s.newView(r, nil)
	v.Title = "You are signed out"
	v.Data = cmp.Or(s.prefix, "") + "/auth/sign-in"
	s.showPublic(w, r, http.StatusOK, "signedout", v)
}

// ask sends the browser to the issuer, unless that would sign in by a provider that somebody else may have chosen, or
// end a session: a link of another site must do neither without a click on a page that tells what it does.
func (s *site) ask(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	session, err := s.find(r)
	signedIn := err == nil && session != nil
	if q.Get("connection") == "" && (!signedIn || q.Get("again") != "") {
		s.start(w, r)
		return
	}
	data := map[string]any{"Connection": q.Get("connection"), "Return": returnOf(q), "Again": q.Get("again")}
	if provider := q.Get("connection"); provider != "" {
		account, name, err := s.Connections.NamesOf(r.Context(), provider)
		if errors.Is(err, store.ErrNotFound) {
			s.unknown(w, r)
			return
		}
		if err != nil {
			s.answer(w, r, nil, err)
			return
		}
		data["Account"], data["Provider"] = account, name
	}
	if signedIn {
		data["Email"] = session.Email
	}
	v := s.newView(r, nil)
	v.Title, v.Data = "Sign in", data
	s.showPublic(w, r, http.StatusOK, "start", v)
}

// started starts a sign-in after a click.
func (s *site) started(w http.ResponseWriter, r *http.Request) {
	if !ofPage(r) {
		s.failed(w, r, http.StatusForbidden, messageNotPage)
		return
	}
	if err := r.ParseForm(); err != nil {
		s.failed(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	}
	to, err := s.issuerOf(w, r, r.PostForm)
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	v := s.newView(r, nil)
	// The policy for forms counts for redirects of their answers too, so the page itself leads on to the issuer.
	v.Title, v.Data = "Sign in", to
	s.showPublic(w, r, http.StatusOK, "starting", v)
}

// start sends the browser to the issuer. A provider that the link names is left out: only the form of a page chooses
// one.
func (s *site) start(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	q.Del("connection")
	to, err := s.issuerOf(w, r, q)
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// issuerOf returns the address of the issuer for a sign-in, whose state the browser keeps.
func (s *site) issuerOf(w http.ResponseWriter, r *http.Request, q url.Values) (string, error) {
	p := progress{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Return: returnOf(q),
		Again: q.Get("again") != "", At: s.Now()}
	sealed, err := s.sealed(r.Context(), p)
	if err != nil {
		return "", err
	}
	http.SetCookie(w, cookie(progressCookie, sealed, int(progressLifetime.Seconds())))
	return s.Issuer.AuthorizeURL(signin.Request{State: p.State, Nonce: p.Nonce, Verifier: p.Verifier,
		Redirect: s.URL + "/auth/callback", Again: p.Again, Connection: q.Get("connection"),
		Language: s.newView(r, nil).Language}), nil
}

// addSignOn adds the pages of sign-on connections. The API has no operations for them: they decide who gets in, so that
// only these pages and the operator's command change them. The role is read from the API at each request.
func addSignOn(open func(string, func(*request) error)) {
	open("GET "+signOnPath, func(r *request) error { return r.showSignOn(http.StatusOK, nil) })
	for pattern, act := range map[string]signOnAct{
		"": createConnection, "/{id}/groups": mapGroups, "/{id}/domains": addDomain, "/{id}/verify": verifyDomain,
		"/{id}/undomain": removeDomain, "/{id}/setup": openSetup, "/{id}/confirm": confirmProvider,
		"/{id}/permit": enforce, "/{id}/emergency": changeEmergency,
	} {
		open("POST "+signOnPath+pattern, guarded(signOnPath, managing(act)))
	}
	open("GET "+signOnPath+"/{id}/undomain", guarded(signOnPath, confirmDomain))
	open("GET "+signOnPath+"/{id}/remove", guarded("", asking(removal)))
	open("POST "+signOnPath+"/{id}/remove", guarded("", typing(removal, managing(removeConnection))))
	open("GET "+signOnPath+"/{id}/enforce", guarded("", asking(enforcement)))
	open("POST "+signOnPath+"/{id}/enforce", guarded("", typing(enforcement, managing(enforce))))
}

// role returns the role of the person, and their account, as the API knows them now.
func (r *request) role() (auth.Role, tenant.Account, error) {
	var me struct {
		ID     tenant.Account `json:"id"`
		Person *struct {
			Role auth.Role `json:"role"`
		} `json:"person"`
	}
	if err := r.api.get(r.Context(), "/v1/me", nil, &me); err != nil || me.Person == nil {
		return "", "", err
	}
	return me.Person.Role, me.ID, nil
}

const messageManagers = "Only owners and admins of the account manage single sign-on."

// signOnAct is a change of sign-on. It returns its name in the audit log, what it concerns, and what shows its result
// if that is not the list of the connections.
type signOnAct func(*request, tenant.Account, authority.Authority) (operation, about string, show func() error,
	err error)

// managing wraps a change that needs a role. The change is in the audit log under the person, also if it fails.
func managing(act signOnAct) func(*request) error {
	return func(r *request) error {
		role, account, err := r.role()
		if err != nil {
			return err
		}
		if !role.Manages() {
			return &failure{Status: http.StatusForbidden, Message: messageManagers}
		}
		operation, about, show, err := act(r, account,
			authority.OfPerson(r.session.ID, role))
		r.site.noteSignOn(r.Request, account, auth.Actor{Kind: auth.Person, ID: r.session.ID}, operation,
			strings.TrimSpace(r.URL.Path+" "+about), err)
		if err == nil && show != nil {
			return show()
		}
		return r.signOnDone(err)
	}
}

func (r *request) showSignOn(status int, found fieldErrors) error {
	role, account, err := r.role()
	if err != nil {
		return err
	}
	all, err := r.site.Connections.List(r.Context(), account)
	if err != nil {
		return err
	}
	owners, safe, err := ownersOf(r, role)
	if err != nil {
		return err
	}
	v := r.view("Single sign-on", signOnPath)
	v.mend(found)
	v.Data = map[string]any{"Connections": all, "Manages": role.Manages(),
		"Owns": role == auth.Owner, "Roles": roles[1:], "Owners": owners, "Safe": safe,
		"Connection": r.PathValue("id"), "Domain": domainOf(r),
		"Groups": r.PostFormValue("groups")}
	return r.show(status, "sign-on", v)
}

// ownersOf returns the active owners of the account for those who may read people, and reports whether one of them has
// emergency access: single sign-on is required only then.
func ownersOf(r *request, role auth.Role) (all []member, safe bool, err error) {
	if !role.Manages() {
		return nil, false, nil
	}
	all, err = listAll[member](r.Context(), r.api, "/v1/people", url.Values{"role": {string(auth.Owner)},
		"state": {"active"}}, mostNames)
	for _, one := range all {
		safe = safe || one.BreakGlass
	}
	return all, safe, err
}

// changeEmergency gives an owner emergency access, or ends it. Only owners do.
func changeEmergency(r *request, account tenant.Account, by authority.Authority) (string, string, func() error,
	error) {
	on := r.PostFormValue("on") == "true"
	operation := "sign_on.end_emergency_access"
	if on {
		operation = "sign_on.give_emergency_access"
	}
	if by.Role != auth.Owner {
		return operation, "", nil, errs.New(errs.InsufficientScope, "Only owners give emergency access.")
	}
	_, err := r.site.People.SetBreakGlass(r.Context(), account, r.PathValue("id"), on)
	return operation, r.PathValue("id"), nil, err
}

// signOnDone returns to the connections after a form, with the error that the person can mend.
func (r *request) signOnDone(err error) error {
	var public *errs.Error
	switch {
	case err == nil:
		return r.redirect(signOnPath)
	case errors.Is(err, store.ErrNotFound):
		return &failure{Status: http.StatusNotFound, Message: "There is no such page."}
	case errors.As(err, &public) && errs.InfoOf(public.Code).Status < http.StatusInternalServerError:
		return r.showSignOn(errs.InfoOf(public.Code).Status, mendable(public))
	}
	return err
}

func createConnection(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	name, role := strings.TrimSpace(r.PostFormValue("name")), auth.Role(r.PostFormValue("role"))
	c, err := r.site.Connections.Create(r.Context(), account, connection.Settings{Name: &name, DefaultRole: &role})
	if err != nil {
		return "sign_on.create", "", nil, err
	}
	return "sign_on.create", c.ID, nil, nil
}

// groupLines returns the roles of groups as the lines of the form.
func groupLines(of map[string]auth.Role) (lines []string) {
	for _, group := range slices.Sorted(maps.Keys(of)) {
		lines = append(lines, group+" = "+string(of[group]))
	}
	return lines
}

func mapGroups(r *request, account tenant.Account, by authority.Authority) (string, string,
	func() error, error) {
	roles := connection.ParseGroupRoles(strings.Lines(r.PostFormValue("groups")))
	_, err := r.site.Connections.Update(r.Context(), account, r.PathValue("id"), connection.Settings{GroupRoles: roles,
		By: by})
	return "sign_on.map_groups", "", nil, err
}

// domainOf returns the domain of a form.
func domainOf(r *request) string {
	return strings.ToLower(strings.TrimSpace(r.PostFormValue("domain")))
}

func addDomain(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.AddDomain(r.Context(), account, r.PathValue("id"), domainOf(r))
	return "sign_on.add_domain", domainOf(r), nil, err
}

func verifyDomain(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.VerifyDomain(r.Context(), account, r.PathValue("id"), domainOf(r))
	return "sign_on.verify_domain", domainOf(r), nil, err
}

func removeDomain(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.RemoveDomain(r.Context(), account, r.PathValue("id"), domainOf(r))
	return "sign_on.remove_domain", domainOf(r), nil, err
}

func enforce(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	operation, on := "sign_on.permit_others", r.PostFormValue("on") == "true"
	if on {
		operation = "sign_on.enforce"
	}
	_, err := r.site.Connections.Enforce(r.Context(), account, r.PathValue("id"), on)
	return operation, "", nil, err
}

func removeConnection(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	return "sign_on.remove", "", nil, r.site.Connections.Remove(r.Context(), account, r.PathValue("id"))
}

func openSetup(r *request, account tenant.Account, by authority.Authority) (string, string,
	func() error, error) {
	made, err := r.site.Connections.OpenSetup(r.Context(), account, r.PathValue("id"), by)
	return "sign_on.open_setup", "", func() error {
		v := r.view("The set-up link", signOnPath)
		v.Data = map[string]any{"URL": r.site.URL + setupPath + "#" + made.Token, "Ends": made.Ends}
		return r.show(http.StatusOK, "setup-link", v)
	}, err
}

func confirmProvider(r *request, account tenant.Account, by authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.Confirm(r.Context(), account, r.PathValue("id"), r.PostFormValue("provider"), by)
	return "sign_on.confirm_provider", "", nil, err
}

const setupPath = "/setup"

// addSetup adds the pages of a set-up link, which the IT of a customer uses without a sign-in. The token of the link is
// in its fragment, and then in the bodies of forms: addresses are in logs and traces.
func (s *site) addSetup(routes *http.ServeMux) {
	routes.HandleFunc("GET "+setupPath, func(w http.ResponseWriter, r *http.Request) {
		v := s.newView(r, nil)
		v.Title = "Set up single sign-on"
		s.showPublic(w, r, http.StatusOK, "setup-open", v)
	})
	routes.HandleFunc("POST "+setupPath, func(w http.ResponseWriter, r *http.Request) {
		err := s.Sessions.MayGuess(r.Context(), session.SetupLinks, addressOf(r))
		if errors.Is(err, session.ErrGuesses) {
			w.Header().Set("Retry-After", inSeconds(s.Sessions.GuessesEnd()))
			s.failed(w, r, http.StatusTooManyRequests, messageGuesses)
			return
		} else if err != nil {
			s.answer(w, r, nil, err)
			return
		}
		if r.PostFormValue("kind") == "" {
			s.showSetup(w, r, http.StatusOK, nil)
			return
		}
		s.setUp(w, r)
	})
}

// setupToken returns the token of a form, which may have the whole link.
func setupToken(r *http.Request) string {
	link := strings.TrimSpace(r.PostFormValue("link"))
	return link[strings.LastIndex(link, "#")+1:]
}

// showSetup shows the form, with what the provider has to know of the pool.
func (s *site) showSetup(w http.ResponseWriter, r *http.Request, status int, found fieldErrors) {
	_, c, err := s.Connections.BySetup(r.Context(), setupToken(r))
	if err != nil {
		s.setupFailed(w, r, err)
		return
	}
	base := strings.TrimSuffix(s.SignIn.AuthorizeURL, "/oauth2/authorize")
	v := s.newView(r, nil)
	v.Title = "Set up single sign-on"
	v.mend(found)
	v.Data = map[string]any{"Connection": c, "ACS": base + "/saml2/idpresponse",
		"Redirect": base + "/oauth2/idpresponse", "Entity": "urn:amazon:cognito:sp:" + path.Base(s.SignIn.Issuer),
		"Kind": r.FormValue("kind"), "Link": setupToken(r), "MetadataURL": r.FormValue("metadata_url"),
		"Issuer": r.FormValue("issuer"), "Client": r.FormValue("client_id")}
	s.showPublic(w, r, status, "setup", v)
}

// setupFailed answers for a link that does not work. It does not tell whether there ever was one.
func (s *site) setupFailed(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, store.ErrNotFound) {
		if err := s.Sessions.CountGuess(r.Context(), session.SetupLinks, addressOf(r)); err != nil {
			slog.Error("a wrong link was not counted", "error", err)
		}
		s.failedAs(w, r, nil, http.StatusNotFound, "This link was used, or has ended. Ask for a new one.")
		return
	}
	s.answer(w, r, nil, err)
}

// setUp gives the connection its provider. The link ends with that.
func (s *site) setUp(w http.ResponseWriter, r *http.Request) {
	p := connection.Provider{Kind: connection.Kind(r.PostFormValue("kind"))}
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	switch p.Kind {
	case connection.SAML:
		p.MetadataURL, p.Metadata = field("metadata_url"), field("metadata")
	case connection.OIDC:
		p.Issuer, p.ClientID, p.ClientSecret = field("issuer"), field("client_id"), field("client_secret")
	}
	account, c, err := s.Connections.UseSetup(r.Context(), setupToken(r), p)
	if account == "" || errors.Is(err, store.ErrNotFound) {
		s.setupFailed(w, r, err)
		return
	}
	s.noteSignOn(r, account, auth.Actor{Kind: auth.Directory, ID: c.ID}, "sign_on.set_provider",
		setupPath+" "+c.ID, err)
	var public *errs.Error
	switch {
	case errors.As(err, &public) && errs.InfoOf(public.Code).Status < http.StatusInternalServerError:
		s.showSetup(w, r, errs.InfoOf(public.Code).Status, mendable(public))
	case err != nil:
		s.answer(w, r, nil, err)
	default:
		v := s.newView(r, nil)
		v.Title, v.Data = "The provider is set up", c
		s.showPublic(w, r, http.StatusOK, "setup-done", v)
	}
}
