package social_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	customer "github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/facebook"
	"github.com/content-automation/api/testdata/platforms/instagram"
	"github.com/content-automation/api/testdata/platforms/linkedin"
	"github.com/content-automation/api/testdata/platforms/oauth"
	"github.com/content-automation/api/testdata/platforms/pinterest"
	"github.com/content-automation/api/testdata/platforms/rutube"
	"github.com/content-automation/api/testdata/platforms/telegram"
	"github.com/content-automation/api/testdata/platforms/threads"
	"github.com/content-automation/api/testdata/platforms/tiktok"
	"github.com/content-automation/api/testdata/platforms/vk"
	"github.com/content-automation/api/testdata/platforms/youtube"
)

type object = map[string]any

const (
	base    = "https://api.example.com"
	back    = "https://app.example.com/social"
	oauthed = "instagram tiktok youtube vk"
)

// world is the area with the fakes of all platforms. Its caller has a live key.
type world struct {
	fakeInstagram *instagram.Fake
	fakeYoutube   *youtube.Fake
	fakePinterest *pinterest.Fake

	*servicetest.World
	doer     control.Doer
	vk       *vk.Fake
	tiktok   *tiktok.Fake
	telegram *telegram.Fake
	callback http.Handler
	// apps are the platforms that the operator has an application for.
	apps   string
	test   *apitest.Caller
	worker *social.Worker
	// calls has the calls of the operations.
	calls *apitest.Log
	// audit has the ends of authorizations.
	audit *apitest.Log
	// cookies are those of the owner's browser.
	cookies []*http.Cookie
}

func newWorld(t *testing.T) *world { return newWorldWith(t) }

// newWorldWith returns a world of a stack that has more platforms than the usual ones.
func newWorldWith(t *testing.T, more ...string) *world {
	w := &world{World: servicetest.New(t), apps: oauthed + " " + strings.Join(more, " "), audit: &apitest.Log{}}
	now := w.Now
	w.vk, w.tiktok, w.telegram = vk.New(now), tiktok.New(now), telegram.New(now)
	w.fakeInstagram, w.fakeYoutube, w.fakePinterest = instagram.New(now), youtube.New(now), pinterest.New(now)
	mux := http.NewServeMux()
	for name, fake := range map[string]http.Handler{
		"instagram": w.fakeInstagram.Handler(), "tiktok": w.tiktok.Handler(), "youtube": w.fakeYoutube.Handler(),
		"telegram": w.telegram.Handler(), "vk": w.vk.Handler(), "rutube": rutube.New(now).Handler(),
		"facebook": facebook.New(now).Handler(), "threads": threads.New(now).Handler(),
		"pinterest": w.fakePinterest.Handler(), "linkedin": linkedin.New(now).Handler(),
	} {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, fake))
	}
	w.doer = control.Doer{Handler: mux}
	secret := seal.FixedSecret([]byte("the system's secret"))
	platforms := social.NewPlatforms(social.PlatformsConfig{
		HTTP: w.doer, Endpoint: "http://platforms.test", Now: now, Only: registry.With(more),
		Apps: func(_ context.Context, name string) (app platform.App, err error) {
			if w.apps == "unreadable" {
				return app, errors.New("no route to host")
			}
			if strings.Contains(w.apps, name) {
				app = platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret}
			}
			return app, nil
		},
	})
	s := social.NewService(w.DB, w.audit, platforms, social.Vault{Envelope: sealtest.Envelope("key"), DB: w.DB}, secret,
		now, rand.Reader)
	w.callback = s.With(http.NotFoundHandler())
	w.worker = &social.Worker{DB: w.DB, Vault: social.Vault{Envelope: sealtest.Envelope("key"), DB: w.DB}, Now: now,
		Platforms: platforms}
	w.calls = &apitest.Log{}
	w.test = apitest.New(t, w.DB, w.calls, now, sealed{secret}, s, factory.NewService(w.DB, now),
		profile.NewService(w.DB, nil, now))
	w.test.Kept()
	pages := []string{back}
	name := "Acme"
	a, err := customer.NewService(w.DB, now).Create(t.Context(), customer.Settings{Name: &name, ReturnURLs: &pages})
	if err != nil {
		t.Fatal(err)
	}
	w.test.Principal.Account = tenant.Account(a.ID)
	w.test.Gateway.BaseURL = base
	w.Caller = w.test.Live()
	w.customer(w.Stranger().Principal.Account, "Bolt")
	return w
}

// customer keeps the account of a customer, which is that of the first but for its id and name.
func (w *world) customer(id tenant.Account, name string) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(string(w.Principal.Account)))
	if err != nil {
		w.T.Fatal(err)
	}
	var a customer.Account
	if err := it.Decode(&a); err != nil {
		w.T.Fatal(err)
	}
	a.Name = name
	if err := it.Encode(a); err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	if id == w.Principal.Account {
		tx.Replace(it)
	} else {
		it.Key, it.Owner.Account, it.Version = store.IDKey(string(id)), id, 0
		tx.Create(it, nil)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// sealed lets a router seal the answers that it stores.
type sealed struct{ secret seal.Secret }

func (s sealed) Register(r *httpapi.Router) { r.SealWith(s.secret) }

// connect connects an account, which must succeed.
func (w *world) connect(c *apitest.Caller, body object) (a social.Account) {
	w.T.Helper()
	w.Clock.Add(1000000)
	c.Call(http.MethodPost, "/v1/social/accounts", body).Into(w.T, http.StatusCreated, &a)
	return a
}

// telegramBody connects the channel of the fake.
func telegramBody() object {
	return object{"platform": "telegram", "bot_token": telegram.Token, "channel": telegram.Channel}
}

func (w *world) get(id string) (a social.Account) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/social/accounts/"+id, nil).Into(w.T, http.StatusOK, &a)
	return a
}

// allow acts as the owner: it opens the link, goes on to the platform, and allows the connection there. It returns
// the query of the callback.
func (w *world) allow(a social.Account) url.Values {
	w.T.Helper()
	page := w.open(http.MethodGet, a)
	w.shows(page, http.StatusOK, "Continue to ")
	q, err := oauth.Allow(w.doer, continues(w.T, page.Body.String()))
	if err != nil {
		w.T.Fatal(err)
	}
	return q
}

// open opens the link of an account in the owner's browser.
func (w *world) open(method string, a social.Account) *httptest.ResponseRecorder {
	w.T.Helper()
	if a.AuthorizationURL == nil {
		w.T.Fatalf("there is no authorization_url: %+v", a)
	}
	at, err := url.Parse(*a.AuthorizationURL)
	if err != nil || !strings.HasPrefix(*a.AuthorizationURL, base+social.CallbackPath+"?link=") {
		w.T.Fatalf("the link is %s: %v", *a.AuthorizationURL, err)
	}
	return w.visitBy(method, at.Query())
}

// continues returns the address that a page leads on to.
func continues(t *testing.T, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<a class="go" href="`)
	address, _, found := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("the page leads nowhere: %s", page)
	}
	return html.UnescapeString(address)
}

// visit opens the callback in the owner's browser.
func (w *world) visit(q url.Values) *httptest.ResponseRecorder {
	w.T.Helper()
	return w.visitBy(http.MethodGet, q)
}

func (w *world) visitBy(method string, q url.Values) *httptest.ResponseRecorder {
	w.T.Helper()
	out := httptest.NewRecorder()
	req := httptest.NewRequest(method, social.CallbackPath+"?"+q.Encode(), nil)
	for _, c := range w.cookies {
		req.AddCookie(c)
	}
	w.callback.ServeHTTP(out, req.WithContext(httpapi.WithGateway(req.Context(),
		httpapi.Gateway{RequestID: "req-2", SourceIP: "203.0.113.9", UserAgent: "Browser"})))
	if set := out.Result().Cookies(); len(set) > 0 {
		w.cookies = append(w.cookies, set...)
	}
	return out
}

// shows checks the status of a page, and that its text has all of some parts.
func (w *world) shows(page *httptest.ResponseRecorder, status int, parts ...string) {
	w.T.Helper()
	for _, part := range parts {
		if !strings.Contains(page.Body.String(), part) {
			w.T.Errorf("the page does not show %q: %s", part, page.Body)
		}
	}
	if page.Code != status {
		w.T.Errorf("the page has the status %d, not %d: %s", page.Code, status, page.Body)
	}
}

// factory makes a factory.
func (w *world) factory(c *apitest.Caller) string {
	w.T.Helper()
	w.Clock.Add(1000000)
	var f struct{ ID string }
	c.Call(http.MethodPost, "/v1/factories",
		object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme"}}).Into(w.T,
		http.StatusCreated, &f)
	return f.ID
}

// events returns the types of the events, with their number.
func (w *world) events() map[string]int {
	w.T.Helper()
	types := map[string]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] == "event" {
			types[row["f_type"]]++
		}
	}
	return types
}

// without checks that no item and no text holds a secret.
func (w *world) without(secrets ...string) {
	w.T.Helper()
	all := storetest.Snapshot(w.T, w.DB)
	for _, secret := range secrets {
		if strings.Contains(all, secret) {
			w.T.Errorf("%s… is stored in clear", secret[:4])
		}
	}
}

// guarded checks that a page has no script, is not cached, and is framed by no other page.
func (w *world) guarded(page *httptest.ResponseRecorder) {
	w.T.Helper()
	h := page.Header()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Content-Type": "text/html; charset=utf-8", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		if h.Get(name) != want {
			w.T.Errorf("%s is %q", name, h.Get(name))
		}
	}
	_, rest, _ := strings.Cut(page.Body.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; font-src 'self'; img-src data:; form-action 'self'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; frame-ancestors 'none'; base-uri 'none'"
	if h.Get("Content-Security-Policy") != policy {
		w.T.Errorf("the policy is %s, want %s", h.Get("Content-Security-Policy"), policy)
	}
}
