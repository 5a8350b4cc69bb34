package safehttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// wander is a server on which /n/5 redirects to /n/4, and so on to /n/0, which answers with what it was sent.
func wander(t *testing.T) *server {
	return newServer(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/n/0":
			_, _ = fmt.Fprintf(w, "%s %s %q %q %q", r.Method, r.URL.RawQuery, r.Header.Get("Authorization"),
				r.Header.Get("Cookie"), r.Header.Get("Accept"))
		case strings.HasPrefix(path, "/n/"):
			n, _ := strconv.Atoi(path[len("/n/"):])
			statuses := []int{301, 302, 303, 307, 308}
			w.Header().Set("Location", fmt.Sprintf("../n/%d?from=%d#part", n-1, n))
			w.WriteHeader(statuses[n%len(statuses)])
		case path == "/circle":
			http.Redirect(w, r, "/round", http.StatusFound)
		case path == "/round":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case path == "/nowhere":
			w.WriteHeader(http.StatusFound)
		default:
			w.Header().Set("Location", r.URL.Query().Get("to"))
			w.WriteHeader(http.StatusFound)
		}
	})
}

func TestRedirectsAreFollowedAsFarAsTheRulesAllow(t *testing.T) {
	srv := wander(t)
	c := safehttp.New(safehttp.Options{AllowLoopback: true, Redirects: safehttp.MaxRedirects})
	for n := range safehttp.MaxRedirects + 1 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/n/"+strconv.Itoa(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer secret"}, "Cookie": {"a=secret"}, "Accept": {"image/*"}}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatalf("%d redirects: %v", n, err)
		}
		body, err := safehttp.ReadBody(resp, 1000)
		want := `GET from=1 "" "" "image/*"`
		if n == 0 {
			want = `GET  "Bearer secret" "a=secret" "image/*"`
		}
		if err != nil || string(body) != want || resp.Request.URL.Path != "/n/0" {
			t.Errorf("%d redirects: %q, %v, want %q", n, body, err, want)
		}
	}
	for path, want := range map[string]string{
		"/n/6":                           "Sixth redirect, to 127.0.0.1",
		"/circle":                        "The redirects lead in a circle.",
		"/?to=http://169.254.169.254/":   "First redirect, to 169.254.169.254: The URL must start with https://.",
		"/?to=https://10.0.0.1/":         "First redirect, to 10.0.0.1: The URL's host is not a public address on the internet.",
		"/?to=https://93.184.215.14:22/": "First redirect, to 93.184.215.14:22: The port 22 is not allowed: use 443.",
		"/?to=ftp://files.acme.dev/a":    "First redirect, to files.acme.dev: The URL must start with https://.",
		"/?to=file:///etc/passwd":        "First redirect: The URL must start with https://.",
		"/?to=https://a:b@acme.dev/":     "First redirect, to acme.dev: The URL must not have a user name or password.",
		"/?to=https://files.internal/":   "First redirect, to files.internal: Names that end in .internal",
		"/?to=https%3A%2F%2Fa%5B/":       "First redirect: The URL is not valid.",
	} {
		before := srv.requests.Load()
		resp, err := get(t, c, srv.URL+path)
		behind, refused := new(safehttp.RedirectError), new(safehttp.BlockedError)
		if resp != nil || !errors.As(err, &behind) || !errors.As(err, &refused) ||
			!strings.Contains(safehttp.Describe(err), want) {
			t.Errorf("%s: %v, %q, want %q", path, err, safehttp.Describe(err), want)
		}
		if n := srv.requests.Load() - before; n > safehttp.MaxRedirects+1 {
			t.Errorf("%s: %d requests", path, n)
		}
	}
}

// A name behind a redirect is looked up and checked as that of a caller is.
func TestANameBehindARedirectIsCheckedWhenItIsDialed(t *testing.T) {
	srv := wander(t)
	ns := newNameServer(t)
	ns.set("inside.acme.dev", []string{"10.0.0.7"})
	c := safehttp.New(safehttp.Options{AllowLoopback: true, Resolver: ns.resolver(), Redirects: 5})
	_, err := get(t, c, srv.URL+"/?to=https://inside.acme.dev/")
	want := "First redirect, to inside.acme.dev: The URL's host is not a public address on the internet."
	if !strings.HasPrefix(safehttp.Describe(err), want) || strings.Contains(err.Error(), "10.0.0.7") {
		t.Errorf("%v, %q", err, safehttp.Describe(err))
	}
}

// What is sent is not sent elsewhere, and a redirect to no address is an answer.
func TestOnlyWhatIsReadIsFollowed(t *testing.T) {
	srv := wander(t)
	c := safehttp.New(safehttp.Options{AllowLoopback: true, Redirects: 5})
	for method, path := range map[string]string{http.MethodPost: "/n/1", http.MethodGet: "/nowhere"} {
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusFound {
			t.Errorf("%s %s: %d, %v", method, path, resp.StatusCode, err)
		}
	}
}
