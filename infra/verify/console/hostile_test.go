package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/auth/session"
)

// hostile are tries at the endpoints of programs that give nothing away. Each has the answer that it gets.
func TestHostileTriesAtTheEndpointsOfPrograms(t *testing.T) {
	s := start(t)
	b, p, other := s.signedIn(t, "developer"), s.registered(t), s.registered(t)
	tries := 0
	long := strings.Repeat("a", 2049)

	// At the authorization endpoint nothing leads to the program, and no code is made.
	for name, q := range map[string]url.Values{
		"no program":                       p.ask("client_id", "-"),
		"an unknown program":               p.ask("client_id", "prg_UNKNOWN"),
		"a program with another character": p.ask("client_id", p.id+"x"),
		"a path as a program":              p.ask("client_id", "prg_../../x"),
		"no address":                       p.ask("redirect_uri", "-"),
		"the address of another":           p.ask("redirect_uri", "https://evil.example/callback"),
		"another path":                     p.ask("redirect_uri", "http://127.0.0.1:40999/callback/x"),
		"another host of the computer":     p.ask("redirect_uri", "http://localhost:40999/callback"),
		"a user in the address":            p.ask("redirect_uri", "http://127.0.0.1:40999@evil.example/callback"),
		"a fragment":                       p.ask("redirect_uri", programReturn+"#x"),
		"a query":                          p.ask("redirect_uri", programReturn+"?x=1"),
		"https in place of http":           p.ask("redirect_uri", "https://127.0.0.1:40999/callback"),
		"a script":                         p.ask("redirect_uri", "javascript:alert(1)"),
		"a token in place of a code":       p.ask("response_type", "token"),
		"no kind of answer":                p.ask("response_type", "-"),
		"no challenge":                     p.ask("code_challenge", "-"),
		"a plain challenge":                p.ask("code_challenge_method", "plain"),
		"no method":                        p.ask("code_challenge_method", "-"),
		"a short challenge":                p.ask("code_challenge", "abc"),
		"a scope that is none":             p.ask("scope", "admin"),
		"scopes that are none":             p.ask("scope", "openid admin root"),
		"the resource of another":          p.ask("resource", "https://evil.example/mcp"),
		"a state with a line":              p.ask("state", "a\nb"),
		"a state that is too long":         p.ask("state", long),
		"two programs":                     {"client_id": {p.id, other.id}, "redirect_uri": {programReturn}},
	} {
		tries++
		for _, path := range []string{"/oauth/authorize?", "/settings/programs/connect?"} {
			at := b.send(http.MethodGet, path+q.Encode(), nil)
			if at.status != http.StatusBadRequest || at.header.Get("Location") != "" ||
				strings.Contains(at.body, `http-equiv="refresh"`) || hiddenWish.MatchString(at.body) {
				t.Errorf("%s at %s: %d, leads to %q", name, path, at.status, at.header.Get("Location"))
			}
		}
	}

	// At the page of consent a form counts only as the page has sent it, and grants what was asked for.
	wish := p.ask().Encode()
	for name, form := range map[string]url.Values{
		"no wish": {"kind": {"test"}, "scope": {"account:read"}},
		"a wish of another return": {"wish": {p.ask("redirect_uri", "https://evil.example/").Encode()},
			"kind": {"test"}, "scope": {"account:read"}},
		"more scopes than asked": {"wish": {wish}, "kind": {"test"}, "scope": {"content:publish"}},
		"the account itself":     {"wish": {wish}, "kind": {"test"}, "scope": {"account:manage"}},
		"no scope":               {"wish": {wish}, "kind": {"test"}},
		"a mode that is none":    {"wish": {wish}, "kind": {"all"}, "scope": {"account:read"}},
	} {
		tries++
		if at := b.post("/settings/programs/connect", form); at.status < 400 || leadingOn.MatchString(at.body) {
			t.Errorf("%s: %d", name, at.status)
		}
	}
	tries++ // a form of another site, without the token of the session
	form := url.Values{"wish": {wish}, "kind": {"test"}, "scope": {"account:read"}}
	if at := b.send(http.MethodPost, "/settings/programs/connect", form); at.status != http.StatusForbidden {
		t.Errorf("a form without its token: %d", at.status)
	}

	// At the token endpoint.
	fresh := func(change ...string) url.Values { return p.redeem(p.code(b), change...) }
	_, refresh := p.tokens(b)
	for name, c := range map[string]struct {
		form   url.Values
		status int
		code   string
	}{
		"a wrong verifier": {fresh("code_verifier", programProof+"x"), 400, "invalid_grant"},
		"no verifier":      {fresh("code_verifier", "-"), 400, "invalid_request"},
		"a short verifier": {fresh("code_verifier", "short"), 400, "invalid_request"},
		"the challenge as the verifier": {fresh("code_verifier", session.Challenge(programProof)), 400,
			"invalid_grant"},
		"another return address": {fresh("redirect_uri", "http://127.0.0.1:41000/callback"), 400,
			"invalid_grant"},
		"no return address":            {fresh("redirect_uri", "-"), 400, "invalid_request"},
		"the code of another program":  {fresh("client_id", other.id), 400, "invalid_grant"},
		"a program that is none":       {fresh("client_id", "prg_NONE"), 401, "invalid_client"},
		"a secret":                     {fresh("client_secret", "x"), 401, "invalid_client"},
		"a code that is none":          {p.redeem("guessed"), 400, "invalid_grant"},
		"a code that is too long":      {p.redeem(long), 400, "invalid_request"},
		"a code as a refresh token":    {p.renew(p.code(b)), 400, "invalid_grant"},
		"a refresh token as a code":    {p.redeem(refresh), 400, "invalid_grant"},
		"a refresh token of another":   {p.renew(refresh, "client_id", other.id), 400, "invalid_grant"},
		"a refresh token that is none": {p.renew("guessed"), 400, "invalid_grant"},
		"a password": {url.Values{"grant_type": {"password"}, "client_id": {p.id},
			"username": {"owner"}, "password": {"x"}}, 400, "unsupported_grant_type"},
		"the credentials of the program": {url.Values{"grant_type": {"client_credentials"}, "client_id": {p.id}}, 400,
			"unsupported_grant_type"},
		"another resource": {fresh("resource", "https://evil.example"), 400, "invalid_target"},
		"a parameter twice": {url.Values{"grant_type": {"authorization_code"}, "client_id": {p.id, p.id}},
			400, "invalid_request"},
	} {
		tries++
		status, answer := s.form(t, "/oauth/token", c.form)
		if status != c.status || answer["error"] != c.code || answer["access_token"] != nil {
			t.Errorf("%s: %d %v, want %d %s", name, status, answer, c.status, c.code)
		}
	}
	for name, header := range map[string][]string{"a password in the header": {"Authorization", "Basic eDp5"},
		"a key in the header": {"Authorization", "Bearer " + s.Live}} {
		tries++
		status, answer := s.posted(t, "/oauth/token", fresh().Encode(), "application/x-www-form-urlencoded", header...)
		if status != http.StatusUnauthorized || answer["error"] != "invalid_client" {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	tries++
	if status, answer := s.posted(t, "/oauth/token", `{"grant_type":"refresh_token"}`,
		"application/json"); status != 400 {
		t.Errorf("JSON: %d %v", status, answer)
	}
	tries++
	if at := b.send(http.MethodGet, "/oauth/token?"+p.renew(refresh).Encode(),
		nil); at.status != http.StatusMethodNotAllowed {
		t.Errorf("a token in an address: %d", at.status)
	}
	tries++
	if status, _ := s.form(t, "/oauth/revoke", url.Values{"client_id": {other.id}, "token": {refresh}}); status != 400 {
		t.Errorf("another program revokes: %d", status)
	}

	// At the registration.
	for name, body := range map[string]string{
		"a script":             `{"redirect_uris":["javascript:alert(1)"]}`,
		"data":                 `{"redirect_uris":["data:text/html,x"]}`,
		"a script with a host": `{"redirect_uris":["javascript://a.example/%0aalert(1)"]}`,
		"a file":               `{"redirect_uris":["file:///etc/passwd"]}`,
		"a scheme without dot": `{"redirect_uris":["example:/callback"]}`,
		"a host without dot":   `{"redirect_uris":["https://intranet/callback"]}`,
		"http elsewhere":       `{"redirect_uris":["http://evil.example/"]}`,
		"a wildcard":           `{"redirect_uris":["https://*.evil.example/"]}`,
		"an address by number": `{"redirect_uris":["https://169.254.169.254/"]}`,
		"a fragment":           `{"redirect_uris":["https://a.example/#x"]}`,
		"a user":               `{"redirect_uris":["https://u:p@a.example/"]}`,
		"none":                 `{"redirect_uris":[]}`,
		"twenty-one": `{"redirect_uris":["` + strings.Repeat(`https://a.example/x","`, 20) +
			`https://a.example/y"]}`,
		"bad ones alone":     `{"redirect_uris":["javascript:alert(1)","http://evil.example/"]}`,
		"a password alone":   `{"redirect_uris":["https://a.example/"],"grant_types":["password"]}`,
		"a token alone":      `{"redirect_uris":["https://a.example/"],"response_types":["token"]}`,
		"a number as name":   `{"redirect_uris":["https://a.example/"],"client_name":5}`,
		"a name with a line": `{"redirect_uris":["https://a.example/"],"client_name":"a\u202Eb"}`,
		"no JSON":            `redirect_uris=x`,
	} {
		tries++
		if status, answer := s.posted(t, "/oauth/register", body, "application/json"); status != 400 ||
			answer["client_id"] != nil {
			t.Errorf("registration with %s: %d %v", name, status, answer)
		}
	}
	if tries < 40 {
		t.Errorf("only %d tries", tries)
	}
	// After all that, the connection that nobody has touched still works.
	if status, answer := s.form(t, "/oauth/token", p.renew(refresh)); status != http.StatusBadRequest {
		t.Errorf("a refresh token that was shown as a code is spent: %d %v", status, answer)
	}
}
