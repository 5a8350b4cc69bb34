package standalone

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/local/edge"
	"github.com/content-automation/api/infra/verify/harness/calltest"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

type (
	request  = events.APIGatewayProxyRequest
	reply    = events.APIGatewayProxyResponse
	identity = events.APIGatewayCustomAuthorizerRequestTypeRequest
	policy   = events.APIGatewayCustomAuthorizerResponse
)

// routes are the routes of the service.
var routes = sync.OnceValue(func() []httpapi.Route {
	return slices.Concat(api.Routes(), api.PublicRoutes, api.GuardedRoutes)
})

// behind returns a gateway whose functions all are f, with their names, and whose authorizer admits all calls.
func behind(f func(ctx context.Context, name string, in request) (reply, error)) *gateway {
	functions, public := map[string]function{}, map[string]bool{}
	for _, r := range routes() {
		functions[r.Function] = func(ctx context.Context, in request) (reply, error) {
			return f(ctx, r.Function, in)
		}
	}
	for _, r := range api.PublicRoutes {
		public[r.Path] = true
	}
	g := newGateway(routes(), functions, public)
	g.base = "http://localhost:8080"
	g.authorize = func(context.Context, identity) (policy, error) {
		return policy{Context: map[string]any{"account": "acc_1"}}, nil
	}
	return g
}

// echo is a function that answers with its name and its event.
type echo struct {
	Name  string
	Event request
}

func echoing(_ context.Context, name string, in request) (reply, error) {
	return reply{StatusCode: http.StatusOK, Body: string(encoded(echo{name, in}))}, nil
}

// asked is a call with a key, as the edge passes it on.
func asked(t *testing.T, method, path string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://gateway"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer svc_test_x")
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	return r
}

// echoed returns what the function behind has got.
func echoed(t *testing.T, g *gateway, r *http.Request) (got echo) {
	t.Helper()
	resp, body := calltest.Through(t, g, r)
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Name == "" {
		t.Fatalf("%s %s: %d %s", r.Method, r.URL, resp.StatusCode, body)
	}
	return got
}

// parameter is a parameter in the template of a path.
var parameter = regexp.MustCompile(`\{([^}]+)\}`)

func TestEveryOperationReachesItsFunction(t *testing.T) {
	g := behind(echoing)
	for _, r := range routes() {
		method := r.Method
		if method == "" {
			method = http.MethodGet
		}
		want := map[string]string{}
		path := parameter.ReplaceAllStringFunc(r.Path, func(p string) string {
			name, all := strings.CutSuffix(p[1:len(p)-1], "+")
			want[name] = "of " + name
			if all {
				want[name] += "/more"
			}
			return strings.ReplaceAll(want[name], " ", "%20")
		})
		got := echoed(t, g, asked(t, method, path, nil))
		if got.Name != r.Function || got.Event.Resource != r.Path || got.Event.HTTPMethod != method ||
			!maps.Equal(got.Event.PathParameters, want) {
			t.Errorf("%s %s reaches %s as %s with %v", method, path, got.Name, got.Event.Resource,
				got.Event.PathParameters)
		}
	}
}

func TestTheEventOfARequest(t *testing.T) {
	g := behind(echoing)
	g.names = func() string { return "id" }
	g.now = func() time.Time { return time.UnixMilli(1700000000123) }
	r := asked(t, "PATCH", "/v1/factories/a%2Fb%3F%25?limit=2&state=a&state=b%26", strings.NewReader(`{"a":"ü"}`))
	r.Header.Add("X-Twice", "1")
	r.Header.Add("X-Twice", "2")
	r.Host = "localhost:8080"
	e := echoed(t, g, r).Event
	if e.Path != "/v1/factories/a%2Fb%3F%25" || !maps.Equal(e.PathParameters, map[string]string{"factory_id": "a/b?%"}) {
		t.Errorf("path %q, parameters %v", e.Path, e.PathParameters)
	}
	if !reflect.DeepEqual(e.MultiValueQueryStringParameters, map[string][]string{"limit": {"2"}, "state": {"a", "b&"}}) {
		t.Errorf("query %v", e.MultiValueQueryStringParameters)
	}
	if e.Body != `{"a":"ü"}` || e.IsBase64Encoded {
		t.Errorf("body %q, in base64: %t", e.Body, e.IsBase64Encoded)
	}
	if e.Headers["Host"] != "localhost:8080" || e.Headers["X-Twice"] != "2" ||
		!slices.Equal(e.MultiValueHeaders["X-Twice"], []string{"1", "2"}) {
		t.Errorf("headers %v, %v", e.Headers, e.MultiValueHeaders)
	}
	rc := e.RequestContext
	if rc.RequestID != "id" || rc.RequestTimeEpoch != 1700000000123 || rc.Identity.SourceIP != "192.0.2.1" ||
		rc.ResourcePath != "/v1/factories/{factory_id}" || rc.Authorizer["account"] != "acc_1" {
		t.Errorf("context %+v", rc)
	}
	binary := string([]byte{0, 255, 'a'})
	if e := echoed(t, g, asked(t, "POST", "/v1/factories", strings.NewReader(binary))).Event; !e.IsBase64Encoded ||
		e.Body != base64.StdEncoding.EncodeToString([]byte(binary)) {
		t.Errorf("binary body %q, in base64: %t", e.Body, e.IsBase64Encoded)
	}
}

func TestAResponseOfAFunction(t *testing.T) {
	binary := []byte{0, 255, 'a'}
	out := reply{StatusCode: http.StatusCreated, Headers: map[string]string{"etag": `"3"`},
		MultiValueHeaders: map[string][]string{"link": {"a", "b"}}}
	g := behind(func(context.Context, string, request) (reply, error) { return out, nil })
	for _, c := range []struct {
		encoded bool
		body    string
		want    string
	}{{false, "text", "text"}, {true, base64.StdEncoding.EncodeToString(binary), string(binary)}, {false, "", ""}} {
		out.IsBase64Encoded, out.Body = c.encoded, c.body
		resp, body := calltest.Through(t, g, asked(t, "GET", "/v1/me", nil))
		if resp.StatusCode != http.StatusCreated || body != c.want || resp.ContentLength != int64(len(c.want)) ||
			resp.Header.Get("ETag") != `"3"` || !slices.Equal(resp.Header.Values("Link"), []string{"a", "b"}) {
			t.Errorf("%+v: %d %q %v", c, resp.StatusCode, body, resp.Header)
		}
	}
	out.IsBase64Encoded, out.Body = true, "*"
	if resp, err := g.RoundTrip(asked(t, "GET", "/v1/me", nil)); err == nil {
		_ = resp.Body.Close()
		t.Error("a body that is not in base64 has no error")
	}
}

// ownResponse checks a response of the gateway itself.
func ownResponse(t *testing.T, name string, resp *http.Response, body string, status int, code string) {
	t.Helper()
	var envelope struct {
		Error struct {
			Code   string
			DocURL string `json:"doc_url"`
		}
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(body), &envelope); err != nil || resp.StatusCode != status ||
		envelope.Error.Code != code || envelope.Error.DocURL != "http://localhost:8080/api-docs/errors/"+code ||
		envelope.RequestID == "" || envelope.RequestID != resp.Header.Get("X-Request-Id") ||
		resp.Header.Get("Content-Length") != strconv.Itoa(len(body)) {
		t.Errorf("%s: %d %v %s", name, resp.StatusCode, resp.Header, body)
	}
}

func TestTheGatewaysOwnResponses(t *testing.T) {
	calls := 0
	var fails error
	g := behind(func(context.Context, string, request) (reply, error) {
		calls++
		if fails == nil {
			panic("broken")
		}
		return reply{}, fails
	})
	var verdict policy
	var refusal error
	g.authorize = func(context.Context, identity) (policy, error) { return verdict, refusal }
	check := func(name string, r *http.Request, status int, code string) {
		t.Helper()
		resp, body := calltest.Through(t, g, r)
		ownResponse(t, name, resp, body, status, code)
	}
	for _, path := range []string{"//v1/me", "/v1/../me"} {
		check(path, asked(t, "GET", path, nil), http.StatusNotFound, "unknown_path")
	}
	without := asked(t, "GET", "/v1/me", nil)
	without.Header.Del("Authorization")
	check("no key", without, http.StatusUnauthorized, "missing_api_key")
	refusal = errors.New("Unauthorized")
	check("another scheme", asked(t, "GET", "/v1/me", nil), http.StatusUnauthorized, "missing_api_key")
	refusal = errors.New("broken")
	check("a broken authorizer", asked(t, "GET", "/v1/me", nil), http.StatusServiceUnavailable, "provider_unavailable")
	refusal, verdict = nil, policy{PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
		Statement: []events.IAMPolicyStatement{{Effect: "Deny"}}}}
	check("an unknown key", asked(t, "GET", "/v1/me", nil), http.StatusUnauthorized, "invalid_api_key")
	if calls != 0 {
		t.Errorf("refused calls make %d calls of functions", calls)
	}
	verdict = policy{}
	check("a function that panics", asked(t, "GET", "/v1/me", nil), http.StatusInternalServerError, "internal")
	fails = errors.New("broken")
	check("a function that fails", asked(t, "GET", "/v1/me", nil), http.StatusInternalServerError, "internal")
	g.authorize = func(context.Context, identity) (policy, error) { panic("broken") }
	check("an authorizer that panics", asked(t, "GET", "/v1/me", nil), http.StatusServiceUnavailable,
		"provider_unavailable")
	// Public paths need no key, and unknown methods are of the function.
	calls = 0
	public := asked(t, "DELETE", "/healthz", nil)
	public.Header.Del("Authorization")
	check("a public path", public, http.StatusInternalServerError, "internal")
	if calls != 1 {
		t.Errorf("a public path makes %d calls", calls)
	}
}

func TestAFunctionThatTakesTooLong(t *testing.T) {
	for name, f := range map[string]func(context.Context, string, request) (reply, error){
		"ends with its context": func(ctx context.Context, _ string, _ request) (reply, error) {
			<-ctx.Done()
			return reply{}, ctx.Err()
		},
		"ignores its context": func(context.Context, string, request) (reply, error) {
			<-time.After(time.Hour)
			return reply{StatusCode: http.StatusOK}, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			resp, body := calltest.Through(t, behind(f), asked(t, "GET", "/v1/me", nil))
			ownResponse(t, name, resp, body, http.StatusGatewayTimeout, "timeout")
			<-time.After(time.Hour) // until the function ends
			if took := time.Since(began) - time.Hour; took != 15*time.Second {
				t.Errorf("%s: after %v", name, took)
			}
		})
	}
}

// On AWS, a function does not learn that its caller has hung up.
func TestACallOutlastsItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		g := behind(func(ctx context.Context, _ string, _ request) (reply, error) {
			ended = sleep(ctx, time.Second)
			return reply{StatusCode: http.StatusOK}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		calltest.Through(t, g, asked(t, "POST", "/v1/factories", nil).WithContext(ctx))
		if !ended {
			t.Error("the function was canceled")
		}
	})
}

func TestHEADHasTheLengthAndNoBody(t *testing.T) {
	g := behind(func(context.Context, string, request) (reply, error) {
		return reply{StatusCode: http.StatusOK, Body: "the body",
			Headers: map[string]string{"Content-Type": "text/plain"}}, nil
	})
	server := httptest.NewServer(edge.New(edge.Config{Gateway: &url.URL{Scheme: "http", Host: "gateway"}, Transport: g,
		Host: "localhost:8080", Stage: "local", Keyless: 100, Now: time.Now}))
	t.Cleanup(server.Close)
	for _, path := range []string{"/v1/me", "/nothing"} {
		lengths := map[string]int64{}
		for _, method := range []string{"GET", "HEAD"} {
			r := asked(t, method, "", nil)
			r.URL, r.Host = &url.URL{Scheme: "http", Host: server.Listener.Addr().String(), Path: path}, ""
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK ||
				(method == "HEAD") != (len(body) == 0) {
				t.Errorf("%s %s: %d %q, %v", method, path, resp.StatusCode, body, err)
			}
			lengths[method] = resp.ContentLength
		}
		if lengths["HEAD"] < 1 || lengths["HEAD"] != lengths["GET"] {
			t.Errorf("%s: Content-Length %v", path, lengths)
		}
	}
}

// As API Gateway does, the gateway renames the challenges of functions, and leads agents to the sign-in itself: an
// agent without a token reaches no function.
func TestChallengesAreThoseOfTheGateway(t *testing.T) {
	called := 0
	g := behind(func(context.Context, string, request) (reply, error) {
		called++
		return reply{StatusCode: http.StatusForbidden, Headers: map[string]string{
			"www-authenticate": `Bearer error="insufficient_scope"`}}, nil
	})
	for _, people := range []bool{true, false} {
		g.people = people
		for _, path := range []string{"/mcp", "/v1/me"} {
			r := asked(t, http.MethodPost, path, nil)
			r.Header.Del("Authorization")
			resp, body := calltest.Through(t, g, r)
			challenge := resp.Header.Get("WWW-Authenticate")
			if resp.StatusCode != 401 || !strings.Contains(body, "missing_api_key") || strings.Contains(challenge,
				`resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp"`) != people ||
				!strings.Contains(challenge, `scope="account:read `) || called != 0 {
				t.Errorf("%s: %d %q %s", path, resp.StatusCode, challenge, body)
			}
		}
	}
	resp, _ := calltest.Through(t, g, asked(t, http.MethodPost, "/mcp", nil))
	if resp.Header.Get("WWW-Authenticate") != "" ||
		resp.Header.Get("X-Amzn-Remapped-Www-Authenticate") != `Bearer error="insufficient_scope"` {
		t.Errorf("%v", resp.Header)
	}
}
