//go:build console

package console

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The client of the pool at the customer's provider of OpenID Connect.
const (
	oidcClient = "account-area"
	oidcSecret = "secret-of-the-client"
)

// front is the TLS in front of the customer's provider, which runs in Node.
type front struct {
	*httptest.Server
	to *httputil.ReverseProxy
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{}
	f.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.to.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// roots trust the certificate of the front.
func (f *front) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(f.Certificate())
	return pool
}

// run starts the provider.
func (f *front) run(t *testing.T, redirect string) {
	t.Helper()
	in, err := json.Marshal(map[string]string{"issuer": f.URL, "client": oidcClient, "secret": oidcSecret,
		"redirect": redirect})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "browser/provider.mjs", string(in))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	inner, err := url.Parse("http://127.0.0.1:" + strings.TrimSpace(port))
	if err != nil {
		t.Fatal(err)
	}
	f.to = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(inner)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}}
}
