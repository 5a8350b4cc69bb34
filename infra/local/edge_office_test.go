package main_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/infra/app/customer"
)

// The proxy counts a call in every rule that it matches, as AWS does: 500 people sign in behind one address, programs
// have limits and refusals of their own, and no other path pays for them.
func TestPeopleBehindOneAddressSignIn(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	gateway := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(gateway.Close)
	const limit = customer.DefaultKeylessLimit
	proxy := limited(t, gateway.URL, limit, func() time.Time { return now })
	call := func(address, method, path, cookie string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.RemoteAddr = address + ":1234"
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, r)
		return w
	}
	for person := range 500 {
		for _, c := range [][3]string{{"GET", "/settings", ""}, {"GET", "/auth/sign-in", ""},
			{"GET", "/settings/assets/style.css", ""}, {"POST", "/auth/start", ""}, {"GET", "/auth/callback", ""},
			{"GET", "/settings", "__Host-session=x"}} {
			if w := call("192.0.2.1", c[0], c[1], c[2]); w.Code != http.StatusOK {
				t.Fatalf("person %d gets %d at %s", person+1, w.Code, c[1])
			}
		}
	}
	for n := range 100 * limit {
		if w := call("192.0.2.2", "POST", "/oauth/token", ""); w.Code != http.StatusOK {
			t.Fatalf("refresh %d is answered %d", n+1, w.Code)
		}
	}
	// The group has one limit, and its refusals have the form of OAuth (RFC 6749, 5.2).
	for _, path := range []string{"/oauth/token", "/mcp", "/.well-known/oauth-protected-resource/mcp"} {
		w := call("192.0.2.2", "POST", path, "")
		var refused map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &refused); err != nil || w.Code != http.StatusTooManyRequests ||
			refused["error"] != "temporarily_unavailable" || w.Header().Get("Retry-After") != "300" {
			t.Errorf("%s: %d %v %s: %v", path, w.Code, w.Header(), w.Body, err)
		}
	}
	if w := call("192.0.2.2", "GET", "/v1/me", ""); w.Code != http.StatusOK {
		t.Errorf("another path is answered %d", w.Code)
	}
}

// A challenge of a function arrives by another name, as from API Gateway; one of the gateway itself keeps its own.
func TestChallengesOfFunctionsAreRenamed(t *testing.T) {
	challenge := ""
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(gateway.Close)
	proxy := before(t, gateway.URL, time.Now)
	for of, c := range map[string][2]string{
		`Bearer error="invalid_token"`: {"", `Bearer error="invalid_token"`},
		`Bearer resource_metadata="https://$context.domainName/local/.well-known/oauth-protected-resource/mcp"`: {
			`Bearer resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp"`, ""},
	} {
		challenge = of
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/oauth/x", nil))
		if w.Header().Get("WWW-Authenticate") != c[0] || w.Header().Get("X-Amzn-Remapped-Www-Authenticate") != c[1] {
			t.Errorf("%s: %v", of, w.Header())
		}
	}
}
