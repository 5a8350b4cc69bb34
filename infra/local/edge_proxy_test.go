package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/infra/local/edge"
	"github.com/content-automation/api/infra/verify/harness/calltest"
	"github.com/content-automation/api/pkg/record/connection"
)

// face starts the proxy in front of a handler that replaces the emulated gateway.
func face(t *testing.T, gateway http.HandlerFunc) string {
	t.Helper()
	behind := httptest.NewServer(gateway)
	t.Cleanup(behind.Close)
	front := httptest.NewServer(before(t, behind.URL, time.Now))
	t.Cleanup(front.Close)
	return front.URL
}

// before returns the edge before the gateway at an address.
func before(t *testing.T, address string, now func() time.Time) http.Handler {
	t.Helper()
	return limited(t, address, 5, now)
}

// limited is before with a limit of calls without a key.
func limited(t *testing.T, address string, limit int, now func() time.Time) http.Handler {
	t.Helper()
	gateway, err := url.Parse(address + "/_aws/execute-api/api123/local")
	if err != nil {
		t.Fatal(err)
	}
	return edge.New(edge.Config{Gateway: gateway, Host: "localhost:8080", Stage: "local", Keyless: limit, Now: now})
}

func TestProxyHandsTheCallOn(t *testing.T) {
	var got *http.Request
	var body string
	url := face(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got, body = r, string(data)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"3"`)
		w.Header().Set("x-amzn-requestid", "internal")
		w.Header().Set("x-amz-request-id", "internal")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"data":{}}`)
	})
	req := calltest.Request(t, http.MethodPost, url+"/v1/factories/a%2Fb?limit=2&cursor=%26x&name=%zz&a;b",
		strings.NewReader(`{"name":"x"}`))
	req.Header.Set("Authorization", "Bearer svc_test_x")
	req.Header.Set("X-Forwarded-For", "203.0.113.9")
	req.Header.Set("Forwarded", "for=203.0.113.9")
	res, answer := calltest.Send(t, req)
	if res.StatusCode != http.StatusCreated || answer != `{"data":{}}` || res.Header.Get("ETag") != `"3"` {
		t.Errorf("got %s %v %s", res.Status, res.Header, answer)
	}
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Request-Id"} {
		if value := res.Header.Get(name); value != "" {
			t.Errorf("the caller sees %s: %s", name, value)
		}
	}
	if got.RequestURI != "/_aws/execute-api/api123/local/v1/factories/a%2Fb?limit=2&cursor=%26x&name=%zz&a;b" {
		t.Errorf("the gateway was called with %s", got.RequestURI)
	}
	if got.Host != "localhost:8080" || got.Method != http.MethodPost || body != `{"name":"x"}` ||
		got.Header.Get("Authorization") != "Bearer svc_test_x" {
		t.Errorf("the gateway was sent %s %s %v %s", got.Method, got.Host, got.Header, body)
	}
	if from := got.Header.Values("X-Forwarded-For"); len(from) != 1 || from[0] != "127.0.0.1" {
		t.Errorf("the caller passes for %v", from)
	}
	if got.Header.Get("Forwarded") != "" {
		t.Errorf("the caller passes for %s", got.Header.Get("Forwarded"))
	}
}

func TestProxyNamesTheSystemInAnswersOfTheGateway(t *testing.T) {
	url := face(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"doc_url":"https://$context.domainName/local/api-docs/errors/unknown_path"},"request_id":"1"}`)
	})
	res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, url+"/nothing", nil))
	if want := `{"error":{"doc_url":"http://localhost:8080/api-docs/errors/unknown_path"},"request_id":"1"}`; res.StatusCode != http.StatusNotFound || body != want {
		t.Errorf("%s %s, want %s", res.Status, body, want)
	}
}

// A response to HEAD has no body that identifies it.
func TestProxyHandsOnFailuresOfHEAD(t *testing.T) {
	for id, want := range map[string]int{"req-1": http.StatusTooManyRequests, "": http.StatusInternalServerError} {
		url := face(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "7")
			if id != "" {
				w.Header().Set("X-Request-Id", id)
			}
			w.WriteHeader(http.StatusTooManyRequests)
		})
		res, _ := calltest.Send(t, calltest.Request(t, http.MethodHead, url+"/v1/me", nil))
		if res.StatusCode != want || (want == http.StatusTooManyRequests) != (res.Header.Get("Retry-After") == "7") {
			t.Errorf("with the id %q: %s %v", id, res.Status, res.Header)
		}
	}
}

func TestProxyHidesHowAFunctionFailed(t *testing.T) {
	for name, status := range map[string]int{"crash": http.StatusBadGateway, "emulator": http.StatusInternalServerError,
		"throttled": http.StatusTooManyRequests} {
		t.Run(name, func(t *testing.T) {
			url := face(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("x-amzn-errortype", "internal")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"message": "{\"stackTrace\": [\"main.go\"]}"}`)
			})
			res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, url+"/v1/me", nil))
			if res.StatusCode != http.StatusInternalServerError || calltest.Code(t, res, body) != "internal" {
				t.Errorf("got %s %s", res.Status, body)
			}
			if strings.Contains(body, "stackTrace") || res.Header.Get("X-Amzn-Errortype") != "" {
				t.Errorf("the caller sees %v %s", res.Header, body)
			}
		})
	}
}

func TestProxyLeavesOurOwnFailuresAlone(t *testing.T) {
	const envelope = `{"data":null,"error":{"code":"provider_unavailable","message":"x","type":"api_error"},"request_id":"r1"}`
	url := face(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "r1")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, envelope)
	})
	res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, url+"/v1/me", nil))
	if res.StatusCode != http.StatusServiceUnavailable || body != envelope || res.Header.Get("Retry-After") != "7" {
		t.Errorf("got %s %v %s", res.Status, res.Header, body)
	}
}

func TestProxyRefusesWhatTheGatewayWould(t *testing.T) {
	url := face(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	large := bytes.NewReader(make([]byte, 10<<20+1))
	res, body := calltest.Send(t, calltest.Request(t, http.MethodPost, url+"/v1/factories", large))
	if res.StatusCode != http.StatusRequestEntityTooLarge || calltest.Code(t, res, body) != "body_too_large" {
		t.Errorf("got %s %s", res.Status, body)
	}
}

func TestProxyAnswersWithoutAGateway(t *testing.T) {
	front := httptest.NewServer(before(t, "http://127.0.0.1:1", time.Now))
	defer front.Close()
	res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, front.URL+"/v1/me", nil))
	if res.StatusCode != http.StatusInternalServerError || calltest.Code(t, res, body) != "internal" {
		t.Errorf("got %s %s", res.Status, body)
	}
}

type slowness struct{ error }

func (slowness) Timeout() bool   { return true }
func (slowness) Temporary() bool { return true }

func (s slowness) RoundTrip(*http.Request) (*http.Response, error) { return nil, s }

func TestProxySaysThatAnAnswerTookTooLong(t *testing.T) {
	w := httptest.NewRecorder()
	edge.New(edge.Config{Gateway: &url.URL{Scheme: "http", Host: "gateway"}, Host: "localhost:8080", Stage: "local", Keyless: 5,
		Now: time.Now, Transport: slowness{io.ErrUnexpectedEOF}}).ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/me", nil))
	if res := w.Result(); res.StatusCode != http.StatusGatewayTimeout || calltest.Code(t, res, w.Body.String()) != "timeout" {
		t.Errorf("got %s %s", res.Status, w.Body)
	}
}

func TestCallsWithoutAValidKeyAreLimitedByAddress(t *testing.T) {
	now, asked := time.Unix(1_000_000_000, 0), 0
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "Bearer svc_valid" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(gateway.Close)
	proxy := before(t, gateway.URL, func() time.Time { return now })
	call := func(address, authorization string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/v1/me", nil)
		r.RemoteAddr = address + ":1234"
		r.Header.Set("Authorization", authorization)
		// A caller cannot pretend to have another address.
		r.Header.Set("X-Forwarded-For", "198.51.100.9")
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, r)
		return w
	}
	const address, other = "192.0.2.1", "192.0.2.2"
	for i, key := range []string{"", "Bearer svc_guessed", "Basic dTpw", "bearer SVC_guessed", "Bearer other"} {
		if w := call(address, key); w.Code != http.StatusUnauthorized {
			t.Errorf("call %d is answered %d", i+1, w.Code)
		}
	}
	known := asked
	w := call(address, "")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "300" || asked != known {
		t.Errorf("the sixth call is answered %d, %v; the gateway was asked %d times", w.Code, w.Header(), asked-known)
	}
	var envelope struct {
		Error     struct{ Code string }
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil || envelope.Error.Code != "rate_limited" ||
		envelope.RequestID != w.Header().Get("X-Request-Id") {
		t.Errorf("%s, %v", w.Body, err)
	}
	if w := call(address, "Bearer svc_guessed"); w.Code != http.StatusTooManyRequests {
		t.Errorf("another guess is answered %d", w.Code)
	}
	if w := call(address, "Bearer svc_valid"); w.Code != http.StatusOK {
		t.Errorf("a valid key is answered %d", w.Code)
	}
	page := httptest.NewRequest(http.MethodGet, "/settings/api-keys", nil)
	page.RemoteAddr = address + ":1234"
	page.AddCookie(&http.Cookie{Name: "__Host-session", Value: "x"})
	asked = 0
	if proxy.ServeHTTP(httptest.NewRecorder(), page); asked != 1 {
		t.Errorf("a page of a signed-in browser asks the gateway %d times", asked)
	}
	if w := call(other, ""); w.Code != http.StatusUnauthorized {
		t.Errorf("another address is answered %d", w.Code)
	}
	now = now.Add(5 * time.Minute)
	if w := call(address, ""); w.Code != http.StatusUnauthorized {
		t.Errorf("after five minutes it is answered %d", w.Code)
	}
}

// What looks like a key or a session lifts no limit on paths that take none.
func TestNoHeaderLiftsTheLimitsOfAnAddress(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	gateway := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(gateway.Close)
	call := func(proxy http.Handler, path, header, value string) int {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = "192.0.2.1:1234"
		r.Header.Set(header, value)
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, r)
		return w.Code
	}
	for path, most := range map[string]int{"/review/x": 250, "/revie%77/x": 250, "/api-docs/limits": 250, "/auth/start": 250,
		"/setup": 250, "/auth/callback": 250, "/oauth/token": 500, "/mcp": 500,
		"/.well-known/oauth-protected-resource/mcp": 500, "/v1/social/callback": 500, "/integrations/callback": 500, "/integrations/hooks/x": 500,
		"/scim/v2/Users": 250} {
		for header, value := range map[string]string{"Authorization": "Bearer svc_x", "Cookie": "__Host-session=x"} {
			proxy := before(t, gateway.URL, func() time.Time { return now })
			for n := range most + 2 {
				if got := call(proxy, path, header, value); (got == http.StatusTooManyRequests) != (n >= most) {
					t.Errorf("call %d of %s with %s is answered %d", n+1, path, header, got)
				}
			}
		}
	}
}

// TestThePartnersOfACustomerPassAtTheDefaultLimit has 1,000 webhooks of a CRM and the first synchronisation of 500
// people come from one address, while another address floods the service.
func TestThePartnersOfACustomerPassAtTheDefaultLimit(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+connection.DirectoryPrefix+"guessed" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(gateway.Close)
	const limit = customer.DefaultKeylessLimit
	proxy := limited(t, gateway.URL, limit, func() time.Time { return now })
	call := func(address, path, authorization string) int {
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.RemoteAddr = address + ":1234"
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, r)
		return w.Code
	}
	flooded := 0
	for range gatewayresponse.MostOfAddress + 100 {
		if call("192.0.2.66", "/v1/me", "Bearer svc_x") == http.StatusTooManyRequests {
			flooded++
		}
	}
	if flooded != 100 {
		t.Errorf("%d calls of the flood are refused", flooded)
	}
	for name, c := range map[string]struct {
		path, authorization string
		calls               int
	}{
		"HubSpot":               {"/integrations/hooks/int_x", "", 1000},
		"a social platform":     {"/v1/social/callback", "", 1000},
		"a directory":           {"/scim/v2/Users", "Bearer " + connection.DirectoryPrefix + "valid", 2000},
		"a review in an office": {"/review/x", "", 500},
		"a caller":              {"/v1/me", "Bearer svc_live_x", 3000},
	} {
		for i := range c.calls {
			if code := call("192.0.2.1", c.path, c.authorization); code != http.StatusOK {
				t.Fatalf("call %d of %s is answered %d", i+1, name, code)
			}
		}
	}
	for i := range limit + 1 {
		code := call("192.0.2.2", "/scim/v2/Users", "Bearer "+connection.DirectoryPrefix+"guessed")
		if want := i == limit; (code == http.StatusTooManyRequests) != want {
			t.Errorf("guess %d is answered %d", i+1, code)
		}
	}
}
