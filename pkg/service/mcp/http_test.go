package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
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
		refused := w.Code == http.StatusTooManyRequests
		if body == search { // a refusal of a tool is its result
			refused = strings.Contains(w.Body.String(), "rate_limited")
		}
		if want := n < 3; refused == want || !want && (w.Header().Get("Retry-After") != "7" ||
			!json.Valid(w.Body.Bytes())) {
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

// What the server does not have is an error of JSON-RPC with the id of the request, and a notification that it does not
// know is taken. Agents announce what they take in several ways.
func TestMessagesAsAgentsSendThem(t *testing.T) {
	h, token := door(1000), newKey(t, tenant.Test)
	send := func(body string, header ...string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example"+Path, strings.NewReader(body))
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Authorization": {"Bearer  " + token}} // two spaces are one separator
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w
	}
	for _, id := range []string{`7`, `"seven"`, `null`, `1795338030000000`} {
		for _, method := range []string{"tasks/list", "resources/list", "prompts/get", "nothing", "tools/List",
			"completion/complete"} {
			for _, version := range []string{"", "2025-06-18", "2026-07-28"} {
				w := send(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"}`, "MCP-Protocol-Version", version)
				var a struct {
					ID    json.RawMessage
					Error struct{ Code int }
				}
				if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK ||
					a.Error.Code != -32601 || string(a.ID) != id || w.Header().Get("Content-Type") != "application/json" {
					t.Errorf("%s with the id %s: %d %s", method, id, w.Code, w.Body)
				}
			}
		}
	}
	for _, method := range []string{"notifications/initialized", "notifications/cancelled", "notifications/unknown",
		"tasks/list"} {
		if w := send(`{"jsonrpc":"2.0","method":"` + method + `"}`); w.Code != http.StatusAccepted || w.Body.Len() > 0 {
			t.Errorf("the notification %s: %d %s", method, w.Code, w.Body)
		}
	}
	for _, body := range []string{"", "{", `"text"`, "7", "tools/list"} {
		if w := send(body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"code":-32700`) {
			t.Errorf("the body %q: %d %s", body, w.Code, w.Body)
		}
	}
	for body, id := range map[string]string{`{"id":7,"method":"ping"}`: "7", `{"jsonrpc":"1.0","id":"a","method":"ping"}`: `"a"`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`: "null", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`: "null",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: "null", `{"jsonrpc":"2.0","id":1e30,"method":"tools/list"}`: "null",
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`: "null"} {
		if w := send(body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"code":-32600`) ||
			!strings.Contains(w.Body.String(), `"id":`+id+`,`) {
			t.Errorf("the message %s: %d %s", body, w.Code, w.Body)
		}
	}
	// Parameters of a wrong type are told without the words of Go.
	for method, sent := range map[string]string{"tools/call": `{"name":5}`, "tools/list": `{"cursor":5}`, "ping": `[]`,
		"initialize": `{"protocolVersion":5}`, "logging/setLevel": `"info"`} {
		w := send(`{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + sent + `}`)
		if text := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(text, `"code":-32602`) ||
			!strings.Contains(text, `"id":7`) || strings.Contains(text, "unmarshal") {
			t.Errorf("%s with %s: %d %s", method, sent, w.Code, text)
		}
	}
	for kind, want := range map[string]int{"application/json; charset=utf-8": 200, "text/plain": 415, "": 415} {
		w := send(listTools, "Content-Type", kind)
		if w.Code != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("Content-Type %q: %d %v %.200s", kind, w.Code, w.Header(), w.Body)
		}
	}
	for accept, kind := range map[string]string{"application/json": "application/json", "text/event-stream": "text/event-stream",
		"*/*": "application/json", "": "application/json", "text/event-stream, */*;q=0.1": "application/json",
		"application/json; charset=utf-8": "application/json", "text/html": "application/json"} {
		w := send(listTools, "Accept", accept)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind ||
			!strings.Contains(w.Body.String(), `"list_content"`) || strings.HasPrefix(w.Body.String(), "{") !=
			(kind == "application/json") {
			t.Errorf("Accept %q: %d %v %.80s", accept, w.Code, w.Header(), w.Body)
		}
	}
	// The version in the header is that of earlier messages, and there are none before the first (row 37).
	for version, want := range map[string]int{"2026-07-28": 200, "2025-06-18": 200, "": 200} {
		w := send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
			`"clientInfo":{"name":"x","version":"1"}}}`, "MCP-Protocol-Version", version)
		if w.Code != want || !strings.Contains(w.Body.String(), `"protocolVersion":"2025-06-18"`) {
			t.Errorf("initialize with the header %q: %d %.200s", version, w.Code, w.Body)
		}
	}
	for _, version := range []string{"1999-01-01", "2099-01-01", "x", "2025-06-18, 2025-06-18"} { // row 36
		var a struct {
			ID    int
			Error struct {
				Code int
				Data sdk.UnsupportedProtocolVersionData
			}
		}
		w := send(listTools, "MCP-Protocol-Version", version)
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusBadRequest || a.ID != 1 ||
			a.Error.Code != sdk.CodeUnsupportedProtocolVersion || a.Error.Data.Requested != version ||
			!slices.Contains(a.Error.Data.Supported, "2025-06-18") || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("the version %q: %d %.200s", version, w.Code, w.Body)
		}
	}
}

// A program that lacks a scope learns which one, so that it can ask the person for more. A key has what it has.
func TestAProgramCanAskForMore(t *testing.T) {
	serve := Lambda(New(Options{Base: func(*http.Request) string { return "https://api.example" }, Now: time.Now,
		SignIn: signin.Settings{Issuer: "https://issuer.example"}, HTTP: &http.Client{Transport: fake(
			func(*http.Request, string) (int, string) {
				return 403, `{"data":null,"error":{"code":"insufficient_scope","message":"No."},"request_id":"r"}`
			})}}))
	token := newKey(t, tenant.Test)
	for _, program := range []bool{true, false} {
		p := &auth.Principal{Owner: tenant.Of("acc_1", tenant.Test), Actor: auth.Key("key_1"), Program: program,
			Scopes: []auth.Scope{auth.ContentRead}}
		values, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for tool, lacking := range map[string]string{`"create_content","arguments":{}`: "content:write",
			`"call_operation","arguments":{"operation_id":"listFactories"}`: "factories:read", `"list_content"`: "",
			`"search_operations","arguments":{"query":"x"}`: ""} {
			e := events.APIGatewayProxyRequest{HTTPMethod: "POST", Path: Path, Headers: map[string]string{
				"Content-Type": "application/json", "Authorization": "Bearer " + token, "Host": "api.example"},
				Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + tool + `}}`}
			e.RequestContext.Authorizer = values
			a, err := serve(t.Context(), e)
			want := `Bearer error="insufficient_scope", resource_metadata="https://api.example` + MetadataPath + Path +
				`", scope="` + lacking + `"`
			challenge := http.Header(a.MultiValueHeaders).Get("WWW-Authenticate")
			switch refused := program && lacking != ""; {
			case err != nil, !refused && (a.StatusCode != 200 || challenge != ""),
				refused && (a.StatusCode != 403 || challenge != want):
				t.Errorf("%s, a program %v: %d %q %s, %v", tool, program, a.StatusCode, challenge, a.Body, err)
			}
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
		"a word":  call("search_operations", `{"query":"`+strings.Repeat("a", 250_000)+`"}}}`),
		"long words": call("search_operations", `{"query":"`+
			strings.Repeat(strings.Repeat("beitragplan", 6)+" ", 3_500)+`"}}}`),
	} {
		if len(body) > mostRequest {
			t.Fatalf("%s has %d bytes", name, len(body))
		}
		cost.AtMost(t, name, func() {
			w := post(t, h, token, body)
			read := strings.Contains("names, a text, a word, long words", name)
			if refused := w.Code == http.StatusRequestEntityTooLarge; refused == read {
				t.Errorf("%s: %d %.100s", name, w.Code, w.Body)
			}
		})
	}
}

// A refusal of a call of a tool is a result, which the agent reads: no error of the protocol.
func TestRefusalsAreResultsOfTools(t *testing.T) {
	w := post(t, door(0), newKey(t, tenant.Test),
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_factories","arguments":{}}}`)
	var got struct {
		ID     int
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got.ID != 7 ||
		!got.Result.IsError || len(got.Result.Content) == 0 || !strings.Contains(got.Result.Content[0].Text, "rate_limited") {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
}

// The calls of a tool carry the ticket of the request, so that they are not counted again.
func TestTheCallsOfAToolCarryItsTicket(t *testing.T) {
	var tickets []string
	h := New(Options{Base: func(*http.Request) string { return "https://api.example" }, Now: time.Now,
		HTTP: &http.Client{Transport: fake(func(r *http.Request, _ string) (int, string) {
			tickets = append(tickets, r.Header.Get(auth.TicketHeader))
			return 200, ok(`{}`)
		})}})
	p := auth.Principal{Owner: tenant.Of("acc_1", tenant.Test), Actor: auth.Key("key_1"), Ticket: "t",
		Scopes: auth.AllScopes()}
	authorized, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	event := events.APIGatewayProxyRequest{HTTPMethod: http.MethodPost, Path: Path, Resource: Path,
		Headers: map[string]string{"Host": "api.example", "Content-Type": "application/json",
			"Accept": "application/json, text/event-stream", "Authorization": "Bearer " + newKey(t, tenant.Test)},
		Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"account_overview","arguments":{}}}`}
	event.RequestContext.Authorizer = authorized
	got, err := Lambda(h)(t.Context(), event)
	if err != nil || got.StatusCode != http.StatusOK || len(tickets) < 3 {
		t.Fatalf("%d %s, %v: %v", got.StatusCode, got.Body, err, tickets)
	}
	for _, ticket := range tickets {
		if ticket != "t" {
			t.Errorf("the tickets are %q", tickets)
		}
	}
}
