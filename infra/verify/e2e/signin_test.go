//go:build deployed

package e2e

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/identity"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// trustingJar keeps secure cookies of this machine, as browsers do.
type trustingJar struct{ http.CookieJar }

func (j trustingJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.CookieJar.SetCookies(secure(u), cookies)
}

func (j trustingJar) Cookies(u *url.URL) []*http.Cookie { return j.CookieJar.Cookies(secure(u)) }

func secure(u *url.URL) *url.URL {
	s := *u
	s.Scheme = "https"
	return &s
}

// visitor is somebody with a browser.
type visitor struct {
	t      *testing.T
	client *http.Client
}

// shown is a page that a visitor sees.
type shown struct {
	status   int
	at, body string
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, &http.Client{Jar: trustingJar{jar}, Timeout: patience}}
}

// visit opens a page, or sends a form if there is one.
func (v *visitor) visit(address string, form url.Values) shown {
	v.t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	req.Header.Set("Sec-Fetch-Dest", "document")
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	note(string(body))
	return shown{resp.StatusCode, resp.Request.URL.String(), string(body)}
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
	formToken   = regexp.MustCompile(`<input type="hidden" name="token" value="([^"]+)">`)
	shownSecret = regexp.MustCompile(`id="secret"[^>]*>([^<]+)<`)
)

// TestAPersonSignsIn signs in on the pages of the user pool, makes a key, calls with it, and signs out.
func TestAPersonSignsIn(t *testing.T) {
	keys := running.BaseURL + "/settings/api-keys"
	v := newVisitor(t)
	if os.Getenv("SAM") != "" {
		if p := v.visit(keys, nil); p.status != http.StatusServiceUnavailable ||
			!strings.Contains(p.body, "not set up") {
			t.Errorf("without a pool: %+v", p)
		}
		return
	}
	c := newCustomer(t)
	db := store.Open(running.AWS(), running.Table)
	if err := identity.Invite(t.Context(), db, tenant.Account(c.id), time.Now); err != nil {
		t.Fatal(err)
	}
	if p := v.visit(keys, nil); p.status != http.StatusOK || !strings.Contains(p.at, "/auth/sign-in?return=") {
		t.Fatalf("before the sign-in: %+v", p)
	}
	if p := v.signIn(running.Password + "x"); !strings.Contains(p.body, "Incorrect") {
		t.Errorf("with a wrong password: %+v", p)
	}
	if p := v.signIn(running.Password); p.status != http.StatusOK || p.at != keys ||
		!strings.Contains(p.body, c.live.Last4) {
		t.Fatalf("after the sign-in: %+v", p)
	}
	token := formToken.FindStringSubmatch(v.visit(keys, nil).body)
	if token == nil {
		t.Fatal("the page has no token")
	}
	made := v.visit(keys, url.Values{"name": {"Made by hand"}, "kind": {"test"}, "scopes": {"account:read"},
		"token": {token[1]}})
	secret := shownSecret.FindStringSubmatch(made.body)
	if made.status != http.StatusOK || secret == nil {
		t.Fatalf("no new key: %+v", made)
	}
	me := into[struct {
		ID, Mode string
		Key      keyView
	}](call(t, secret[1], http.MethodGet, "/v1/me", nil), http.StatusOK)
	k := into[keyView](call(t, c.live.Secret, http.MethodGet, "/v1/api-keys/"+me.Key.ID, nil), http.StatusOK)
	if me.ID != c.id || me.Mode != "test" || k.Name != "Made by hand" || !strings.HasPrefix(k.CreatedBy, "usr_") {
		t.Errorf("%+v, %+v", me, k)
	}
	signOn := running.BaseURL + "/settings/sign-on"
	if p := v.visit(signOn, nil); p.status != http.StatusOK || p.at != signOn {
		t.Errorf("the connections of sign-on: %+v", p)
	}
	if p := v.visit(running.BaseURL+"/auth/sign-out", url.Values{"token": {token[1]}}); p.status != http.StatusOK {
		t.Errorf("at the sign-out: %+v", p)
	}
	for _, operation := range []string{"person.sign_in", "person.sign_out"} {
		acts := into[[]struct{ Actor struct{ ID string } }](call(t, c.live.Secret, http.MethodGet,
			"/v1/audit-log?operation_id="+operation, nil), http.StatusOK)
		if len(acts) != 1 || acts[0].Actor.ID != k.CreatedBy {
			t.Errorf("the entries of %s: %+v", operation, acts)
		}
	}
	if p := v.visit(keys, nil); !strings.Contains(p.at, "/auth/sign-in?return=") {
		t.Errorf("after the sign-out: %+v", p)
	}
}

// signIn gives the owner's password to the user pool.
func (v *visitor) signIn(password string) shown {
	v.t.Helper()
	p := v.visit(running.BaseURL+"/auth/start?return=%2Fsettings%2Fapi-keys", nil)
	if p.status != http.StatusOK || !strings.HasPrefix(p.at, running.Endpoint+"/oauth2/authorize?") {
		v.t.Fatalf("no page of the user pool: %+v", p)
	}
	form := url.Values{"username": {"owner@demo.example"}, "password": {password}}
	for _, field := range hiddenField.FindAllStringSubmatch(p.body, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	return v.visit(running.Endpoint+"/login", form)
}
