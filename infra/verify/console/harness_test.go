// Package console tests the account area of the service in one process: by plain HTTP, and in Chromium with the tag
// console.
package console

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/standalone"
	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/objects"
)

func TestMain(m *testing.M) {
	metric.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	os.Exit(m.Run())
}

// clock is the clock of a service, which tests can move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

// system is a running service with its demo account.
type system struct {
	*standalone.Service
	terminal.Demo
	clock *clock
	dns   *records
}

// start starts a service in memory.
func start(t testing.TB) *system { t.Helper(); return startAt(t, 0) }

// startAt is start with a clock that differs from the machine's.
func startAt(t testing.TB, ahead time.Duration, change ...func(*standalone.Options)) *system {
	t.Helper()
	s := &system{clock: &clock{}, dns: &records{texts: map[string]string{}}}
	s.clock.advance(ahead)
	var err error
	o := standalone.Options{
		Keyless: 1 << 30, Now: s.clock.now, Resolver: s.dns, Assets: os.DirFS("../../../pkg/service/docs"),
		Compose: func(s *objects.Store) generate.Composer { return generatetest.Composer{Objects: s} },
		Prepare: func(ctx context.Context, of *standalone.Service) (err error) {
			if s.Demo, err = terminal.NewDemo(ctx, of.DB(), of.BaseURL, s.clock.now); err != nil {
				return err
			}
			return of.InviteUsers(ctx, tenant.Account(s.Account))
		},
	}
	for _, f := range change {
		f(&o)
	}
	s.Service, err = standalone.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// browser is a browser without scripts. It keeps cookies by host, as Chromium does with those of a secure context.
type browser struct {
	t       testing.TB
	base    string
	cookies map[string]*http.Cookie
	// agent is its user agent, if it is not empty, and client sends its requests.
	agent  string
	client *http.Client
}

func (s *system) browser(t testing.TB) *browser {
	return &browser{t: t, base: s.BaseURL, cookies: map[string]*http.Cookie{}, client: client}
}

// page is an answer.
type page struct {
	status int
	body   string
	header http.Header
	at     string // address
}

var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// send sends one request.
func (b *browser) send(method, address string, form url.Values, change ...func(*http.Request)) page {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.base + address
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	req.Header.Set("Sec-Fetch-Dest", "document")
	if b.agent != "" {
		req.Header.Set("User-Agent", b.agent)
	}
	for _, c := range b.cookies {
		req.AddCookie(c)
	}
	for _, f := range change {
		f(req)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = &http.Cookie{Name: c.Name, Value: c.Value}
		}
	}
	return page{resp.StatusCode, string(body), resp.Header, address}
}

// follow follows the redirects of an answer.
func (b *browser) follow(p page) page {
	b.t.Helper()
	for range 10 {
		to := p.header.Get("Location")
		if to == "" {
			return p
		}
		at, err := url.Parse(p.at)
		if err == nil {
			at, err = at.Parse(to)
		}
		if err != nil {
			b.t.Fatal(err)
		}
		p = b.send(http.MethodGet, at.String(), nil)
	}
	b.t.Fatalf("too many redirects, the last to %s", p.at)
	return p
}

func (b *browser) get(path string) page {
	b.t.Helper()
	return b.follow(b.send(http.MethodGet, path, nil))
}

// post sends a form with the token of the session, as the page of the form does.
func (b *browser) post(path string, form url.Values) page {
	b.t.Helper()
	return b.follow(b.send(http.MethodPost, path, b.withToken(form)))
}

var formToken = regexp.MustCompile(`<input type="hidden" name="token" value="([^"]+)">`)

// withToken returns a form with the token that is in the pages of the session, if there is a session.
func (b *browser) withToken(form url.Values) url.Values {
	b.t.Helper()
	filled := url.Values{}
	maps.Copy(filled, form)
	if b.cookies["__Host-session"] == nil {
		return filled
	}
	if found := formToken.FindStringSubmatch(b.send(http.MethodGet, "/settings/events", nil).body); found != nil {
		filled.Set("token", found[1])
	}
	return filled
}

var hiddenRequest = regexp.MustCompile(`name="request" value="([^"]*)"`)

// signIn signs in as one of the users, and returns the page that follows.
func (s *system) signIn(b *browser, email string) page {
	b.t.Helper()
	return s.give(b, b.get("/auth/start"), email)
}

// give fills in the form of the identity provider.
func (s *system) give(b *browser, form page, email string) page {
	b.t.Helper()
	found := hiddenRequest.FindStringSubmatch(form.body)
	if found == nil {
		b.t.Fatalf("no form of the provider, but %d at %s: %s", form.status, form.at, form.body)
	}
	return b.post("/_identity/login", url.Values{"request": {html.UnescapeString(found[1])},
		"email": {email}, "password": {s.Password()}})
}

// call calls the API with a key, and returns the status and the data.
func (s *system) call(t testing.TB, key, method, path string, body any) (int, map[string]any) {
	t.Helper()
	text := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var out struct{ Data map[string]any }
	_ = json.NewDecoder(resp.Body).Decode(&out)
	return resp.StatusCode, out.Data
}

// first returns the id of the first row of a list, once there is one.
func (s *system) first(t *testing.T, path string) (id string) {
	t.Helper()
	poll.Until(t, "there is a row of "+path, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.Live)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		var out struct{ Data []struct{ ID string } }
		if err := json.NewDecoder(resp.Body).Decode(&out); err == nil && len(out.Data) > 0 {
			id = out.Data[0].ID
		}
		return id != ""
	})
	return id
}
