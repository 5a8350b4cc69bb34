package console

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/standalone"
)

// documents is a server with the documents of programs.
type documents struct {
	t      *testing.T
	server *httptest.Server

	mu     sync.Mutex
	pages  map[string]func(http.ResponseWriter)
	served map[string]int
}

func newDocuments(t *testing.T) *documents {
	t.Helper()
	d := &documents{t: t, pages: map[string]func(http.ResponseWriter){}, served: map[string]int{}}
	d.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		page := d.pages[r.URL.Path]
		d.served[r.URL.Path]++
		d.mu.Unlock()
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page(w)
	}))
	t.Cleanup(d.server.Close)
	return d
}

// start starts a service that trusts the server.
func (d *documents) start(t *testing.T) *system {
	t.Helper()
	return startAt(t, 0, func(o *standalone.Options) {
		o.ProviderRoots = x509.NewCertPool()
		o.ProviderRoots.AddCert(d.server.Certificate())
	})
}

// put serves a document at a path, and returns its address, which is its client_id unless it has one.
func (d *documents) put(path string, members map[string]any, cache string) string {
	d.t.Helper()
	address := d.server.URL + path
	all := map[string]any{"client_id": address, "client_name": "Acme", "redirect_uris": []string{programReturn}}
	for name, value := range members {
		all[name] = value
	}
	raw, err := json.Marshal(all)
	if err != nil {
		d.t.Fatal(err)
	}
	d.raw(path, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		if cache != "" {
			w.Header().Set("Cache-Control", cache)
		}
		_, _ = w.Write(raw)
	})
	return address
}

func (d *documents) raw(path string, page func(http.ResponseWriter)) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pages[path] = page
	return d.server.URL + path
}

func (d *documents) times(path string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.served[path]
}

// called sends a message to the server for agents.
func (s *system) called(t *testing.T, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// A program that a document describes needs no registration. The person sees the host of the document, and the tokens
// work with its address alone.
func TestAProgramIsDescribedByADocument(t *testing.T) {
	docs := newDocuments(t)
	s := docs.start(t)
	b := s.signedIn(t, "developer")
	id := docs.put("/program.json", map[string]any{"grant_types": []string{"authorization_code", "refresh_token", "x"},
		"token_endpoint_auth_method": "none"}, "max-age=3600")
	p := &program{t, s, id}
	page := b.get("/oauth/authorize?" + p.ask().Encode())
	host := strings.TrimPrefix(docs.server.URL, "https://")
	if page.status != http.StatusOK || !strings.Contains(page.body, host) || !strings.Contains(page.body, "Acme") {
		t.Fatalf("%d %s", page.status, page.body)
	}
	access, refresh := p.tokens(b)
	if !s.may(t, access) {
		t.Error("the token reads nothing")
	}
	other := &program{t, s, docs.put("/other.json", nil, "")}
	if status, a := s.form(t, "/oauth/token", other.renew(refresh)); status != 400 || a["error"] != "invalid_grant" {
		t.Errorf("another program: %d %v", status, a)
	}
	if list := b.get("/settings/programs"); !strings.Contains(list.body, "Acme") || !strings.Contains(list.body, host) {
		t.Errorf("the page lists %s", list.body)
	}
	if status, _ := s.form(t, "/oauth/token", p.renew(refresh)); status != http.StatusOK {
		t.Errorf("renew: %d", status)
	}
	if n := docs.times("/program.json"); n != 1 {
		t.Errorf("the document was read %d times", n)
	}
	// An address of a loopback program has any port.
	if at := b.get("/oauth/authorize?" + p.ask("redirect_uri", "http://127.0.0.1:4/callback").Encode()); at.status != 200 {
		t.Errorf("another port: %d", at.status)
	}
}

// A document is kept for as long as its headers say, at most a day.
func TestDocumentsAreKept(t *testing.T) {
	docs := newDocuments(t)
	s := docs.start(t)
	for n, c := range []struct {
		cache string
		after time.Duration
		again bool
	}{
		{"max-age=3600", 0, false}, {"max-age=3600", 59 * time.Minute, false}, {"max-age=3600", time.Hour, true},
		{"max-age=31536000, immutable", 24*time.Hour - time.Minute, false}, {"max-age=31536000", 24 * time.Hour, true},
		{"max-age=99999999999999999999", 24 * time.Hour, true}, {"no-store", 0, true}, {"no-cache", 0, true},
		{"max-age=0", 0, true}, {"max-age=-5", 0, true}, {"max-age=x", 0, true}, {"", 0, false}, {"", time.Hour, true},
		{"s-maxage=60, max-age=3600", 2 * time.Minute, true}, {"public, max-age=3600, s-maxage=7200", 90 * time.Minute, false},
	} {
		path := fmt.Sprintf("/%d.json", n)
		p := &program{t, s, docs.put(path, nil, c.cache)}
		look := func() {
			if at := s.browser(t).send(http.MethodGet, "/oauth/authorize?"+p.ask().Encode(), nil); at.status != 303 {
				t.Fatalf("%+v: %d", c, at.status)
			}
		}
		look()
		s.clock.advance(c.after)
		look()
		if again := docs.times(path) == 2; again != c.again {
			t.Errorf("%q, after %s: read %d times", c.cache, c.after, docs.times(path))
		}
	}
}

// Nothing of a wrong document is used, and nothing is read from a wrong address.
func TestWrongDocumentsAreRefused(t *testing.T) {
	docs := newDocuments(t)
	s := docs.start(t)
	b := s.signedIn(t, "developer")
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	answer := func(status int, kind, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Location", docs.server.URL+"/right.json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	right := docs.put("/right.json", nil, "")
	document := func(id string) string {
		return `{"client_id":"` + id + `","redirect_uris":["` + programReturn + `"],"x":"`
	}
	for name, id := range map[string]string{
		"another id":         docs.put("/id.json", map[string]any{"client_id": right}, ""),
		"no id":              docs.put("/no-id.json", map[string]any{"client_id": nil}, ""),
		"a secret":           docs.put("/secret.json", map[string]any{"client_secret": "x"}, ""),
		"the end of one":     docs.put("/end.json", map[string]any{"client_secret_expires_at": 0}, ""),
		"a shared secret":    docs.put("/post.json", map[string]any{"token_endpoint_auth_method": "client_secret_post"}, ""),
		"no addresses":       docs.put("/none.json", map[string]any{"redirect_uris": []string{}}, ""),
		"scripts alone":      docs.put("/script.json", map[string]any{"redirect_uris": []string{"javascript:alert(1)"}}, ""),
		"others addresses":   docs.put("/others.json", map[string]any{"redirect_uris": []string{"https://a.example/"}}, ""),
		"no grant of ours":   docs.put("/grant.json", map[string]any{"grant_types": []string{"password"}}, ""),
		"a token":            docs.put("/token.json", map[string]any{"response_types": []string{"token"}}, ""),
		"a page":             docs.raw("/page", answer(200, "text/html", "<html>")),
		"a list":             docs.raw("/list", answer(200, "application/json", "[]")),
		"half of it":         docs.raw("/half", answer(200, "application/json", document(docs.server.URL+"/half"))),
		"a redirect":         docs.raw("/redirect", answer(302, "application/json", "{}")),
		"an error":           docs.raw("/error", answer(500, "application/json", document(docs.server.URL+"/error")+`"}`)),
		"none":               docs.server.URL + "/missing.json",
		"too much":           docs.raw("/large", answer(200, "application/json", document(docs.server.URL+"/large")+strings.Repeat("x", 10<<10)+`"}`)),
		"no path":            docs.server.URL,
		"the root":           docs.server.URL + "/",
		"dots":               docs.server.URL + "/x/../right.json",
		"encoded dots":       docs.server.URL + "/x/%2e%2e/right.json",
		"a fragment":         right + "#x",
		"a user":             strings.Replace(right, "https://", "https://u:p@", 1),
		"no encryption":      plain.URL + "/x.json",
		"a script":           "javascript:alert(1)//x",
		"a file":             "file:///etc/passwd",
		"a private address":  "https://10.0.0.1/x.json",
		"the metadata":       "https://169.254.169.254/x.json",
		"other letters":      "https://b\u00fccher.example/x.json",
		"a host without dot": "https://intranet/x.json",
		"a long one":         docs.server.URL + "/" + strings.Repeat("x", 500),
	} {
		p := &program{t, s, id}
		at := b.send(http.MethodGet, "/oauth/authorize?"+p.ask().Encode(), nil)
		if at.status != http.StatusBadRequest || at.header.Get("Location") != "" || strings.Contains(at.body, "refresh") &&
			leadingOn.MatchString(at.body) {
			t.Errorf("%s: %d, leads to %q", name, at.status, at.header.Get("Location"))
		}
	}
	// The name of another program is not shown.
	for _, name := range []string{"Claude", "Cl\u0430ude", "a\u202Eb", "ChatGPT"} {
		id := docs.put("/named.json", map[string]any{"client_name": name,
			"redirect_uris": []string{programReturn}}, "no-store")
		at := b.get("/oauth/authorize?" + (&program{t, s, id}).ask().Encode())
		if at.status != 200 || strings.Contains(at.body, name) {
			t.Errorf("%s: %d, shown", name, at.status)
		}
	}
	// A guess at the address of a document gets no token.
	if status, a := s.form(t, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {right},
		"refresh_token": {"guessed"}}); status != 400 || a["error"] != "invalid_grant" {
		t.Errorf("a guess: %d %v", status, a)
	}
}

// A server that answers slowly holds nobody for longer than five seconds. The time of the client is that of the
// machine, so that the test asks for its bound alone.
func TestDocumentsAreReadWithinABound(t *testing.T) {
	docs := newDocuments(t)
	s := docs.start(t)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	id := docs.raw("/slow.json", func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"client_id":"`)
		_ = http.NewResponseController(w).Flush()
		<-ended
	})
	began := time.Now()
	at := s.browser(t).send(http.MethodGet, "/oauth/authorize?"+(&program{t, s, id}).ask().Encode(), nil)
	if took := time.Since(began); at.status != http.StatusBadRequest || took > 20*time.Second {
		t.Errorf("%d after %s", at.status, took)
	}
}
