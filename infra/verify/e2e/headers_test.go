package e2e

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/web"
)

// TestEveryResponseHasTheHeaders requests all kinds of responses: those of functions, of the
// gateway, and of the pages without a key.
func TestEveryResponseHasTheHeaders(t *testing.T) {
	c := newCustomer(t)
	limited := newCustomer(t, func(set *account.Settings) { one := 1; set.TestLimit = &one }).test.Secret
	for _, made := range []struct {
		name, key, method, path, body string
		status                        int
	}{
		{"served", c.test.Secret, "GET", "/v1/me", "", 200},
		{"HEAD", c.test.Secret, "HEAD", "/v1/me", "", 200},
		{"malformed", c.test.Secret, "POST", "/v1/factories", "{", 400},
		{"invalid", c.test.Secret, "POST", "/v1/factories", "{}", 422},
		{"no key", "", "GET", "/v1/me", "", 401},
		{"no key, HEAD", "", "HEAD", "/v1/me", "", 401},
		{"unknown key", "svc_test_x", "GET", "/v1/me", "", 401},
		{"unknown path", c.test.Secret, "GET", "/v1/nothing", "", 404},
		{"unknown path of the gateway", "", "GET", "/nothing", "", 404},
		{"unknown method", c.test.Secret, "PUT", "/v1/me", "", 405},
		{"TRACE", c.test.Secret, "TRACE", "/v1/me", "", 405},
		{"TRACE, no key", "", "TRACE", "/healthz", "", 405},
		{"the one call", limited, "GET", "/v1/me", "", 200},
		{"limited", limited, "GET", "/v1/me", "", 429},
		{"limited, HEAD", limited, "HEAD", "/v1/me", "", 429},
		{"health", "", "GET", "/healthz", "", 200},
		{"document", "", "GET", "/openapi.json", "", 200},
		{"explorer", "", "GET", "/api-docs/explorer", "", 200},
		{"explorer, HEAD", "", "HEAD", "/api-docs/explorer", "", 200},
	} {
		res, _ := fetch(t, made.key, made.method, made.path, made.body)
		if res.StatusCode != made.status && !(made.name == "the one call" || made.name == "limited") {
			t.Errorf("%s: %s", made.name, res.Status)
		}
		for name, want := range web.AlwaysHeaders() {
			got := res.Header.Values(name)
			switch {
			case len(got) == 1 && got[0] == want:
			case name == "Content-Security-Policy" && len(got) == 1 && (strings.HasPrefix(made.path, "/api-docs/") ||
				got[0] == gatewayresponse.Filtered.Headers()[name]):
				// Pages and the gateway's own responses have a policy of their own.
			case name == "Cache-Control" && len(got) == 1 && got[0] == "no-cache" && res.Header.Get("ETag") != "":
				// A document may be kept, and is asked for again by its ETag.
			default:
				t.Errorf("%s (%d): %s is %q", made.name, res.StatusCode, name, got)
			}
		}
		if kind := res.Header.Get("Content-Type"); kind != "application/json" && !strings.HasPrefix(made.path, "/api-docs/") {
			t.Errorf("%s is of the type %q", made.name, kind)
		}
		// No page of another origin reads an answer, but for the public document.
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control-") && made.path != "/openapi.json" {
				t.Errorf("%s has the header %s", made.name, name)
			}
		}
	}
	// The scripts' names change with their content.
	_, page := fetch(t, "", "GET", "/api-docs/explorer", "")
	scripts := regexp.MustCompile(`src="(assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(scripts) == 0 {
		t.Fatal("the explorer has no scripts")
	}
	for _, script := range scripts {
		res, _ := fetch(t, "", "GET", "/api-docs/"+script[1], "")
		if h := res.Header; res.StatusCode != 200 || h.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: %s %v", script[1], res.Status, h)
		}
	}
}

// A key in another place than its header would be in logs and histories of browsers.
func TestAKeyTravelsInItsHeaderOnly(t *testing.T) {
	key := newCustomer(t).test.Secret
	for name, made := range map[string]struct {
		path    string
		headers []string
	}{
		"query":         {"/v1/me?api_key=" + key + "&access_token=" + key + "&key=" + key, nil},
		"other headers": {"/v1/me", []string{"X-Api-Key", key, "Cookie", "authorization=" + key}},
		"no Bearer":     {"/v1/me", []string{"Authorization", "Basic " + key}},
	} {
		if res, body := fetch(t, "", "GET", made.path, "", made.headers...); res.StatusCode != 401 {
			t.Errorf("%s: %s %s", name, res.Status, body)
		}
	}
}

func TestAnUnchangedResourceIsNotSentAgain(t *testing.T) {
	key := newCustomer(t).test.Secret
	made := into[struct{ ID string }](call(t, key, "POST", "/v1/factories",
		object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme"}}), 201)
	path := "/v1/factories/" + made.ID
	for tag, want := range map[string]int{`W/"1"`: 304, `"2"`: 200} {
		res, body := fetch(t, key, "GET", path, "", "If-None-Match", tag)
		h := res.Header
		if res.StatusCode != want || (want == 304) != (body == "") || h.Get("ETag") != `"1"` ||
			h.Get("X-Request-Id") == "" || h.Get("RateLimit") == "" {
			t.Errorf("%s: %s %v %s", tag, res.Status, h, body)
		}
	}
	// The methods of this path, not those of an item with the id batch.
	res, _ := fetch(t, key, "OPTIONS", "/v1/content-items/batch", "")
	if res.StatusCode != 405 || res.Header.Get("Allow") != "POST" {
		t.Errorf("%s, Allow is %q", res.Status, res.Header.Get("Allow"))
	}
	a := call(t, key, "GET", "/v1/content_items", nil)
	if err := a.refused(404, "unknown_path"); err != nil || !strings.Contains(a.Error.Message, "/v1/content-items") {
		t.Errorf("%v: %s", err, a.Raw)
	}
}

// fetch makes a call whose response may not be JSON.
func fetch(t *testing.T, key, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, running.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}
