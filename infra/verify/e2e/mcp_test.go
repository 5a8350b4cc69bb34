package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

// agent is an agent that has the tools alone.
type agent struct {
	t            *testing.T
	session      *sdk.ClientSession
	calls, bytes int
	// characters are those of the arguments and the results.
	characters int
}

// bearer adds a credential to requests.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func newAgent(t *testing.T, secret string) *agent {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "scripted", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: running.BaseURL + "/mcp",
		HTTPClient: &http.Client{Transport: bearer(secret)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &agent{t: t, session: session}
}

// result is a result of a tool: the text of the service, and the data.
type result struct {
	text  string
	data  string
	error bool
}

// try calls a tool.
func (a *agent) try(tool string, arguments object) result {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	res, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	raw := res.Content[0].(*sdk.TextContent).Text
	a.calls++
	a.bytes += len(raw)
	sent, _ := json.Marshal(arguments) // which were sent
	n := utf8.RuneCountInString(raw)
	a.characters += n + utf8.RuneCount(sent)
	if text, _, _ := strings.Cut(raw, "\n"); n > 6000 && arguments["full"] == nil && !strings.HasPrefix(text, "Nothing was done yet") &&
		!strings.Contains(text, "Call it with call_operation.") && !strings.Contains(raw, `"upload":`) {
		a.t.Errorf("%s: the result has %d characters, want at most 6,000", tool, n)
	}
	text, rest, _ := strings.Cut(raw, "<data>\n")
	data, _, _ := strings.Cut(rest, "\n</data>")
	return result{text, data, res.IsError}
}

func TestAgentsSeeFewTools(t *testing.T) {
	c := newCustomer(t)
	a := newAgent(t, c.test.Secret)
	list, err := a.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil || utf8.RuneCount(raw) > 16_000 || len(list.Tools) < 14 {
		t.Errorf("%d tools in %d bytes, %v: want at most 16,000 characters", len(list.Tools), len(raw), err)
	}
	t.Logf("%d tools in %d bytes", len(list.Tools), len(raw))
	for _, tool := range list.Tools {
		want := map[string][2]bool{"studio_generate": {false, false},
			"schedule_or_publish": {false, true}, "call_operation": {false, true}}
		hints := tool.Annotations
		if hints == nil || (hints.DestructiveHint == nil) != hints.ReadOnlyHint {
			t.Errorf("%s has the annotations %+v", tool.Name, hints)
		} else if w, ok := want[tool.Name]; ok && w != [2]bool{hints.ReadOnlyHint, *hints.DestructiveHint} {
			t.Errorf("%s has the annotations %+v, want %v", tool.Name, hints, w)
		}
	}
	few := newAgent(t, c.key(tenant.Test, apikey.Settings{Scopes: []auth.Scope{auth.AccountRead}}).Secret)
	some, err := few.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range some.Tools {
		if tool.Name == "create_content" || tool.Name == "schedule_or_publish" {
			t.Errorf("a key with account:read sees %s", tool.Name)
		}
	}
	if r := few.try("call_operation", object{"operation_id": "listFactories"}); !r.error ||
		!strings.Contains(r.text, "insufficient_scope") || !strings.Contains(r.text, "request_id: ") ||
		!strings.Contains(r.text, "Next step: ") {
		t.Errorf("without the scope: %+v", r)
	}
}

func TestAgentsOfBothErasAreServed(t *testing.T) {
	c := newCustomer(t)
	for _, version := range sdk.SupportedProtocolVersions() {
		a := newRaw(t, c.test.Secret, version)
		if !strings.Contains(a, `"account_overview"`) {
			t.Errorf("%s: %s", version, a)
		}
		if version >= "2026" && !strings.Contains(a, `"cacheScope":"private"`) {
			t.Errorf("%s: others may keep the list: %s", version, a)
		}
	}
}

// newRaw lists the tools as a client of a version of the protocol does without a session.
func newRaw(t *testing.T, secret, version string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", running.BaseURL+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+version+
			`","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {version}, "Mcp-Method": {"tools/list"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d, %v", version, resp.StatusCode, err)
	}
	return string(body)
}

func TestAnAgentWithoutAKeyIsRefused(t *testing.T) {
	// Where people sign in, the challenge names the metadata from which an agent finds their issuer (RFC 9728).
	const metadata = "/.well-known/oauth-protected-resource/mcp"
	at := ""
	switch resp, body := browse(t, http.MethodGet, running.BaseURL+metadata); resp.StatusCode {
	case http.StatusOK:
		at = `resource_metadata="` + running.BaseURL + metadata + `", `
		var m struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil || m.Resource != running.BaseURL+"/mcp" ||
			len(m.Servers) != 1 {
			t.Errorf("the metadata is %s: %v", body, err)
		}
	case http.StatusNotFound:
		if !strings.Contains(body, "People do not sign in here") {
			t.Errorf("without a sign-in the metadata is %s", body)
		}
	default:
		t.Errorf("the metadata answers %s %s", resp.Status, body)
	}
	for secret, want := range map[string][2]string{"": {"missing_api_key", "Bearer "},
		"garbage": {"invalid_api_key", `Bearer error="invalid_token", `}} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			a := call(t, secret, method, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if err := a.refused(401, want[0]); err != nil || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"),
				want[1]+at+`scope="account:read `) || strings.Contains(a.Header.Get("WWW-Authenticate"), "account:manage") {
				t.Errorf("%s with %q: %v, %v", method, secret, err, a.Header)
			}
		}
	}
	if err := call(t, newCustomer(t).test.Secret, "GET", "/mcp", nil).refused(405, "method_not_allowed"); err != nil {
		t.Error(err)
	}
}

// A key without a scope learns which one, in a header that API Gateway renames (RFC 6750, 3.1).
func TestRefusalsNameTheScope(t *testing.T) {
	c := newCustomer(t)
	few := c.key(tenant.Test, apikey.Settings{Scopes: []auth.Scope{auth.AccountRead}}).Secret
	a := call(t, few, "GET", "/v1/factories", nil)
	if err := a.refused(403, "insufficient_scope"); err != nil || a.Header.Get("WWW-Authenticate") != "" ||
		a.Header.Get("X-Amzn-Remapped-WWW-Authenticate") != `Bearer error="insufficient_scope", scope="factories:read"` {
		t.Errorf("%v, %v", err, a.Header)
	}
}

// remaining returns what RateLimit says after a call of its own, and the seconds to the end of the window.
func remaining(t *testing.T, secret string) (left, reset int) {
	t.Helper()
	a := call(t, secret, "GET", "/v1/me", nil)
	if _, err := fmt.Sscanf(a.Header.Get("RateLimit"), `"default";r=%d;t=%d`, &left, &reset); err != nil {
		t.Fatalf("RateLimit is %q: %v", a.Header.Get("RateLimit"), err)
	}
	return left, reset
}

// A call of a tool takes one of the limit of requests, however many calls of the API it makes. A ticket that a caller
// makes up counts as any other call.
func TestACallOfAToolCountsOnce(t *testing.T) {
	c := newCustomer(t)
	secret := c.key(tenant.Test, apikey.Settings{Scopes: auth.AllScopes()}).Secret
	a := newAgent(t, secret)
	before, reset := remaining(t, secret)
	if reset < 10 { // the window would end between the calls
		<-time.After(time.Duration(reset+1) * time.Second)
		before, _ = remaining(t, secret)
	}
	if r := a.try("account_overview", object{}); r.error { // which reads the account, its factories and its accounts
		t.Fatal(r.text)
	}
	after, _ := remaining(t, secret)
	if used := before - after - 1; used != 1 {
		t.Errorf("the call of the tool took %d of the limit", used)
	}
	for _, ticket := range []string{"", "1.x.y", "x"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", running.BaseURL+"/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set(auth.TicketHeader, ticket)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Header.Get(auth.TicketHeader) != "" {
			t.Errorf("%q: %d %v", ticket, resp.StatusCode, resp.Header)
		}
	}
	if left, _ := remaining(t, secret); after-left != 4 {
		t.Errorf("three calls with tickets that do not hold, and one without, took %d", after-left)
	}
}
