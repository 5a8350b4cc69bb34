package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	mcpauth "github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/content-automation/api/pkg/auth/session"
)

const (
	programReturn = "http://127.0.0.1:40999/callback"
	programProof  = "the-verifier-of-a-program-has-43-characters-or-more"
)

// consented answers the page of consent at an address as the person in the browser, and returns the parameters that the
// program gets.
func (s *system) consented(b *browser, address string, change url.Values) url.Values {
	b.t.Helper()
	return s.consentedAt(b, address, programReturn, change)
}

// consentedAt is consented for a program that returns to an address.
func (s *system) consentedAt(b *browser, address, to string, change url.Values) url.Values {
	b.t.Helper()
	p := b.get(address)
	found := hiddenWish.FindStringSubmatch(p.body)
	if p.status != http.StatusOK || found == nil {
		b.t.Fatalf("no page of consent, but %d at %s: %s", p.status, p.at, p.body)
	}
	form := url.Values{"wish": {html.UnescapeString(found[1])}, "kind": {"test"},
		"scope": {"account:read", "factories:read", "content:read"}}
	maps.Copy(form, change)
	p = b.post("/settings/programs/connect", form)
	leads := leadingOn.FindStringSubmatch(p.body)
	if p.status != http.StatusOK || leads == nil {
		b.t.Fatalf("%d: %s", p.status, p.body)
	}
	at, err := url.Parse(html.UnescapeString(leads[1]))
	if err != nil || !strings.HasPrefix(at.String(), to+"?") {
		b.t.Fatalf("the page leads to %s: %v", leads[1], err)
	}
	return at.Query()
}

// An agent with the official SDK gets from the address alone to a call of a tool, and keeps its access.
func TestAnAgentConnectsFromTheAddressAlone(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "developer")
	asked, closed := "", false
	handler, err := mcpauth.NewAuthorizationCodeHandler(&mcpauth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &mcpauth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "Scripted agent",
				RedirectURIs:            []string{programReturn},
				TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code", "refresh_token"}}},
		RedirectURL: programReturn,
		AuthorizationCodeFetcher: func(_ context.Context,
			args *mcpauth.AuthorizationArgs) (*mcpauth.AuthorizationResult,
			error) {
			if closed {
				return nil, errors.New("the person connects nothing more")
			}
			asked = args.URL
			q := s.consented(b, args.URL, nil)
			return &mcpauth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	agent := sdk.NewClient(&sdk.Implementation{Name: "scripted", Version: "1"}, nil)
	c, err := agent.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: s.BaseURL + "/mcp",
		OAuthHandler: handler, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "account_overview"})
	if err != nil || res.IsError || !strings.Contains(asked, "code_challenge_method=S256") {
		t.Fatalf("%+v, %v, asked %s", res, err, asked)
	}
	p := b.get("/settings/programs")
	if !strings.Contains(p.body, "Scripted agent") || !strings.Contains(p.body, "content:read") {
		t.Errorf("the page does not list the program: %s", p.body)
	}
	// The calls are in the audit log as those of the program's key, which the person has made.
	if keys := b.get("/settings/api-keys"); !strings.Contains(keys.body, "Scripted agent (program)") {
		t.Errorf("the page of keys does not list it: %s", keys.body)
	}
	ended := endsProgram.FindStringSubmatch(p.body)
	if ended == nil {
		t.Fatal("the page ends nothing")
	}
	if p := b.post(ended[1], url.Values{}); !strings.Contains(p.body, "The program is disconnected.") {
		t.Errorf("%d %s", p.status, p.body)
	}
	closed = true
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "account_overview"}); err == nil {
		t.Error("a program that was disconnected has access")
	}
}

// program is a program of the tests with its own calls.
type program struct {
	t  *testing.T
	s  *system
	id string
}

// registered registers a program.
func (s *system) registered(t *testing.T) *program {
	t.Helper()
	status, answer := s.posted(t, "/oauth/register", `{"client_name":"Acme","redirect_uris":["`+programReturn+`"]}`,
		"application/json")
	id, _ := answer["client_id"].(string)
	if status != http.StatusCreated || id == "" || answer["client_secret"] != nil {
		t.Fatalf("%d %v", status, answer)
	}
	return &program{t, s, id}
}

// posted sends a body, and returns the answer.
func (s *system) posted(t *testing.T, path, body, kind string, header ...string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: the answer may be cached: %q", path, resp.Header.Get("Cache-Control"))
	}
	answer := map[string]any{}
	_ = json.NewDecoder(resp.Body).Decode(&answer)
	return resp.StatusCode, answer
}

// form sends a form.
func (s *system) form(t *testing.T, path string, q url.Values) (int, map[string]any) {
	t.Helper()
	return s.posted(t, path, q.Encode(), "application/x-www-form-urlencoded")
}

// ask returns the parameters of a request for authorization, after changes.
func (p *program) ask(change ...string) url.Values {
	q := url.Values{"client_id": {p.id}, "redirect_uri": {programReturn}, "response_type": {"code"},
		"state": {"state-of-the-program"}, "code_challenge": {session.Challenge(programProof)},
		"code_challenge_method": {"S256"}, "scope": {"account:read factories:read content:read"},
		"resource": {p.s.BaseURL + "/mcp"}}
	return changed(q, change)
}

func changed(q url.Values, change []string) url.Values {
	for i := 0; i+1 < len(change); i += 2 {
		if change[i+1] == "-" {
			q.Del(change[i])
		} else {
			q.Set(change[i], change[i+1])
		}
	}
	return q
}

// code connects the program as the person in the browser, and returns the code.
func (p *program) code(b *browser) string {
	p.t.Helper()
	q := p.s.consented(b, "/oauth/authorize?"+p.ask().Encode(), nil)
	if q.Get("state") != "state-of-the-program" || q.Get("iss") != p.s.BaseURL {
		p.t.Errorf("%v", q)
	}
	return q.Get("code")
}

// redeem returns the parameters that redeem a code, after changes.
func (p *program) redeem(code string, change ...string) url.Values {
	return changed(url.Values{"grant_type": {"authorization_code"}, "client_id": {p.id}, "code": {code},
		"redirect_uri": {programReturn}, "code_verifier": {programProof}}, change)
}

// tokens connects the program, and returns its tokens.
func (p *program) tokens(b *browser) (access, refresh string) {
	p.t.Helper()
	status, answer := p.s.form(p.t, "/oauth/token", p.redeem(p.code(b)))
	access, _ = answer["access_token"].(string)
	refresh, _ = answer["refresh_token"].(string)
	if status != http.StatusOK || access == "" || refresh == "" || answer["expires_in"] != 3600.0 ||
		answer["scope"] != "account:read factories:read content:read" {
		p.t.Fatalf("%d %v", status, answer)
	}
	return access, refresh
}

// renew returns the parameters that use a refresh token.
func (p *program) renew(refresh string, change ...string) url.Values {
	return changed(url.Values{"grant_type": {"refresh_token"}, "client_id": {p.id}, "refresh_token": {refresh}}, change)
}

// may reports whether a token reads the account.
func (s *system) may(t *testing.T, token string) bool {
	t.Helper()
	status, _ := s.call(t, token, "GET", "/v1/me", nil)
	return status == http.StatusOK
}

// Tokens rotate. A refresh token that is used again after a minute ends the connection, and so does a code.
func TestTokensOfAProgram(t *testing.T) {
	s := start(t)
	b, p := s.signedIn(t, "developer"), s.registered(t)
	first, refresh := p.tokens(b)
	if !s.may(t, first) {
		t.Fatal("the access token reads nothing")
	}
	if status, _ := s.call(t, first, "POST", "/v1/factories",
		map[string]any{"type": "expert"}); status != http.StatusForbidden {
		t.Errorf("beyond its scopes: %d", status)
	}
	if status, _ := s.call(t, first, "GET", "/v1/api-keys", nil); status != http.StatusForbidden {
		t.Errorf("it manages keys: %d", status)
	}
	s.clock.advance(session.AccessLifetime)
	if s.may(t, first) {
		t.Error("the access token outlives its hour")
	}
	status, answer := s.form(t, "/oauth/token", p.renew(refresh))
	second, _ := answer["access_token"].(string)
	if status != http.StatusOK || !s.may(t, second) || answer["refresh_token"] == refresh {
		t.Fatalf("%d %v", status, answer)
	}
	// Its answer may have been lost: for a minute the same one comes again.
	status, again := s.form(t, "/oauth/token", p.renew(refresh))
	if status != http.StatusOK || again["refresh_token"] != answer["refresh_token"] || again["access_token"] != second ||
		!s.may(t, second) {
		t.Errorf("a refresh token whose answer was lost: %d %v", status, again)
	}
	s.clock.advance(session.Grace)
	status, again = s.form(t, "/oauth/token", p.renew(refresh))
	if status != http.StatusBadRequest || again["error"] != "invalid_grant" || s.may(t, second) {
		t.Errorf("a refresh token that was used twice: %d %v, and its access lives: %v", status, again, s.may(t,
			second))
	}
	if status, _ := s.form(t, "/oauth/token",
		p.renew(fmt.Sprint(answer["refresh_token"]))); status != http.StatusBadRequest {
		t.Errorf("the newest refresh token lives: %d", status)
	}

	b = s.signedIn(t, "developer") // the session has ended meanwhile
	code := p.code(b)
	_, answer = s.form(t, "/oauth/token", p.redeem(code))
	third := fmt.Sprint(answer["access_token"])
	if status, answer = s.form(t, "/oauth/token", p.redeem(code)); status != 200 || answer["access_token"] != third {
		t.Errorf("a code whose answer was lost: %d %v", status, answer)
	}
	s.clock.advance(session.Grace)
	status, answer = s.form(t, "/oauth/token", p.redeem(code))
	if status != http.StatusBadRequest || answer["error"] != "invalid_grant" || s.may(t, third) {
		t.Errorf("a code that was used twice: %d %v", status, answer)
	}

	fourth, refresh := p.tokens(b) // revoked by the program (RFC 7009)
	if status, _ := s.form(t, "/oauth/revoke", url.Values{"client_id": {p.id}, "token": {fourth}}); status != 200 ||
		s.may(t, fourth) {
		t.Errorf("an access token that was revoked: %d", status)
	}
	if status, _ := s.form(t, "/oauth/revoke", url.Values{"client_id": {p.id}, "token": {refresh}}); status != 200 {
		t.Errorf("revoke: %d", status)
	}
	if status, _ := s.form(t, "/oauth/token", p.renew(refresh)); status != http.StatusBadRequest {
		t.Errorf("a refresh token that was revoked: %d", status)
	}
	if status, _ := s.form(t, "/oauth/revoke", url.Values{"client_id": {p.id}, "token": {"unknown"}}); status != 200 {
		t.Errorf("an unknown token: %d", status)
	}
}

// After the key of a program was narrowed, a new token names the scopes that it has.
func TestB18ATokenNamesTheScopesThatItHas(t *testing.T) {
	s := start(t)
	b, p := s.signedIn(t, "developer"), s.registered(t)
	_, refresh := p.tokens(b)
	ends := endsProgram.FindStringSubmatch(b.get("/settings/programs").body)
	if ends == nil {
		t.Fatal("the program is not listed")
	}
	key := strings.Split(strings.TrimPrefix(ends[1], "/settings/programs/"), "/")[0]
	s.must(t, "PATCH", "/v1/api-keys/"+key, object{"scopes": []string{"account:read"}}, http.StatusOK)
	status, answer := s.form(t, "/oauth/token", p.renew(refresh))
	if status != http.StatusOK || answer["scope"] != "account:read" {
		t.Errorf("%d %v", status, answer)
	}
}

// Programs that are registered without end find a bound.
func TestRegistrationsAreBounded(t *testing.T) {
	s := start(t)
	for range 200 {
		s.registered(t)
	}
	body := `{"client_name":"Acme","redirect_uris":["` + programReturn + `"]}`
	if status, _ := s.posted(t, "/oauth/register", body, "application/json"); status != http.StatusTooManyRequests {
		t.Errorf("the next one: %d", status)
	}
	s.clock.advance(time.Hour)
	s.registered(t)
}
