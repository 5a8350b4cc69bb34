package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/auth/session"
)

// fixture is what a program sends, by its public reports and sources.
type fixture struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// Document is the address of the document that describes the program, or empty if it registers itself.
	Document string `json:"document"`
	// Registration is the body of its registration, or its document.
	Registration map[string]any `json:"registration"`
	Redirect     string         `json:"redirect"`
	// Authorize and Token are its parameters beside those of OAuth 2.1. Lists are sent as several parameters.
	Authorize map[string][]string `json:"authorize"`
	Token     map[string][]string `json:"token"`
	// Calls are the first messages, with their headers.
	Calls []struct {
		Body    map[string]any    `json:"body"`
		Headers map[string]string `json:"headers"`
		Status  int               `json:"status"`
	} `json:"calls"`
}

// fixtures returns what real programs send.
func fixtures(t *testing.T) (all []fixture) {
	t.Helper()
	raw, err := os.ReadFile("../../../testdata/programs/programs.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Real programs get from the address alone to a call of a tool: by their registration or their document, with the
// parameters and headers that they send, and with a refresh whose answer was lost.
func TestProgramsAsTheyComeAreConnected(t *testing.T) {
	docs := newDocuments(t)
	s := docs.start(t)
	b := s.signedIn(t, "developer")
	var names []string
	for _, f := range fixtures(t) {
		names = append(names, f.Name)
		t.Run(f.Name, func(t *testing.T) {
			p := &program{t, s, ""}
			if f.Document == "" {
				raw, err := json.Marshal(f.Registration)
				if err != nil {
					t.Fatal(err)
				}
				status, answer := s.posted(t, "/oauth/register", string(raw), "application/json")
				p.id, _ = answer["client_id"].(string)
				if status != http.StatusCreated || p.id == "" || answer["token_endpoint_auth_method"] != "none" ||
					fmt.Sprint(answer["grant_types"]) != "[authorization_code refresh_token]" ||
					fmt.Sprint(answer["response_types"]) != "[code]" ||
					fmt.Sprint(answer["redirect_uris"]) != fmt.Sprint(f.Registration["redirect_uris"]) {
					t.Fatalf("%d %v", status, answer)
				}
			} else {
				p.id = docs.put("/"+strings.ReplaceAll(f.Name, " ", "-"), f.Registration, "max-age=300")
			}
			tokens := connect(t, s, b, p, f)
			for _, call := range f.Calls {
				raw, err := json.Marshal(call.Body)
				if err != nil {
					t.Fatal(err)
				}
				header := []string{"Authorization", "Bearer " + fmt.Sprint(tokens["access_token"])}
				for name, value := range call.Headers {
					header = append(header, name, value)
				}
				status, body := s.called(t, string(raw), header...)
				if status != call.Status || status == http.StatusOK && !strings.Contains(body, `"result"`) {
					t.Errorf("%s: %d %.300s", raw, status, body)
				}
			}
		})
	}
	want := []string{"Claude", "Claude Code", "ChatGPT", "VS Code", "Cursor", "Codex", "n8n", "MCP Inspector"}
	for _, name := range want {
		if !slices.ContainsFunc(names, func(n string) bool { return n == name || strings.HasPrefix(n, name+" by") }) {
			t.Errorf("there is no fixture of %s", name)
		}
	}
}

// connect connects a program with its own parameters, refreshes its tokens, and returns them.
func connect(t *testing.T, s *system, b *browser, p *program, f fixture) map[string]any {
	t.Helper()
	q := p.ask("redirect_uri", f.Redirect, "scope", "-")
	for name, values := range f.Authorize {
		q[name] = values
	}
	for i, value := range q["resource"] {
		q["resource"][i] = strings.ReplaceAll(value, "{base}", s.BaseURL)
	}
	got := s.consentedAt(b, "/oauth/authorize?"+q.Encode(), f.Redirect, url.Values{"scope": {"account:read", "content:read"}})
	if got.Get("state") != q.Get("state") || got.Get("iss") != s.BaseURL {
		t.Fatalf("the program gets %v", got)
	}
	form := p.redeem(got.Get("code"), "redirect_uri", f.Redirect)
	for name, values := range f.Token {
		form[name] = values
	}
	for i, value := range form["resource"] {
		form["resource"][i] = strings.ReplaceAll(value, "{base}", s.BaseURL)
	}
	status, tokens := s.form(t, "/oauth/token", form)
	if status != http.StatusOK {
		t.Fatalf("%d %v", status, tokens)
	}
	renew := p.renew(fmt.Sprint(tokens["refresh_token"]))
	for name, values := range f.Token {
		renew[name] = values
	}
	renew["resource"] = form["resource"]
	status, first := s.form(t, "/oauth/token", renew)
	if status != http.StatusOK {
		t.Fatalf("%d %v", status, first)
	}
	status, again := s.form(t, "/oauth/token", renew)
	if status != http.StatusOK || again["access_token"] != first["access_token"] ||
		again["refresh_token"] != first["refresh_token"] {
		t.Errorf("a refresh whose answer was lost: %d %v, want %v", status, again, first)
	}
	return first
}

// A registration with members that the service does not support is answered with those that it does (RFC 7591, 3.2.1).
func TestRegistrationsAreNarrowed(t *testing.T) {
	s := start(t)
	const redirects = `"redirect_uris":["https://claude.ai/api/mcp/auth_callback"]`
	for name, c := range map[string]struct{ members, shown string }{
		"a grant by assertion": {`"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token",` +
			`"urn:ietf:params:oauth:grant-type:jwt-bearer"]`, "Program"},
		"a grant by device":  {`"grant_types":["authorization_code","urn:ietf:params:oauth:grant-type:device_code"]`, "Program"},
		"a refresh alone":    {`"grant_types":["refresh_token","client_credentials"]`, "Program"},
		"two answers":        {`"response_types":["code","token"]`, "Program"},
		"a secret":           {`"token_endpoint_auth_method":"client_secret_basic"`, "Program"},
		"a secret in a form": {`"token_endpoint_auth_method":"client_secret_post"`, "Program"},
		"a key of its own":   {`"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"https://a.example/jwks"`, "Program"},
		"a long name":        {`"client_name":"` + strings.Repeat("Long ", 40) + `"`, strings.TrimSpace(strings.Repeat("Long ", 13))[:64]},
		"unknown members": {`"resource":"https://x.example","logo_uri":"https://x.example/l.png","scope":"openid x",` +
			`"software_id":7,"contacts":[],"application_type":"native","default_acr_values":null`, "Program"},
		"an invisible name": {`"client_name":"\u3164\u2800"`, "Program"},
		"empty lists":       {`"grant_types":[],"response_types":[]`, "Program"},
	} {
		status, a := s.posted(t, "/oauth/register", `{`+redirects+`,`+c.members+`}`, "application/json")
		if status != http.StatusCreated || a["token_endpoint_auth_method"] != "none" || a["client_secret"] != nil ||
			fmt.Sprint(a["grant_types"]) != "[authorization_code refresh_token]" ||
			fmt.Sprint(a["response_types"]) != "[code]" || a["client_name"] != c.shown {
			t.Errorf("%s: %d %v", name, status, a)
		}
	}
}

// Programs register the addresses of all their versions: up to 20 (outline/outline #13583), of which those that the
// service supports are kept.
func TestTheAddressesOfRegistrations(t *testing.T) {
	s := start(t)
	var many []string
	for n := range 20 {
		many = append(many, fmt.Sprintf("http://localhost:%d/callback", 33418+n))
	}
	for name, c := range map[string]struct{ sent, kept []string }{
		"twenty":                    {many, many},
		"one of an unknown program": {[]string{many[0], "example:/callback", "http://a.example/"}, many[:1]},
	} {
		raw, err := json.Marshal(map[string]any{"redirect_uris": c.sent})
		if err != nil {
			t.Fatal(err)
		}
		status, a := s.posted(t, "/oauth/register", string(raw), "application/json")
		if status != http.StatusCreated || fmt.Sprint(a["redirect_uris"]) != fmt.Sprint(c.kept) {
			t.Errorf("%s: %d %v", name, status, a)
		}
	}
}

// Unknown parameters are ignored, whatever they have, and so is a value that is empty. A state has up to 2,048
// characters, also where the person signs in on the way. A program may ask for several resources.
func TestParametersAsProgramsSendThem(t *testing.T) {
	s := start(t)
	b, p := s.signedIn(t, "developer"), s.registered(t)
	long := strings.Repeat("aZ09-_~.", 256)
	for name, change := range map[string]url.Values{
		"a long state":          {"state": {long}},
		"a state of n8n":        {"state": {strings.Repeat("eyJ0b2tlbiI6", 38) + "=="}},
		"a nonce":               {"nonce": {strings.Repeat("n", 5000)}},
		"an unknown one twice":  {"ui_locales": {"de", "en"}},
		"scopes of people":      {"scope": {"openid profile email offline_access account:read"}},
		"scopes of others":      {"scope": {"mcp:tools account:read user:inference"}},
		"two resources":         {"resource": {s.BaseURL + "/mcp", s.BaseURL}},
		"a resource with slash": {"resource": {s.BaseURL + "/mcp/"}},
		"no resource":           {"resource": nil},
		"a prompt":              {"prompt": {"consent"}, "access_type": {"offline"}},
	} {
		q := p.ask()
		for key, values := range change {
			q[key] = values
		}
		got := s.consented(b, "/oauth/authorize?"+q.Encode(), url.Values{"scope": {"account:read"}})
		if got.Get("state") != q.Get("state") || got.Get("code") == "" {
			t.Errorf("%s: the program gets %v", name, got)
			continue
		}
		form := p.redeem(got.Get("code"), "client_secret", "", "audience", long, "device_id", "x")
		form["resource"], form["unknown"] = change["resource"], []string{"1", "2"}
		if status, a := s.form(t, "/oauth/token", form); status != http.StatusOK {
			t.Errorf("%s: %d %v", name, status, a)
		}
	}
	// The way through the sign-in keeps a long state: the cookie of the sign-in has less than 4,096 characters.
	at := s.browser(t).send(http.MethodGet, "/oauth/authorize?"+p.ask("state", long).Encode(), nil)
	if to := at.header.Get("Location"); at.status != http.StatusSeeOther || len(to) > 1500 {
		t.Errorf("%d, leads to %.200s", at.status, to)
	}
	for name, form := range map[string]url.Values{
		"one resource of two": {"resource": {s.BaseURL + "/mcp", "https://evil.example"}},
	} {
		got := s.consented(b, "/oauth/authorize?"+p.ask().Encode(), url.Values{"scope": {"account:read"}})
		q := p.redeem(got.Get("code"))
		q["resource"] = form["resource"]
		if status, a := s.form(t, "/oauth/token", q); status != 400 || a["error"] != "invalid_target" {
			t.Errorf("%s: %d %v", name, status, a)
		}
	}
}

// What programs call answers in the form of OAuth, also if it refuses, and pages of others may call it.
func TestErrorsOfProgramsHaveTheFormOfOAuth(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		method, path, body, kind string
		status                   int
	}{
		{"POST", "/oauth/token", "grant_type=%zz", "application/x-www-form-urlencoded", 400},
		{"POST", "/oauth/token", "", "", 400}, {"POST", "/oauth/token", "{}", "application/json", 400},
		{"GET", "/oauth/token", "", "", 405}, {"PUT", "/oauth/register", "", "", 405},
		{"POST", "/oauth/register", "[", "application/json", 400}, {"POST", "/oauth/register", "x", "text/plain", 400},
		{"POST", "/oauth/register", `{"redirect_uris":["` + strings.Repeat("x", 20<<10) + `"]}`, "application/json", 400},
		{"POST", "/oauth/revoke", "token=x", "application/x-www-form-urlencoded", 400},
		{"POST", "/oauth/introspect", "token=x", "application/x-www-form-urlencoded", 404}, {"GET", "/oauth/x", "", "", 404},
		{"POST", "/oauth/token", "grant_type=" + strings.Repeat("x", 200<<10), "application/x-www-form-urlencoded", 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, s.BaseURL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {c.kind}, "Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://inspector.example"}}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var a struct {
			Code string `json:"error"`
			Text string `json:"error_description"`
		}
		err = json.NewDecoder(resp.Body).Decode(&a)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || a.Code == "" || a.Text == "" {
			t.Errorf("%s %s %.30q: %d %+v %v", c.method, c.path, c.body, resp.StatusCode, a, err)
		}
	}
	for _, path := range []string{"/oauth/token", "/oauth/register", "/oauth/revoke"} {
		at := s.browser(t).send(http.MethodOptions, path, nil)
		if at.status != http.StatusNoContent || at.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("a page of another asks for %s: %d %v", path, at.status, at.header)
		}
	}
	at := s.browser(t).send(http.MethodGet, "/.well-known/oauth-authorization-server", nil)
	if at.header.Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(at.body, `"client_id_metadata_document_supported":true`) {
		t.Errorf("the metadata: %v %s", at.header, at.body)
	}
}

// Of two refreshes at the same moment both get the same answer, and the connection lives.
func TestTwoRefreshesAtOnce(t *testing.T) {
	s := start(t)
	b, p := s.signedIn(t, "developer"), s.registered(t)
	_, refresh := p.tokens(b)
	type answer struct {
		status int
		body   map[string]any
	}
	answers := make(chan answer, 2)
	for range 2 {
		go func() {
			status, body := s.form(t, "/oauth/token", p.renew(refresh))
			answers <- answer{status, body}
		}()
	}
	first, second := <-answers, <-answers
	if first.status != 200 || second.status != 200 || first.body["access_token"] != second.body["access_token"] ||
		first.body["refresh_token"] != second.body["refresh_token"] || !s.may(t, fmt.Sprint(first.body["access_token"])) {
		t.Errorf("%+v and %+v", first, second)
	}
}

// Whoever guesses at codes is refused in the end, in the form of the path.
func TestGuessesAtCodesAreBounded(t *testing.T) {
	s := start(t)
	now := s.clock.now()
	s.clock.advance(now.Truncate(session.GuessWindow).Add(session.GuessWindow).Sub(now)) // a new window
	for n := range 101 {
		status, a := s.form(t, "/auth/cli/token", url.Values{"code": {"guessed"}, "code_verifier": {programProof}})
		if want := map[bool]int{false: 400, true: 429}[n == 100]; status != want {
			t.Fatalf("guess %d: %d %v", n+1, status, a)
		}
	}
	b := s.browser(t)
	for n := range 101 {
		at := b.send(http.MethodPost, "/setup", url.Values{"link": {"guessed"}})
		if want := map[bool]int{false: 404, true: 429}[n == 100]; at.status != want {
			t.Fatalf("link %d: %d", n+1, at.status)
		}
	}
	p := s.registered(t)
	for n := range 1001 {
		status, a := s.form(t, "/oauth/token", p.redeem("guessed"))
		if want := map[bool]int{false: 400, true: 429}[n == 1000]; status != want {
			t.Fatalf("code %d: %d %v", n+1, status, a)
		}
	}
}
