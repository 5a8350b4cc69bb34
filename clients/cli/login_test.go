package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Keys that differ from one another.
var newKey, envKey, flagKey = "svc_test_" + strings.Repeat("n", 49), "svc_test_" + strings.Repeat("e", 49),
	"svc_test_" + strings.Repeat("f", 49)

// console is a service whose person answers at once, as the test says.
type console struct {
	*httptest.Server
	t       *testing.T
	folder  string
	env     map[string]string
	asked   url.Values    // query of the page
	token   url.Values    // body of the request for the key
	revoked string        // path of the revocation
	key     string        // key of the last call
	status  int           // of the answer to the revocation or the code
	answer  string        // body of that answer
	result  func() string // query of the callback
	opened  func() error
	now     time.Time
}

func newConsole(t *testing.T) *console {
	c := &console{t: t, folder: t.TempDir(), env: map[string]string{}, status: http.StatusOK, now: noon,
		answer: `{"access_token":"` + newKey +
			`","token_type":"Bearer","expires_in":7775999,"expires_at":"2026-07-30T00:00:00Z","key_id":"key_1","mode":"test"}`}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/auth/cli/token":
			if err := r.ParseForm(); err != nil {
				t.Error(err)
			}
			c.token = r.PostForm
		case r.Method == http.MethodDelete:
			c.revoked = r.URL.Path
		case r.URL.Path != "/v1/me":
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.WriteHeader(c.status)
		_, _ = io.WriteString(w, c.answer)
	}))
	t.Cleanup(c.Close)
	c.result = func() string { return url.Values{"code": {"the-code"}, "state": {c.asked.Get("state")}}.Encode() }
	return c
}

// visit is the browser: it brings the result back.
func (c *console) visit(ctx context.Context, address string) error {
	at, err := url.Parse(address)
	if err != nil || at.Path != "/settings/cli" || !strings.HasPrefix(address, c.URL+"/") {
		c.t.Errorf("the browser is at %s, %v", address, err)
	}
	c.asked = at.Query()
	if c.opened != nil {
		return c.opened()
	}
	if status := c.callback(ctx, c.result()); status != http.StatusOK {
		c.t.Errorf("the callback answers %d", status)
	}
	return nil
}

func (c *console) callback(ctx context.Context, query string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://127.0.0.1:"+c.asked.Get("port")+"/callback?"+query, nil)
	if err != nil {
		c.t.Error(err)
		return 0
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func (c *console) run(args ...string) (code int, out, notes string) {
	return c.runIn(context.Background(), args...)
}

func (c *console) runIn(ctx context.Context, args ...string) (code int, out, notes string) {
	var o, n bytes.Buffer
	code = run(ctx, args, machine{out: &o, notes: &n, getenv: func(name string) string { return c.env[name] },
		now: func() time.Time { return c.now }, wait: func(context.Context, time.Duration) error { return nil },
		random: rand.Reader, config: func() (string, error) { return c.folder, nil }, open: c.visit})
	return code, o.String(), n.String()
}

func (c *console) file() string {
	return filepath.Join(c.folder, "content-automation", "credentials.json")
}

// login signs in, and prepares the answer of the next call.
func (c *console) login(status int, answer string) {
	c.t.Helper()
	if code, out, notes := c.run("login", "--base-url", c.URL); code != 0 {
		c.t.Fatalf("%d: %s%s", code, out, notes)
	}
	c.status, c.answer = status, answer
}

func problem(code string) string {
	return fmt.Sprintf(`{"data":null,"error":{"code":%q,"message":"Why.","type":"permission_error"},"request_id":"r"}`, code)
}

const done = `{"data":{"id":"key_1"},"error":null,"request_id":"r"}`

func TestALoginStoresTheKeyThatOtherCommandsUse(t *testing.T) {
	c := newConsole(t)
	c.env["BASE_URL"] = c.URL + "/v1/"
	code, out, notes := c.run("login")
	if code != 0 || !strings.Contains(out, "key_1 (test) works until 2026-07-30") || strings.Contains(out+notes, "svc_") {
		t.Fatalf("%d: %s%s", code, out, notes)
	}
	sent := c.token.Get("code_verifier")
	if c.token.Get("code") != "the-code" || challengeOf(sent) != c.asked.Get("challenge") || len(sent) < 43 ||
		strings.Contains(notes, sent) || c.asked.Get("name") == "" {
		t.Errorf("sent: %v after %v", c.token, c.asked)
	}
	info, err := os.Stat(c.file())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	c.env, c.answer = map[string]string{}, done
	if code, _, notes := c.run("account", "get"); code != 0 || c.key != newKey {
		t.Errorf("%d with %q: %s", code, c.key, notes)
	}
	c.env = map[string]string{"SVC_API_KEY": envKey, "BASE_URL": c.URL}
	if code, _, _ := c.run("account", "get"); code != 0 || c.key != envKey {
		t.Errorf("%d with %q, not with the key of the environment", code, c.key)
	}
	if code, _, _ := c.run("account", "get", "--api-key", flagKey); code != 0 || c.key != flagKey {
		t.Errorf("%d with %q, not with the key of the flag", code, c.key)
	}
	if code, _, notes := c.run("login"); code != 1 || !strings.Contains(notes, "logout' first") {
		t.Errorf("a second login: %d %s", code, notes)
	}
}

func TestAKeyOfALoginIsNotSentElsewhereOrAfterItsExpiry(t *testing.T) {
	c := newConsole(t)
	c.login(http.StatusOK, done)
	c.key = ""
	for _, args := range [][]string{{"account", "get"}, {"logs", "tail"}, {"listen", "--forward-to", "http://127.0.0.1:9"}} {
		if code, _, notes := c.run(append(args, "--base-url", "https://other.example")...); code != 2 ||
			!strings.Contains(notes, "the login is for "+c.URL) {
			t.Errorf("%v: %d %s", args, code, notes)
		}
	}
	c.now = noon.Add(91 * 24 * time.Hour)
	if code, _, notes := c.run("account", "get"); code != 1 || !strings.Contains(notes, "expired") {
		t.Errorf("%d %s", code, notes)
	}
	if c.key != "" {
		t.Errorf("the key %s was sent", c.key)
	}
	if err := os.WriteFile(c.file(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, notes := c.run("account", "get"); code != 1 || !strings.Contains(notes, "is damaged") {
		t.Errorf("%d %s", code, notes)
	}
}

func TestALoginThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(c *console)
		want    string
	}{
		"canceled": {func(c *console) {
			c.result = func() string { return "error=access_denied&state=" + c.asked.Get("state") }
		}, "canceled in the browser"},
		"code refused": {func(c *console) {
			c.status, c.answer = 400, `{"error":"invalid_grant","error_description":"The code is used."}`
		}, "The code is used."},
		"no key":       {func(c *console) { c.answer = `{}` }, "answers 200 without a key"},
		"no JSON":      {func(c *console) { c.answer = `<html>` }, "answers 200 without a key"},
		"a redirect":   {func(c *console) { c.status = 307 }, "answers 307 without a key"},
		"not readable": {func(c *console) { c.folder = "/dev/null" }, "read the credentials"},
		"not writable": {func(c *console) {
			result := c.result
			c.result = func() string {
				if err := os.WriteFile(filepath.Dir(c.file()), nil, 0o600); err != nil {
					c.t.Error(err)
				}
				return result()
			}
		}, "/settings/api-keys"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(t)
			test.prepare(c)
			code, out, notes := c.run("login", "--base-url", c.URL)
			if code != 1 || !strings.Contains(notes, test.want) || strings.Contains(out+notes, newKey) {
				t.Errorf("%d: %s%s", code, out, notes)
			}
			if _, err := os.Stat(c.file()); err == nil {
				t.Error("credentials are stored")
			}
		})
	}
	for _, base := range []string{"", "http://api.example.com", "ftp://x", "https://"} {
		if code, _, notes := newConsole(t).run("login", "--base-url", base); code != 2 {
			t.Errorf("%q: %d %s", base, code, notes)
		}
	}
}

// A page that guesses the port of the command ends no login.
func TestACallbackWithAForgedStateHasNoEffect(t *testing.T) {
	c := newConsole(t)
	c.result = func() string {
		for _, query := range []string{"code=forged", "code=forged&state=other", "error=x&state=",
			"state=" + c.asked.Get("state")} {
			if status := c.callback(t.Context(), query); status != http.StatusBadRequest {
				t.Errorf("%s: %d", query, status)
			}
		}
		return url.Values{"code": {"the-code"}, "state": {c.asked.Get("state")}}.Encode()
	}
	if code, _, notes := c.run("login", "--base-url", c.URL); code != 0 || c.token.Get("code") != "the-code" {
		t.Errorf("%d: %s", code, notes)
	}
}

func TestALoginThatIsInterrupted(t *testing.T) {
	c := newConsole(t)
	ctx, cancel := context.WithCancel(t.Context())
	c.opened = func() error {
		cancel()
		return errors.New("no browser")
	}
	if code, _, notes := c.runIn(ctx, "login", "--base-url", c.URL); code != 130 || c.token != nil ||
		!strings.Contains(notes, "open the address yourself") || !strings.Contains(notes, "interrupted") {
		t.Errorf("%d: %s", code, notes)
	}
	if code, _, _ := c.runIn(ctx, "login", "--no-browser", "--base-url", c.URL); code != 130 {
		t.Errorf("without a browser: %d", code)
	}
}

func TestALogoutRevokesTheKey(t *testing.T) {
	for _, test := range []struct {
		status       int
		answer, want string
		code         int
		stays        bool
	}{
		{200, done, "does not work any more", 0, false},
		{401, problem("invalid_api_key"), "does not work any more", 0, false},
		{404, problem("not_found"), "does not work any more", 0, false},
		{403, problem("insufficient_scope"), "/settings/api-keys", 3, false},
		{403, problem("ip_not_allowed"), "the login remains", 3, true},
		{503, problem("unavailable"), "the login remains", 3, true},
	} {
		c := newConsole(t)
		c.login(test.status, test.answer)
		code, out, notes := c.run("logout")
		_, err := os.Stat(c.file())
		if code != test.code || !strings.Contains(out+notes, test.want) || (err == nil) != test.stays ||
			c.revoked != "/v1/api-keys/key_1" || c.key != newKey {
			t.Errorf("%d: %d %s%s, %v", test.status, code, out, notes, err)
		}
	}
	c := newConsole(t)
	if code, out, _ := c.run("logout"); code != 0 || out != "There is no login.\n" {
		t.Errorf("without a login: %d %s", code, out)
	}
}

func TestTheNameOfTheMachineIsOneThatThePageTakes(t *testing.T) {
	for name, want := range map[string]string{"laptop": "laptop", "": "this machine", "a\x00b\xff": "ab",
		strings.Repeat("ж", 65): strings.Repeat("ж", 64)} {
		if got := machineName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
