package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/base/tenant"
)

// door is the server over HTTP, with an API that permits so many calls.
func door(permitted int) http.Handler {
	return New(Options{Base: func(*http.Request) string { return "https://api.example" }, Now: time.Now,
		HTTP: &http.Client{Transport: fake(func(*http.Request, string) (int, string) {
			if permitted--; permitted < 0 {
				return 429, `{"data":null,"error":{"code":"rate_limited","message":"Wait."},"request_id":"r"}`
			}
			return 200, ok(`{"key":{"scopes":["account:read","content:read"]}}`)
		})}})
}

func post(t *testing.T, h http.Handler, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example"+Path, strings.NewReader(body))
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer " + token}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// Many calls in one request would count as one.
func TestBatchesAreRefused(t *testing.T) {
	h, token := door(100), newKey(t, tenant.Test)
	for _, body := range []string{"[" + listTools + "," + listTools + "]",
		" \n[" + strings.Repeat(listTools+",", 1000) + listTools + "]", "[]"} {
		w := post(t, h, token, body)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "Batches are not taken") || w.Body.Len() > 1000 {
			t.Errorf("%.50s: %d %.200s", body, w.Code, w.Body)
		}
	}
	if w := post(t, h, token, `{"x":"`+strings.Repeat("x", mostRequest)+`"}`); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large request: %d %.200s", w.Code, w.Body)
	}
	if w := post(t, h, token, listTools); w.Code != http.StatusOK || w.Body.Len() > 64<<10 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
}

// Each request counts as a call of the key, whatever it asks for.
func TestEachRequestOfAnAgentIsACall(t *testing.T) {
	const search = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_operations","arguments":` +
		`{"query":"content"}}}`
	h, token := door(3), newKey(t, tenant.Test)
	for n, body := range []string{listTools, search, listTools, listTools, search} {
		w := post(t, h, token, body)
		if want := n < 3; (w.Code == http.StatusOK) != want || !want && (w.Code != http.StatusTooManyRequests ||
			w.Header().Get("Retry-After") != "7" || !json.Valid(w.Body.Bytes())) {
			t.Errorf("request %d: %d %v %.200s", n+1, w.Code, w.Header(), w.Body)
		}
	}
}

// Behind the gateway the origin of a page is compared with the host that was called.
func TestOnlyPagesOfTheServiceItselfCallTheServer(t *testing.T) {
	serve, token := Lambda(door(100)), newKey(t, tenant.Test)
	for origin, want := range map[string]int{"": 200, "https://api.example": 200, "null": 403, "https://evil.example": 403} {
		headers := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Authorization": "Bearer " + token, "Host": "api.example"}
		if origin != "" {
			headers["Origin"] = origin
		}
		answer, err := serve(t.Context(), events.APIGatewayProxyRequest{HTTPMethod: "POST", Path: Path, Headers: headers,
			Body: listTools})
		if err != nil || answer.StatusCode != want {
			t.Errorf("%q: %d, %v, %.200s", origin, answer.StatusCode, err, answer.Body)
		}
	}
}

// A request of the largest size takes little, whatever it has in it.
func TestWorstCaseRequests(t *testing.T) {
	h, token := door(100), newKey(t, tenant.Test)
	call := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments
	}
	var words strings.Builder
	for n := range 35_000 {
		fmt.Fprintf(&words, "%x ", n+4096)
	}
	for name, body := range map[string]string{
		"words":   call("search_operations", `{"query":"`+words.String()+`"}}}`),
		"values":  call("search_operations", `{"a":[`+strings.Repeat("0,", 120_000)+"0]}}}"),
		"objects": call("search_operations", `{"a":[`+strings.Repeat("{},", 80_000)+"{}]}}}"),
		"depth":   call("search_operations", strings.Repeat(`{"a":`, 50_000)),
		"names":   call("search_operations", `{"query":"a"`+strings.Repeat(`,"a":0`, 19_000)+"}}}"),
		"a text":  call("search_operations", `{"query":"`+strings.Repeat("word ", 50_000)+`"}}}`),
	} {
		if len(body) > mostRequest {
			t.Fatalf("%s has %d bytes", name, len(body))
		}
		cost.AtMost(t, name, func() {
			w := post(t, h, token, body)
			if refused := w.Code == http.StatusRequestEntityTooLarge; refused != !strings.Contains("names, a text, words", name) {
				t.Errorf("%s: %d %.100s", name, w.Code, w.Body)
			}
		})
	}
}
