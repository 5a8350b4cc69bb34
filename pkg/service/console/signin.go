package console

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/cloud/seal"
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
		"Ended": q.Get("ended") != "" || q.Get("return") != ""}
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
			chain.Entry{OperationID: signedOutOperation, Path: r.URL.Path, Status: http.StatusOK})
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
