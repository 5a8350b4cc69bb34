package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth/session"
)

var leadingOn = regexp.MustCompile(`http-equiv="refresh" content="0;url=([^"]+)"`)

var (
	hiddenWish  = regexp.MustCompile(`name="wish" value="([^"]+)"`)
	endsProgram = regexp.MustCompile(`href="([^"]*/settings/programs/key_[^"?]+/end)"`)
)

// verifier is the verifier of the tests that are the command line themselves.
const verifier = "a-verifier-of-the-command-line-of-43-characters"

// cliForm is the form of the page that confirms a key, after a change.
func cliForm(change ...string) url.Values {
	form := url.Values{"port": {"40123"}, "challenge": {session.Challenge(verifier)}, "state": {"state-of-the-login"},
		"name": {"laptop"}, "kind": {"test"}, "preset": {"all"}}
	for i := 0; i < len(change); i += 2 {
		form.Set(change[i], change[i+1])
	}
	return form
}

// confirm confirms a key, and returns the code for it.
func (s *system) confirm(b *browser, form url.Values) string {
	b.t.Helper()
	p := b.post("/settings/cli", form)
	found := leadingOn.FindStringSubmatch(p.body)
	if p.status != http.StatusOK || found == nil {
		b.t.Fatalf("%d: %s", p.status, p.body)
	}
	at, err := url.Parse(html.UnescapeString(found[1]))
	if err != nil || at.Scheme != "http" || at.Host != "127.0.0.1:40123" || at.Path != "/callback" ||
		at.Query().Get("state") != "state-of-the-login" || strings.Contains(p.body, "svc_") {
		b.t.Fatalf("the page leads to %s, %v", found[1], err)
	}
	return at.Query().Get("code")
}

// redeemed returns the answer for a code.
func (s *system) redeemed(t *testing.T, code, verifier string) (status int, answer map[string]any) {
	t.Helper()
	p := s.browser(t).send(http.MethodPost, "/auth/cli/token", url.Values{"code": {code}, "code_verifier": {verifier}})
	if err := json.Unmarshal([]byte(p.body), &answer); err != nil {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if p.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer may be cached: %s", p.header.Get("Cache-Control"))
	}
	return p.status, answer
}

func TestTheKeyOfACommandLine(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "developer")
	p := b.get("/settings/cli?" + cliForm().Encode())
	for _, text := range []string{"Command line on laptop", "After 90 days", "Sandbox", "Everything",
		`href="http://127.0.0.1:40123/callback?error=access_denied&amp;state=state-of-the-login"`} {
		if !strings.Contains(p.body, text) {
			t.Errorf("the page lacks %q: %d %s", text, p.status, p.body)
		}
	}
	// Without a choice the key is for the sandbox and cannot publish, also if the account area shows live data.
	asked := cliForm()
	asked.Del("kind")
	asked.Del("preset")
	b.post("/settings/mode", url.Values{"mode": {"live"}})
	p = b.get("/settings/cli?" + asked.Encode())
	if strings.Contains(p.body, `<option value="live" selected`) || !strings.Contains(p.body, `<option value="make" selected`) {
		t.Errorf("the page has chosen: %s", p.body)
	}
	code := s.confirm(b, cliForm("preset", "read"))
	status, answer := s.redeemed(t, code, verifier)
	ends, err := time.Parse(time.RFC3339, fmt.Sprint(answer["expires_at"]))
	if err != nil || !strings.Contains(p.body, ends.Format("2 Jan 2006")) {
		t.Errorf("the command line is told %v, the page says another day: %s", answer["expires_at"], p.body)
	}
	secret, _ := answer["access_token"].(string)
	if status != http.StatusOK || !strings.HasPrefix(secret, "svc_test_") || answer["mode"] != "test" ||
		answer["token_type"] != "Bearer" || answer["expires_in"].(float64) < 89*86400-60 {
		t.Fatalf("%d %v", status, answer)
	}
	status, me := s.call(t, secret, "GET", "/v1/me", nil)
	key, _ := me["key"].(map[string]any)
	if status != http.StatusOK || key["id"] != answer["key_id"] || key["name"] != "Command line on laptop" ||
		len(key["scopes"].([]any)) != 4 {
		t.Errorf("%d %v", status, key)
	}
	if status, again := s.redeemed(t, code, verifier); status != http.StatusBadRequest || again["error"] != "invalid_grant" {
		t.Errorf("a second time: %d %v", status, again)
	}
}

func TestACodeOfACommandLineThatIsRefused(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	for name, c := range map[string]struct {
		code     func(code string) string
		verifier string
		want     string
	}{
		"wrong verifier":   {func(code string) string { return code }, verifier + "x", "invalid_grant"},
		"without verifier": {func(code string) string { return code }, "", "invalid_request"},
		"without code":     {func(string) string { return "" }, verifier, "invalid_request"},
		"wrong code":       {func(code string) string { return code + "x" }, verifier, "invalid_grant"},
		"expired code": {func(code string) string {
			s.clock.advance(2 * time.Minute)
			return code
		}, verifier, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := s.redeemed(t, c.code(s.confirm(b, cliForm())), c.verifier)
			if status != http.StatusBadRequest || answer["error"] != c.want || answer["access_token"] != nil {
				t.Errorf("%d %v", status, answer)
			}
		})
	}
	// A wrong verifier uses the code up.
	code := s.confirm(b, cliForm())
	s.redeemed(t, code, "wrong")
	if status, answer := s.redeemed(t, code, verifier); status != http.StatusBadRequest {
		t.Errorf("after a wrong verifier: %d %v", status, answer)
	}
}

func TestARequestOfACommandLineThatIsRefused(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	before := strings.Count(b.get("/settings/api-keys").body, "Command line on")
	for _, bad := range [][]string{{"port", ""}, {"port", "0"}, {"port", "65536"}, {"port", "80@evil.example"},
		{"port", "1/../x"}, {"challenge", ""}, {"challenge", "short"}, {"challenge", strings.Repeat("=", 43)}, {"state", ""},
		{"state", "has spaces in the state"}, {"state", strings.Repeat("s", 129)}, {"name", ""}, {"name", "a\nb"},
		{"name", strings.Repeat("n", 65)}, {"name", "\xff"}} {
		form := cliForm(bad...)
		for _, p := range []page{b.get("/settings/cli?" + form.Encode()), b.post("/settings/cli", form)} {
			if p.status != http.StatusUnprocessableEntity || !strings.Contains(p.body, "parameter "+bad[0]) {
				t.Errorf("%q: %d %s", bad, p.status, p.body)
			}
		}
	}
	for _, bad := range [][]string{{"kind", "other"}, {"preset", "other"}} {
		if p := b.post("/settings/cli", cliForm(bad...)); p.status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", bad, p.status)
		}
	}
	hostile := b.get("/settings/cli?" + cliForm("name", `"><script>x</script>`).Encode())
	if hostile.status != http.StatusOK || strings.Contains(hostile.body, "<script>x") {
		t.Errorf("a hostile name: %d", hostile.status)
	}
	if after := strings.Count(b.get("/settings/api-keys").body, "Command line on"); after != before {
		t.Errorf("%d keys were created", after-before)
	}
	auditor := s.signedIn(t, "auditor")
	if p := auditor.get("/settings/cli?" + cliForm().Encode()); p.status != http.StatusForbidden {
		t.Errorf("an auditor gets %d", p.status)
	}
	// A form that is sent twice makes one key. Later the API does not repeat its secret.
	form := cliForm("once", "one")
	_, first := s.redeemed(t, s.confirm(b, form), verifier)
	if _, again := s.redeemed(t, s.confirm(b, form), verifier); again["key_id"] != first["key_id"] {
		t.Errorf("a form that was sent twice makes %v and %v", first["key_id"], again["key_id"])
	}
	s.clock.advance(11 * time.Minute)
	if p := b.post("/settings/cli", form); p.status != http.StatusConflict {
		t.Errorf("a form that was sent before: %d %s", p.status, p.body)
	}
	s.clock.advance(16 * time.Minute)
	p := b.get("/settings/cli?" + cliForm().Encode())
	if p.status != http.StatusForbidden || !strings.Contains(p.body, "Confirm that it is you") {
		t.Fatalf("after 16 minutes: %d %s", p.status, p.body)
	}
	// The sign-in comes back to the page, with its parameters.
	again := regexp.MustCompile(`href="([^"]*again=1[^"]*)"`).FindStringSubmatch(p.body)
	p = s.give(b, b.get(html.UnescapeString(again[1])), "owner@demo.example")
	if p.status != http.StatusOK || !strings.Contains(p.body, "Command line on laptop") {
		t.Errorf("%d at %s", p.status, p.at)
	}
}

// The command signs in, calls the API without a key in its environment, and signs out.
func TestTheCommandLineSignsIn(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	folder := t.TempDir()
	program := filepath.Join(folder, "cli")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program,
		"../../../clients/cli").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder, "BASE_URL=", "SVC_API_KEY=")
		return cmd
	}
	login := command("login", "--no-browser", "--base-url", s.BaseURL+"/v1/")
	var said bytes.Buffer
	login.Stdout = &said
	notes, err := login.StderrPipe()
	if err == nil {
		err = login.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, address, told := bufio.NewScanner(notes), "", ""
	for address == "" && lines.Scan() {
		if told += lines.Text() + "\n"; strings.HasPrefix(lines.Text(), s.BaseURL) {
			address = lines.Text()
		}
	}
	if address == "" {
		t.Fatalf("the command shows no address: %s", told)
	}
	b := s.signedIn(t, "owner")
	at, err := url.Parse(address)
	if err != nil || b.get(address).status != http.StatusOK {
		t.Fatalf("the address is %q", address)
	}
	form := at.Query()
	form.Set("kind", "live")
	form.Set("preset", "all")
	p := b.post("/settings/cli", form)
	to := html.UnescapeString(leadingOn.FindStringSubmatch(p.body)[1])
	// A forged state has no effect.
	if p := b.send(http.MethodGet, strings.Replace(to, "state=", "state=x", 1), nil); p.status != http.StatusBadRequest {
		t.Errorf("a forged state: %d", p.status)
	}
	if p := b.send(http.MethodGet, to, nil); p.status != http.StatusOK {
		t.Errorf("%d %s", p.status, p.body)
	}
	if err := login.Wait(); err != nil || !strings.Contains(said.String(), "Signed in to "+s.BaseURL) {
		t.Fatalf("%v: %s", err, said.String())
	}
	file := filepath.Join(folder, "content-automation", "credentials.json")
	stored, err := os.Stat(file)
	if err != nil || stored.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", stored, err)
	}
	out, err := command("account", "get", "--json").Output()
	if err != nil || !bytes.Contains(out, []byte(`"mode":"live"`)) {
		t.Fatalf("%v: %s", err, out)
	}
	var kept struct {
		Key string `json:"api_key"`
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command("logout").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("after the logout: %v", err)
	}
	if status, _ := s.call(t, kept.Key, "GET", "/v1/me", nil); status != http.StatusUnauthorized {
		t.Errorf("the key of the login gets %d", status)
	}
}

// A key is handed to nobody if the person who has confirmed it may not create keys any more.
func TestACodeOfAPersonWhoMayNotCreateKeysAnyMore(t *testing.T) {
	s := start(t)
	owner := s.signedIn(t, "owner")
	for user, form := range map[string]url.Values{"developer": {"role": {"auditor"}}, "admin": nil} {
		code := s.confirm(s.signedIn(t, user), cliForm())
		found := regexp.MustCompile(user + `@demo\.example(?s:.*?)/settings/people/(usr_[a-z0-9]+)/`).FindStringSubmatch(
			owner.get("/settings/people").body)
		if found == nil {
			t.Fatalf("the page of people lacks the %s", user)
		}
		path := "/settings/people/" + found[1]
		if form == nil {
			path += "/remove"
		} else {
			path += "/role"
		}
		if p := owner.post(path, form); p.status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, p.status, p.body)
		}
		if status, answer := s.redeemed(t, code, verifier); status != http.StatusBadRequest ||
			answer["error"] != "invalid_grant" || answer["access_token"] != nil {
			t.Errorf("%s: %d %v", user, status, answer)
		}
	}
}
