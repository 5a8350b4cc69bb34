package console

import (
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

	client "github.com/content-automation/api/clients/go"
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
	for pattern, handle := range map[string]func(*request) error{"GET /auth/sign-in": welcome, "GET /auth/start": ask,
		"POST /auth/start": started, "GET /auth/callback": endSignIn, "GET /auth/invitations": invited,
		"POST /auth/sign-out": signOut, "GET /auth/signed-out": signedOut} {
		routes.HandleFunc(pattern, s.visited(handle))
	}
}

// welcome shows the page from which a sign-in starts. A person who is signed in already goes on, unless they are to
// sign in again: at the pool, whose form asks for it. A link that names a provider starts nothing.
func welcome(r *request) error {
	q := r.URL.Query()
	if q.Get("again") != "" && q.Get("connection") == "" {
		return start(r)
	}
	if found, err := r.site.find(r.Request); err == nil && found != nil {
		return r.redirect(returnOf(q))
	}
	return r.page(http.StatusOK, "signin", "Sign in", map[string]any{
		"Start": r.site.prefix + "/auth/start?" + url.Values{"return": {returnOf(q)}}.Encode(),
		"Ended": q.Get("ended") != "" || q.Get("return") != "", "Kept": q.Get("ended") == "kept"})
}

// invited shows the page of an invitation. Its link proves nothing: the invited person owns the e-mail address, which
// the sign-in decides by.
func invited(r *request) error {
	return r.page(http.StatusOK, "invitation", "You are invited", map[string]any{
		"Start": r.site.prefix + "/auth/start"})
}

// returnOf returns the page that follows a sign-in: one of the account area's own.
func returnOf(q url.Values) string { return ownOr(q.Get("return"), homePath) }

// cookie returns a cookie that scripts and other sites cannot use. An age of zero ends with the browser. Its requests
// from links of other sites carry it, because the issuer is another site.
func cookie(name, value string, age int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode}
}

func (s *site) clear(w http.ResponseWriter, name string) { http.SetCookie(w, cookie(name, "", -1)) }

// box returns the box of what the account area seals for a purpose.
func (s *site) box(ctx context.Context, purpose string) (*seal.Box, error) {
	keys, err := s.Seal.Keys(ctx, nil, purpose)
	if err != nil {
		return nil, err
	}
	return seal.New(keys...)
}

func (s *site) sealed(ctx context.Context, p progress) (string, error) {
	box, err := s.box(ctx, progressPurpose)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(box.Seal(text, progressCookie)), err
}

// opened returns the state of a sign-in, unless it is forged or too old.
func (s *site) opened(r *http.Request) (p progress, ok bool) {
	box, err := s.box(r.Context(), progressPurpose)
	if err != nil {
		slog.Error("the state of a sign-in was not read", "error", err)
		return p, false
	}
	c, err := r.Cookie(progressCookie)
	var raw, text []byte
	if err == nil {
		raw, err = base64.RawURLEncoding.DecodeString(c.Value)
	}
	if err == nil {
		text, err = box.Open(raw, progressCookie)
	}
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

// endSignIn ends a sign-in: it starts a session and goes on to the page that was asked for.
func endSignIn(r *request) error {
	q := r.URL.Query()
	p, ok := r.site.opened(r.Request)
	// The state works once, whatever comes of it.
	r.site.clear(r.w, progressCookie)
	switch {
	case !ok:
		return r.refused(http.StatusBadRequest, messageNoState, "")
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(p.State)) != 1:
		return r.refused(http.StatusBadRequest, messageState, "")
	case q.Get("error") != "" || q.Get("code") == "":
		said := q.Get("error_description")
		slog.Warn("a sign-in was not completed", "error", clip.ClipText(q.Get("error"), maxLogged), "description",
			clip.ClipText(said, maxSaid))
		if strings.Contains(said, groupsAttribute) {
			return r.refused(http.StatusForbidden, messageGroups, "")
		}
		return r.refused(http.StatusForbidden, messageRefused, "")
	}
	token, err := r.site.begin(r.Request, p, q.Get("code"))
	refusal, isRefusal := errors.AsType[*Refusal](err)
	public, isPublic := errors.AsType[*errs.Error](err)
	switch {
	case isRefusal:
		slog.Warn("a person was not admitted", "reason", refusal.Reason)
		if refusal.Account != "" {
			r.site.noteSignIn(r.Request, refusal.Account, refusal.Actor, "", string(refusal.Reason))
		}
		return r.refused(http.StatusForbidden, refusal.Message, refusal.Provider)
	case err == nil:
		http.SetCookie(r.w, cookie(sessionCookie, token, 0))
		return r.redirect(p.Return)
	case errors.Is(err, signin.ErrGrant), errors.Is(err, signin.ErrInvalid):
		slog.Warn("a sign-in was refused", "error", err)
		return r.refused(http.StatusForbidden, messageRefused, "")
	case isPublic:
		slog.Warn("a sign-in was refused", "error", err)
		return r.refused(errs.InfoOf(public.Code).Status, public.Message, "")
	}
	slog.Error("a sign-in failed", "error", err)
	return r.refused(http.StatusServiceUnavailable, messageIssuer, "")
}

// maxLogged bounds a text of a caller in the log, in bytes, and maxSaid an explanation.
const (
	maxLogged = 64
	maxSaid   = 200
)

// groupsAttribute is the attribute of the pool that the groups of a provider are mapped to.
const groupsAttribute = "custom:groups"

// refused shows why a sign-in has failed, with a way to start again: by the provider, if there is one.
func (r *request) refused(status int, message, provider string) error {
	q := url.Values{"connection": {provider}, "again": {"1"}}
	return r.page(status, "signin", "Sign in", map[string]any{"Start": r.site.prefix + "/auth/start?" + q.Encode(),
		"Message": message})
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
func signOut(r *request) error {
	if !ofPage(r.Request) {
		return errNotPage
	}
	s := r.site
	found, err := s.find(r.Request)
	if err == nil {
		err = permitted(r.Request)
	}
	if err == nil {
		err = s.leave(r.Request, found)
	}
	switch {
	case err == nil:
		s.note(r.Request, found.Account, auth.Actor{Kind: auth.Person, ID: found.ID},
			auditlog.Entry{OperationID: signedOutOperation, Path: r.URL.Path, Status: http.StatusOK})
	case !errors.Is(err, session.ErrNone):
		return err
	}
	s.clear(r.w, sessionCookie)
	s.clear(r.w, progressCookie)
	// What the browser has kept of the account is removed. The cookies of the issuer are on its own host.
	r.w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	// The policy for forms counts for redirects of their answers too, so the page itself leads on to the issuer.
	return r.page(http.StatusOK, "signingout", "You are signed out", s.Issuer.LogoutURL(s.URL+"/auth/signed-out"))
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
func signedOut(r *request) error {
	return r.page(http.StatusOK, "signedout", "You are signed out", r.site.prefix+"/auth/sign-in")
}

// ask sends the browser to the issuer, unless that would sign in by a provider that somebody else may have chosen, or
// end a session: a link of another site must do neither without a click on a page that tells what it does.
func ask(r *request) error {
	q := r.URL.Query()
	found, err := r.site.find(r.Request)
	signedIn := err == nil && found != nil
	if q.Get("connection") == "" && (!signedIn || q.Get("again") != "") {
		return start(r)
	}
	data := map[string]any{"Connection": q.Get("connection"), "Return": returnOf(q), "Again": q.Get("again")}
	if provider := q.Get("connection"); provider != "" {
		data["Account"], data["Provider"], err = r.site.Connections.NamesOf(r.Context(), provider)
		if errors.Is(err, store.ErrNotFound) {
			return errNoPage
		} else if err != nil {
			return err
		}
	}
	if signedIn {
		data["Email"] = found.Email
	}
	return r.page(http.StatusOK, "start", "Sign in", data)
}

// started starts a sign-in after a click.
func started(r *request) error {
	if !ofPage(r.Request) {
		return errNotPage
	}
	if err := r.ParseForm(); err != nil {
		return errForm
	}
	to, err := r.issuerOf(r.PostForm)
	if err != nil {
		return err
	}
	// The policy for forms counts for redirects of their answers too, so the page itself leads on to the issuer.
	return r.page(http.StatusOK, "starting", "Sign in", to)
}

// start sends the browser to the issuer. A provider that the link names is left out: only the form of a page chooses
// one.
func start(r *request) error {
	q := r.URL.Query()
	q.Del("connection")
	to, err := r.issuerOf(q)
	if err != nil {
		return err
	}
	http.Redirect(r.w, r.Request, to, http.StatusSeeOther)
	return nil
}

// issuerOf returns the address of the issuer for a sign-in, whose state the browser keeps.
func (r *request) issuerOf(q url.Values) (string, error) {
	p := progress{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Return: returnOf(q),
		Again: q.Get("again") != "", At: r.site.Now()}
	sealed, err := r.site.sealed(r.Context(), p)
	if err != nil {
		return "", err
	}
	http.SetCookie(r.w, cookie(progressCookie, sealed, int(progressLifetime.Seconds())))
	return r.site.Issuer.AuthorizeURL(signin.Request{State: p.State, Nonce: p.Nonce, Verifier: p.Verifier,
		Redirect: r.site.URL + "/auth/callback", Again: p.Again, Connection: q.Get("connection"),
		Language: r.view("", "").Language}), nil
}

// addSignOn adds the pages of sign-on connections. The API has no operations for them: they decide who gets in, so that
// only these pages and the operator's command change them. The role is read from the API at each request.
func addSignOn(open func(string, func(*request) error)) {
	open("POST "+signOnPath, guarded(signOnPath, createConnection))
	open("POST "+signOnPath+"/{id}/setup", guarded(signOnPath, openSetup))
	open("GET "+signOnPath+"/{id}/undomain", guarded(signOnPath, confirmDomain))
}

var signOn = page[connection.Connection]{
	Title: "Single sign-on", Path: signOnPath, List: "sign-on", More: besideConnections, Read: connectionOf,
	Rows: func(r *request, _ url.Values) ([]connection.Connection, string, error) {
		all, err := r.site.Connections.List(r.Context(), r.session.Account)
		return all, "", err
	},
	Name: func(c connection.Connection) string { return c.Name },
	Actions: []action[connection.Connection]{
		{Name: "groups", Recent: true, Do: managing("sign_on.map_groups", func(c *signOnChange) error {
			roles := connection.ParseGroupRoles(strings.Lines(c.PostFormValue("groups")))
			_, err := c.site.Connections.Update(c.Context(), c.account, c.id, connection.Settings{GroupRoles: roles,
				By: c.by})
			return err
		})},
		{Name: "domains", Recent: true, Do: managing("sign_on.add_domain", func(c *signOnChange) error {
			_, err := c.site.Connections.AddDomain(c.Context(), c.account, c.id, c.about)
			return err
		})},
		{Name: "verify", Recent: true, Do: managing("sign_on.verify_domain", func(c *signOnChange) error {
			_, err := c.site.Connections.VerifyDomain(c.Context(), c.account, c.id, c.about)
			return err
		})},
		{Name: "undomain", Recent: true, Do: managing("sign_on.remove_domain", func(c *signOnChange) error {
			_, err := c.site.Connections.RemoveDomain(c.Context(), c.account, c.id, c.about)
			return err
		})},
		{Name: "confirm", Recent: true, Do: managing("sign_on.confirm_provider", func(c *signOnChange) error {
			_, err := c.site.Connections.Confirm(c.Context(), c.account, c.id, c.PostFormValue("provider"), c.by)
			return err
		})},
		{Name: "permit", Recent: true, Do: managing("sign_on.permit_others", func(c *signOnChange) error {
			_, err := c.site.Connections.Enforce(c.Context(), c.account, c.id, false)
			return err
		})},
		{Name: "enforce", Recent: true, Typed: true, Effects: peopleBy,
			Ask: &confirmation{Title: "Require single sign-on", Verb: "Require it for these domains",
				Text: "People of its verified domains can sign in by this provider only. Owners with emergency " +
					"access still can otherwise."},
			Do: managing("sign_on.enforce", func(c *signOnChange) error {
				_, err := c.site.Connections.Enforce(c.Context(), c.account, c.id, true)
				return err
			})},
		{Name: "remove", Recent: true, Typed: true, Effects: peopleBy,
			Ask: &confirmation{Title: "Remove the provider", Verb: "Remove",
				Text: "People of its domains sign in by it no longer. Its domains have to be verified again."},
			Do: managing("sign_on.remove", func(c *signOnChange) error {
				return c.site.Connections.Remove(c.Context(), c.account, c.id)
			})},
		{Name: "emergency", Recent: true, Do: func(r *request) error {
			if r.PostFormValue("on") == "true" {
				return managing("sign_on.give_emergency_access", changeEmergency)(r)
			}
			return managing("sign_on.end_emergency_access", changeEmergency)(r)
		}},
	},
}

// role returns the role of the person, and their account, as the API knows them now.
func (r *request) role() (auth.Role, tenant.Account, error) {
	var me client.Account
	err := r.api.get(r.Context(), "/v1/me", nil, &me)
	return auth.Role(client.Value(me.Person).Role), tenant.Account(me.ID), err
}

const messageManagers = "Only owners and admins of the account manage single sign-on."

// signOnChange is a change of sign-on by somebody who manages it. It is about the domain of the form, if it has one.
type signOnChange struct {
	*request
	account   tenant.Account
	by        authority.Authority
	id, about string
}

// managing returns the handler of a change that needs a role. The change is in the audit log under the person, also if
// it fails.
func managing(operation string, act func(*signOnChange) error) func(*request) error {
	return func(r *request) error {
		role, account, err := r.role()
		if err != nil {
			return err
		}
		if !role.Manages() {
			return &failure{Status: http.StatusForbidden, Message: messageManagers}
		}
		c := &signOnChange{r, account, authority.OfPerson(r.session.ID, role), r.PathValue("id"), domainOf(r)}
		err = act(c)
		r.site.noteSignOn(r.Request, account, auth.Actor{Kind: auth.Person, ID: r.session.ID}, operation,
			strings.TrimSpace(r.URL.Path+" "+c.about), err)
		if errors.Is(err, store.ErrNotFound) {
			return errNoPage
		}
		return err
	}
}

// besideConnections adds who manages sign-on, and the form that was sent.
func besideConnections(r *request, _ *view, _ []connection.Connection, to map[string]any) error {
	role, _, err := r.role()
	if err != nil {
		return err
	}
	owners, safe, err := ownersOf(r, role)
	maps.Copy(to, map[string]any{"Manages": role.Manages(), "Owns": role == auth.Owner, "Roles": roles[1:],
		"Owners": owners, "Safe": safe, "Connection": r.PathValue("id"), "Domain": domainOf(r),
		"Groups": r.PostFormValue("groups")})
	return err
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

func connectionOf(r *request) (connection.Connection, error) {
	c, _, err := r.site.Connections.Find(r.Context(), r.session.Account, r.PathValue("id"))
	if errs.CodeOf(err) == errs.NotFound {
		err = errNoPage
	}
	return c, err
}

// peopleBy tells how many people of the account sign in by a connection, and how many domains it has.
func peopleBy(r *request, v *view, c connection.Connection) ([]string, error) {
	var all []member
	next, err := r.api.list(r.Context(), "/v1/people", url.Values{"limit": {"100"}}, &all)
	n := 0
	for _, p := range all {
		if given(p.Connection) == c.ID && !p.Gone() {
			n++
		}
	}
	return []string{v.T("People who sign in by it: %s. Verified domains: %d.", number(n, next != ""),
		len(c.Verified()))}, err
}

// confirmDomain asks before a domain is removed from a connection.
func confirmDomain(r *request) error {
	c, err := signOn.question(r, action[connection.Connection]{Effects: peopleBy, Ask: &confirmation{
		Title: "Remove the domain", Verb: "Remove",
		Text: "People with addresses of the domain sign in by this provider no longer."}})
	if err != nil {
		return err
	}
	c.Subject = r.URL.Query().Get("domain")
	c.Fields = []choice{{"domain", c.Subject}}
	return r.confirm(http.StatusOK, c, "")
}

// changeEmergency gives an owner emergency access, or ends it. Only owners do. The id of the path is that of a person.
func changeEmergency(c *signOnChange) error {
	if c.about = c.id; c.by.Role != auth.Owner {
		return errs.New(errs.InsufficientScope, "Only owners give emergency access.")
	}
	_, err := c.site.People.SetBreakGlass(c.Context(), c.account, c.id, c.PostFormValue("on") == "true")
	return err
}

func createConnection(r *request) error {
	return signOnDone(r, "sign_on.create", func(c *signOnChange) error {
		name, role := strings.TrimSpace(r.PostFormValue("name")), auth.Role(r.PostFormValue("role"))
		made, err := r.site.Connections.Create(r.Context(), c.account, connection.Settings{Name: &name,
			DefaultRole: &role})
		c.about = made.ID
		return err
	}, func() error { return r.redirect(signOnPath) })
}

// openSetup makes the set-up link of a connection, and shows it.
func openSetup(r *request) error {
	v := r.view("The set-up link", signOnPath)
	return signOnDone(r, "sign_on.open_setup", func(c *signOnChange) error {
		made, err := r.site.Connections.OpenSetup(r.Context(), c.account, c.id, c.by)
		v.Data = map[string]any{"URL": r.site.URL + setupPath + "#" + made.Token, "Ends": made.Ends}
		return err
	}, func() error { return r.show(http.StatusOK, "setup-link", v) })
}

// signOnDone makes a change of sign-on and answers, or shows on the page of the connections what to mend.
func signOnDone(r *request, operation string, act func(*signOnChange) error, done func() error) error {
	err := managing(operation, act)(r)
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return signOn.refuse(r, statusOf(err), found)
	}
	return done()
}

// groupLines returns the roles of groups as the lines of the form.
func groupLines(of map[string]auth.Role) (lines []string) {
	for _, group := range slices.Sorted(maps.Keys(of)) {
		lines = append(lines, group+" = "+string(of[group]))
	}
	return lines
}

func domainOf(r *request) string {
	return strings.ToLower(strings.TrimSpace(r.PostFormValue("domain")))
}

const setupPath = "/setup"

// addSetup adds the pages of a set-up link, which the IT of a customer uses without a sign-in. The token of the link is
// in its fragment, and then in the bodies of forms: addresses are in logs and traces.
func (s *site) addSetup(routes *http.ServeMux) {
	routes.HandleFunc("GET "+setupPath, s.visited(func(r *request) error {
		return r.page(http.StatusOK, "setup-open", "Set up single sign-on", nil)
	}))
	routes.HandleFunc("POST "+setupPath, s.visited(func(r *request) error {
		err := s.Sessions.MayGuess(r.Context(), session.SetupLinks, addressOf(r.Request))
		switch {
		case errors.Is(err, session.ErrGuesses):
			r.w.Header().Set("Retry-After", inSeconds(s.Sessions.GuessesEnd()))
			return &failure{Status: http.StatusTooManyRequests, Message: messageGuesses}
		case err != nil:
			return err
		case r.PostFormValue("kind") == "":
			return r.showSetup(http.StatusOK, nil)
		}
		return setUp(r)
	}))
}

// setupToken returns the token of a form, which may have the whole link.
func setupToken(r *http.Request) string {
	link := strings.TrimSpace(r.PostFormValue("link"))
	return link[strings.LastIndex(link, "#")+1:]
}

// showSetup shows the form, with what the provider has to know of the pool.
func (r *request) showSetup(status int, found fieldErrors) error {
	_, c, err := r.site.Connections.BySetup(r.Context(), setupToken(r.Request))
	if err != nil {
		return r.setupFailed(err)
	}
	of := r.site.SignIn
	base := strings.TrimSuffix(of.AuthorizeURL, "/oauth2/authorize")
	v := r.view("Set up single sign-on", "")
	v.mend(found)
	v.Data = map[string]any{"Connection": c, "ACS": base + "/saml2/idpresponse",
		"Redirect": base + "/oauth2/idpresponse", "Entity": "urn:amazon:cognito:sp:" + path.Base(of.Issuer),
		"Kind": r.FormValue("kind"), "Link": setupToken(r.Request), "MetadataURL": r.FormValue("metadata_url"),
		"Issuer": r.FormValue("issuer"), "Client": r.FormValue("client_id")}
	return r.show(status, "setup", v)
}

// setupFailed answers for a link that does not work. It does not tell whether there ever was one.
func (r *request) setupFailed(err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err := r.site.Sessions.CountGuess(r.Context(), session.SetupLinks, addressOf(r.Request)); err != nil {
		slog.Error("a wrong link was not counted", "error", err)
	}
	return &failure{Status: http.StatusNotFound, Message: "This link was used, or has ended. Ask for a new one."}
}

// setUp gives the connection its provider. The link ends with that.
func setUp(r *request) error {
	p := connection.Provider{Kind: connection.Kind(r.PostFormValue("kind"))}
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	switch p.Kind {
	case connection.SAML:
		p.MetadataURL, p.Metadata = field("metadata_url"), field("metadata")
	case connection.OIDC:
		p.Issuer, p.ClientID, p.ClientSecret = field("issuer"), field("client_id"), field("client_secret")
	}
	account, c, err := r.site.Connections.UseSetup(r.Context(), setupToken(r.Request), p)
	if account == "" || errors.Is(err, store.ErrNotFound) {
		return r.setupFailed(err)
	}
	r.site.noteSignOn(r.Request, account, auth.Actor{Kind: auth.Directory, ID: c.ID}, "sign_on.set_provider",
		setupPath+" "+c.ID, err)
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return r.showSetup(statusOf(err), found)
	}
	return r.page(http.StatusOK, "setup-done", "The provider is set up", c)
}
