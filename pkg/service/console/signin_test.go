package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/signintest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/auditlog"
)

func TestACookieIsForThisHostAndForNoScript(t *testing.T) {
	for _, name := range []string{sessionCookie, progressCookie} {
		c := cookie(name, "x", 0)
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
			c.Name[:7] != "__Host-" || c.Valid() != nil {
			t.Errorf("%s", c)
		}
	}
}

func TestWithoutAnIssuerTheAccountAreaIsClosed(t *testing.T) {
	h, err := Open(Wiring{URL: "http://localhost:8080", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/settings/api-keys", "/auth/sign-in", "/auth/start", "/auth/callback?code=x"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8080"+path, nil)
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "x"})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), messageNotSetUp) ||
			w.Header().Get("Content-Security-Policy") != policy {
			t.Errorf("%s: %d, %s", path, w.Code, w.Body)
		}
	}
}

// callback is a sign-in that returns from an issuer.
type callback struct {
	t       *testing.T
	now     time.Time
	options Options
	handler http.Handler
	// authTime is when the issuer says that the person gave the credentials.
	authTime time.Time
}

func newCallback(t *testing.T) *callback {
	c := &callback{t: t, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return c.now }
	issuer := signintest.New(now)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		claims := issuer.IdentityClaims("sub-1", "ada@example.com", "nonce")
		claims["auth_time"] = c.authTime.Unix()
		if err := json.NewEncoder(w).Encode(signin.Tokens{Access: issuer.Access("sub-1"), ID: issuer.Sign(claims),
			Refresh: "refresh", ExpiresIn: 900}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(tokens.Close)
	settings := issuer.Settings()
	settings.TokenURL = tokens.URL + "/token"
	secret := seal.FixedSecret([]byte("the stack's secret"))
	c.options = Options{
		Wiring:   Wiring{URL: "http://localhost:8080", API: "http://localhost:8080", SignIn: settings, Seal: secret, Now: now},
		Sessions: session.New(storetest.Open(t, now), secret, now),
		Issuer:   signin.NewClient(settings), Verifier: issuer.Verifier(),
		Admit: func(context.Context, signin.Identity) (session.Person, error) {
			return session.Person{ID: "mem_1", Account: "acc_1"}, nil
		},
		Record: func(context.Context, tenant.Account, auth.Actor, auditlog.Entry) error { return nil },
	}
	var err error
	if c.handler, err = New(c.options); err != nil {
		t.Fatal(err)
	}
	return c
}

// end ends a sign-in that began at a time, and reports whether it has started a session.
func (c *callback) end(began time.Time, again bool) (status int, signedIn bool) {
	c.t.Helper()
	value, err := (&site{Options: c.options}).sealed(c.t.Context(), progress{State: "state", Nonce: "nonce",
		Verifier: "verifier", Return: "/settings", Again: again, At: began})
	if err != nil {
		c.t.Fatal(err)
	}
	q := url.Values{"state": {"state"}, "code": {"code"}}
	r := httptest.NewRequest(http.MethodGet, c.options.URL+"/auth/callback?"+q.Encode(), nil)
	r.AddCookie(&http.Cookie{Name: progressCookie, Value: value})
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	for _, got := range w.Result().Cookies() {
		signedIn = signedIn || got.Name == sessionCookie && got.Value != ""
	}
	return w.Code, signedIn
}

func TestASignInInProgressEnds(t *testing.T) {
	c := newCallback(t)
	c.authTime = c.now
	for age, want := range map[time.Duration]int{
		progressLifetime - time.Second: http.StatusSeeOther, progressLifetime: http.StatusBadRequest,
	} {
		if status, in := c.end(c.now.Add(-age), false); status != want || in != (want == http.StatusSeeOther) {
			t.Errorf("after %v: %d, signed in: %v", age, status, in)
		}
	}
}

// An issuer that is asked for the credentials again may ignore that.
func TestSigningInAgainIsConfirmed(t *testing.T) {
	c := newCallback(t)
	for _, x := range []struct {
		again bool
		age   time.Duration // of the credentials
		want  int
	}{
		{true, session.Recent - time.Second, http.StatusSeeOther},
		{true, session.Recent, http.StatusForbidden},
		{false, session.Recent, http.StatusSeeOther},
	} {
		c.authTime = c.now.Add(-x.age)
		if status, in := c.end(c.now, x.again); status != x.want || in != (x.want == http.StatusSeeOther) {
			t.Errorf("again: %v, %v after the credentials: %d, signed in: %v", x.again, x.age, status, in)
		}
	}
}

// A provider that sends more groups than the pool takes is told by what a person sees.
func TestTooManyGroupsAreTold(t *testing.T) {
	c := newCallback(t)
	value, err := (&site{Options: c.options}).sealed(t.Context(), progress{State: "state", Return: "/settings", At: c.now})
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		"attributes required": "The sign-in was not completed.",
		"Invalid user attributes: custom:groups: String must be no longer than 2048 characters. ": "at most 2,048 characters",
	} {
		q := url.Values{"state": {"state"}, "error": {"invalid_request"}, "error_description": {said}}
		r := httptest.NewRequest(http.MethodGet, c.options.URL+"/auth/callback?"+q.Encode(), nil)
		r.AddCookie(&http.Cookie{Name: progressCookie, Value: value})
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), want) ||
			strings.Contains(w.Body.String(), "custom:groups") {
			t.Errorf("%s: %d %s", said, w.Code, w.Body)
		}
	}
}
