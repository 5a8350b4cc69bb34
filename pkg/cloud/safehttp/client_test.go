package safehttp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// server starts a server on loopback and counts its connections and requests.
type server struct {
	*httptest.Server
	conns, requests atomic.Int64
}

func newServer(t *testing.T, encrypted bool, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are expected
	if encrypted {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *server) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	if cert := s.Certificate(); cert != nil {
		pool.AddCert(cert)
	}
	return pool
}

func (s *server) port(t *testing.T) uint16 {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

func get(t *testing.T, c *safehttp.Client, rawURL string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, rawURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(req)
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") }

// TestRebindingIsRefused changes the address of a name between the check and the call: the check passes, and the call
// must not reach the server on loopback.
func TestRebindingIsRefused(t *testing.T) {
	srv := newServer(t, true, ok)
	port := srv.port(t)
	rawURL := "https://rebind.acme.dev:" + strconv.Itoa(int(port)) + "/"
	for _, tc := range []struct {
		name  string
		later []string
	}{
		{"loopback", []string{"127.0.0.1"}},
		{"IPv4-mapped", []string{"::ffff:127.0.0.1"}},
		{"IPv6 loopback", []string{"::1"}},
		{"metadata", []string{"169.254.169.254"}},
		{"several", []string{"127.0.0.1", "10.0.0.1", "::1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ns := newNameServer(t)
			ns.set("rebind.acme.dev", []string{"93.184.215.14"}, tc.later)
			client := safehttp.New(safehttp.Options{Resolver: ns.resolver(), Ports: []uint16{port},
				RootCAs: srv.roots(), Timeout: 5 * time.Second})
			if err := client.CheckURL(t.Context(), rawURL); err != nil {
				t.Fatalf("CheckURL before the change: %v", err)
			}
			_, err := get(t, client, rawURL)
			var refused *safehttp.BlockedError
			if !errors.As(err, &refused) {
				t.Fatalf("Do after the change = %v, want a *BlockedError", err)
			}
			for _, addr := range tc.later {
				if strings.Contains(err.Error(), addr) {
					t.Errorf("the error tells the resolved address: %v", err)
				}
			}
			if n := len(ns.questions()); n != 4 { // A and AAAA, once for the check and once for the dial
				t.Errorf("%d questions to the name server, want 4: one look-up per dial", n)
			}
		})
	}
	if n := srv.conns.Load(); n != 0 {
		t.Errorf("%d connections reached the server on loopback, want none", n)
	}
	// The same server is reached where loopback is allowed, so the test can fail.
	ns := newNameServer(t)
	ns.set("rebind.acme.dev", []string{"127.0.0.1"})
	client := safehttp.New(safehttp.Options{Resolver: ns.resolver(), AllowLoopback: true, RootCAs: srv.roots()})
	if _, err := get(t, client, rawURL); err == nil || srv.conns.Load() == 0 {
		t.Errorf("control: err %v (the certificate is for another name), %d connections, want at least one", err,
			srv.conns.Load())
	}
}

// TestDoChecksTheURLItself skips CheckURL, as a caller might by mistake.
func TestDoChecksTheURLItself(t *testing.T) {
	srv := newServer(t, false, ok)
	strict := safehttp.New(safehttp.Options{Ports: []uint16{443, srv.port(t)}})
	closed := &closer{Reader: strings.NewReader("x")}
	for _, rawURL := range []string{
		srv.URL, strings.Replace(srv.URL, "http:", "https:", 1), "https://localhost:443/", "https://user:pw@8.8.8.8/",
		"https://127.1/",
		"https://8.8.8.8:22/", "https://169.254.169.254/", "https://[::ffff:169.254.169.254]/",
		"https://metadata.google.internal/", "https://8.8.8.8/#x",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, rawURL, closed)
		if err != nil {
			t.Fatal(err)
		}
		var refused *safehttp.BlockedError
		if _, err := strict.Do(req); !errors.As(err, &refused) {
			t.Errorf("Do(%q) = %v, want a *BlockedError", rawURL, err)
		}
	}
	if srv.conns.Load() != 0 {
		t.Error("a connection was opened")
	}
	if !closed.closed {
		t.Error("the body of a refused request was not closed")
	}
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestRedirectIsNotFollowed(t *testing.T) {
	inner := newServer(t, false, ok)
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := newServer(t, false, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inner.URL+"/secret", status)
		})
		resp, err := get(t, safehttp.New(safehttp.Options{AllowLoopback: true}), srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != status {
			t.Errorf("status %d, want the redirect %d itself", resp.StatusCode, status)
		}
	}
	if n := inner.requests.Load(); n != 0 {
		t.Errorf("%d requests followed the redirect", n)
	}
}

func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	proxy := newServer(t, false, ok)
	srv := newServer(t, false, ok)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	ns := newNameServer(t)
	ns.set("hooks.acme.dev", []string{"127.0.0.1"})
	client := safehttp.New(safehttp.Options{AllowLoopback: true, Resolver: ns.resolver()})
	rawURL := "http://hooks.acme.dev:" + strconv.Itoa(int(srv.port(t))) + "/"

	// The environment would send this request to the proxy.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, rawURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if to, err := http.ProxyFromEnvironment(req); err != nil || to == nil {
		t.Fatalf("control: the environment names no proxy (%v, %v)", to, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if proxy.conns.Load() != 0 || srv.requests.Load() != 1 {
		t.Errorf("proxy got %d connections, the server %d requests; want 0 and 1", proxy.conns.Load(),
			srv.requests.Load())
	}
}

func TestTLSIsVerified(t *testing.T) {
	srv := newServer(t, true, ok)
	ns := newNameServer(t)
	ns.set("hooks.acme.dev", []string{"127.0.0.1"})
	port := strconv.Itoa(int(srv.port(t)))
	for _, tc := range []struct {
		name, url string
		roots     *x509.CertPool
		want      string // the start of the description; "" for success
	}{
		{"known authority, right host", "https://127.0.0.1:" + port, srv.roots(), ""},
		{"unknown authority", "https://127.0.0.1:" + port, nil, "The TLS certificate of the server was not " +
			"accepted: no known authority"},
		{"another host", "https://hooks.acme.dev:" + port, srv.roots(), "The TLS certificate of the server was not " +
			"accepted: it is for another host name."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client := safehttp.New(safehttp.Options{AllowLoopback: true, RootCAs: tc.roots, Resolver: ns.resolver()})
			resp, err := get(t, client, tc.url)
			if err == nil {
				resp.Body.Close()
			}
			if got := safehttp.Describe(err); (tc.want == "") != (err == nil) || !strings.HasPrefix(got, tc.want) {
				t.Errorf("%v, described as %q, want %q", err, got, tc.want)
			}
		})
	}
	plain := newServer(t, false, ok)
	_, err := get(t, safehttp.New(safehttp.Options{AllowLoopback: true}),
		strings.Replace(plain.URL, "http:", "https:", 1))
	if got := safehttp.Describe(err); got != "The server did not speak TLS." {
		t.Errorf("https to a plain server: %q (%v)", got, err)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	for version, accepted := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(ok))
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}
		srv.StartTLS()
		t.Cleanup(srv.Close)
		roots := x509.NewCertPool()
		roots.AddCert(srv.Certificate())
		resp, err := get(t, safehttp.New(safehttp.Options{AllowLoopback: true, RootCAs: roots}), srv.URL)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != accepted {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
}

func TestHTTP2AndReuse(t *testing.T) {
	var protos sync.Map
	for _, encrypted := range []bool{true, false} {
		srv := newServer(t, encrypted, func(w http.ResponseWriter, r *http.Request) {
			protos.Store(r.Proto, true)
			_, _ = io.WriteString(w, strings.Repeat("x", 5000)) // more than the client keeps
		})
		client := safehttp.New(safehttp.Options{AllowLoopback: true, RootCAs: srv.roots()})
		for range 20 {
			resp, err := get(t, client, srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := safehttp.ReadBody(resp, 1024); err != nil || len(body) != 1024 {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
		}
		if n := srv.conns.Load(); n != 1 {
			t.Errorf("encrypted %v: 20 calls took %d connections, want 1", encrypted, n)
		}
		client.CloseIdleConnections()
	}
	for _, want := range []string{"HTTP/2.0", "HTTP/1.1"} {
		if _, used := protos.Load(want); !used {
			t.Errorf("%s was not used", want)
		}
	}
}

func TestUserAgent(t *testing.T) {
	srv := newServer(t, false, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.UserAgent()) })
	client := safehttp.New(safehttp.Options{AllowLoopback: true, UserAgent: "Acme/1"})
	for _, own := range []string{"", "Other/2"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "Acme/1"
		if own != "" {
			req.Header.Set("User-Agent", own)
			want = own
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := safehttp.ReadBody(resp, 100)
		if err != nil || string(body) != want {
			t.Errorf("sent %q, %v, want %q", body, err, want)
		}
		if req.Header.Get("User-Agent") != own {
			t.Error("the caller's request was changed")
		}
	}
}

func TestDescribe(t *testing.T) {
	// A port that was just free, where nothing listens.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unused := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	midway := newServer(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	abrupt := newServer(t, false, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	ns := newNameServer(t)
	client := safehttp.New(safehttp.Options{AllowLoopback: true, Resolver: ns.resolver()})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()

	for _, tc := range []struct {
		url  string
		ctx  context.Context
		want string
	}{
		{unused, t.Context(), "The connection was refused."},
		{midway.URL, t.Context(), "The server closed the connection before its response was complete."},
		{abrupt.URL, t.Context(), "The server closed the connection before its response was complete."},
		{"https://gone.acme.dev/", t.Context(), "The host name does not exist."},
		{"http://10.0.0.1/", t.Context(), "The URL must start with https://."},
		{midway.URL, canceled, "The request was canceled."},
	} {
		req, err := http.NewRequestWithContext(tc.ctx, http.MethodGet, tc.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			_, err = safehttp.ReadBody(resp, 100)
		}
		if got := safehttp.Describe(err); got != tc.want {
			t.Errorf("%s: %q (%v), want %q", tc.url, got, err, tc.want)
		}
	}
	if got := safehttp.Describe(nil); got != "" {
		t.Errorf("Describe(nil) = %q", got)
	}
}

// BenchmarkDo compares a call with one by a bare http.Client to the same server: the difference is the cost of the
// rules on a reused connection.
func BenchmarkDo(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(ok))
	defer srv.Close()
	client := safehttp.New(safehttp.Options{AllowLoopback: true, UserAgent: "Acme/1"})
	bare := &http.Client{Timeout: 15 * time.Second}
	for name, do := range map[string]func(*http.Request) (*http.Response, error){"safehttp": client.Do,
		"bare": bare.Do} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL, strings.NewReader("{}"))
				if err != nil {
					b.Fatal(err)
				}
				resp, err := do(req)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := safehttp.ReadBody(resp, 1024); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
