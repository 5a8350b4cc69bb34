//go:build console

package console

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/standalone"
	"github.com/content-automation/api/pkg/base/tenant"
)

// mostBytes is what the first visit of a page takes at most, compressed and without the account's own media. Names in
// other scripts take more fonts. A second visit takes at most mostAgain, with the account's media.
const mostBytes, mostWithFonts, mostAgain = 60_000, 85_000, 20_000

// hostile is text that would be a script, if a page did not escape it.
const hostile = `"><script>hostile=1</script><img src=x onerror=hostile=1>{{.}}`

// lived fills the demo account with what the pages show: keys with calls of many days, content, webhooks with
// deliveries.
func (s *system) lived(t *testing.T, receiver string) (pages []string) {
	t.Helper()
	must := func(key, method, path string, body any, want int) map[string]any {
		t.Helper()
		status, data := s.call(t, key, method, path, body)
		if status != want {
			t.Fatalf("%s %s: %d %v", method, path, status, data)
		}
		return data
	}
	type object = map[string]any
	all := []string{"account:read", "account:manage", "factories:read", "factories:write", "content:read", "content:write"}
	keys := map[string]string{}
	var id string
	for _, name := range []string{"CRM integration", "Nightly import", hostile} {
		made := must(s.Live, "POST", "/v1/api-keys", object{"name": name, "kind": "live", "scopes": all}, 201)
		keys[name], id = made["secret"].(string), made["id"].(string)
	}
	gone := must(s.Live, "POST", "/v1/api-keys", object{"name": "Old shop", "kind": "live", "scopes": all}, 201)
	must(s.Live, "DELETE", "/v1/api-keys/"+gone["id"].(string), nil, 200)
	factory := must(s.Live, "POST", "/v1/factories", object{"type": "brand", "name": "Acme " + hostile,
		"settings": object{"brand_name": "Acme"}}, 201)["id"]
	for _, to := range []string{receiver, receiver + "down"} {
		hook := must(s.Live, "POST", "/v1/webhooks", object{"url": to, "event_types": []string{"content.*"},
			"description": hostile}, 201)
		pages = append(pages, "/settings/webhooks/"+hook["id"].(string))
	}
	for day := range 12 {
		for n := range 2 + day*3%7 {
			must(keys["CRM integration"], "GET", "/v1/me", nil, 200)
			if n%2 == 0 {
				must(keys["Nightly import"], "GET", "/v1/factories", nil, 200)
			}
		}
		must(keys[hostile], "GET", "/v1/me", nil, 200)
		kind := []string{"post", "carousel", "story"}[day%3]
		item := must(keys["CRM integration"], "POST", "/v1/content-items", object{"factory_id": factory, "kind": kind,
			"prompt": "A shoe of recycled nets"}, 202)["id"].(string)
		for must(s.Live, "GET", "/v1/content-items/"+item, nil, 200)["state"] != "generated" {
			select {
			case <-t.Context().Done():
				t.Fatal("the test ends before the item is generated")
			case <-time.After(20 * time.Millisecond):
			}
		}
		s.clock.advance(24 * time.Hour)
		must(keys["CRM integration"], "GET", "/v1/me", nil, 200)
		must(keys["Nightly import"], "GET", "/v1/me", nil, 200)
	}
	down := pages[1]
	failed := s.first(t, "/v1"+strings.TrimPrefix(down, "/settings")+"/deliveries?limit=1")
	event, call := s.first(t, "/v1/events?limit=1"), s.entries(t, "limit=1&key_id="+id)[0].RequestID
	return append(pages[:1], "/settings", down+"/edit", down+"/replay", down+"/deliveries/"+failed,
		"/settings/events/"+event, "/settings/audit-log/"+call, "/settings/api-keys/"+id+"/edit", "/settings/mandates", "/settings/programs",
		"/settings/audit-log?reads=1", "/settings/api-keys", "/settings/api-keys/"+id, "/settings/api-keys/new", "/settings/webhooks",
		"/settings/events", "/settings/usage", "/settings/social-accounts", "/settings/service-levels", "/settings/audit-log",
		"/settings/people", "/settings/sign-on", "/settings/profile", "/settings/cli?"+cliForm().Encode())
}

// A dialog on a connection that is dead or slow: the person is told, and nothing is lost.
func TestDialogsOnADeadConnectionInChromium(t *testing.T) {
	s := start(t)
	s.must(t, "POST", "/v1/api-keys", map[string]any{"name": "CRM", "kind": "live", "scopes": []string{"account:read"}}, 201)
	s.inChromium(t, "offline.mjs", nil, map[string]any{})
}

func TestTheAccountAreaInChromium(t *testing.T) {
	issuer := newFront(t)
	s := startAt(t, -12*24*time.Hour, func(o *standalone.Options) { o.ProviderRoots = issuer.roots() })
	issuer.run(t, s.BaseURL+"/_identity/oauth2/idpresponse")
	records := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.dns.set(r.FormValue("name"), r.FormValue("text"))
	}))
	defer records.Close()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "down") {
			http.Error(w, "<script>hostile=1</script>", http.StatusBadGateway)
		}
	}))
	defer receiver.Close()
	later := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		s.clock.advance(16 * time.Minute)
	}))
	defer later.Close()
	repaired := newReceiver(t)
	repair := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		repaired.broken.Store(false)
	}))
	defer repair.Close()
	pages := s.lived(t, receiver.URL+"/")
	factory := s.must(t, "POST", "/v1/factories", map[string]any{"type": "brand", "name": "Harbour",
		"settings": map[string]any{"brand_name": "Harbour"}}, 201)["id"]
	// The invitations have expired.
	if err := s.InviteUsers(t.Context(), tenant.Account(s.Account)); err != nil {
		t.Fatal(err)
	}
	s.inChromium(t, "check.mjs", pages, map[string]any{"receiver": receiver.URL + "/made", "advance": later.URL,
		"issuer": issuer.URL, "client": oidcClient, "secret": oidcSecret, "metadata": newCustomer(t, s).metadata(t),
		"records": records.URL,
		"key":     s.Live, "post": map[string]any{"factory_id": factory, "kind": "post", "source": "provided",
			"caption": "A new roast"}, "broken": repaired.URL + "/hook", "repair": repair.URL})
}

// sight is what a script has seen.
type sight struct {
	Elsewhere, Complaints, Violations, Wrong []string
	// Bytes and Again are the weights of the first and second visits of pages, and Paints the milliseconds to their
	// first content.
	Bytes    map[string]int
	Again    map[string]int
	Paints   map[string]float64
	Pictures int
	// Walk is the journey of a script, and Walks are those of persons.
	Walk  walk
	Walks map[string]walk
}

// walk counts what a person did, and adds up the seconds of the person and of the pages.
type walk struct {
	Clicks, Keys, Loads int
	Person, Pages       float64
}

// inChromium runs a script of the folder browser, with what it needs beside the pages. What it has seen decides.
func (s *system) inChromium(t *testing.T, script string, pages []string, in map[string]any) (seen sight) {
	t.Helper()
	chromium := ""
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = found
		}
	}
	if chromium == "" {
		t.Fatal("no Chromium found: install it (on Debian: apt-get install chromium), or set CHROMIUM to its path")
	}
	pictures, err := filepath.Abs(filepath.Join("..", "..", "..", ".local", "console"))
	if err == nil {
		err = os.MkdirAll(pictures, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	pace := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		s.clock.advance(3 * time.Second)
	}))
	defer pace.Close()
	maps.Copy(in, map[string]any{"chromium": chromium, "base": s.BaseURL, "password": s.Password(), "pictures": pictures,
		"pages": pages, "only": os.Getenv("ONLY"), "pace": pace.URL})
	given, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "browser/"+script, string(given))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for what, found := range map[string][]string{"asked another host": seen.Elsewhere, "the browser complains": seen.Complaints,
		"hinders people": seen.Violations, "wrong": seen.Wrong} {
		for _, one := range found {
			t.Errorf("%s: %s", what, one)
		}
	}
	most := mostBytes
	if in["scripts"] != nil {
		most = mostWithFonts
	}
	for path, bytes := range seen.Bytes {
		t.Logf("%s: %d bytes compressed, then %d, first content after %.0f ms", path, bytes, seen.Again[path],
			seen.Paints[path])
		if again := seen.Again[path]; again > mostAgain || again == 0 {
			t.Errorf("%s takes %d bytes again, more than %d", path, again, mostAgain)
		}
		if bytes > most || bytes == 0 {
			t.Errorf("%s takes %d bytes, more than %d", path, bytes, most)
		}
	}
	if len(seen.Bytes) != len(pages) && os.Getenv("ONLY") == "" {
		t.Errorf("the weight of %d pages is known, not of %d", len(seen.Bytes), len(pages))
	}
	t.Logf("%d pictures in %s, base %s", seen.Pictures, pictures, url.PathEscape(s.BaseURL))
	return seen
}
