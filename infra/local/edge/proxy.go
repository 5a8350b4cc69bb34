// Package edge is the public entrance of the local systems. It does the work of AWS's edge: it limits calls without a
// key, compresses, and makes the responses that the gateway behind it does not make.
package edge

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// The limits and the timeout of API Gateway.
const (
	largestBody = 10 << 20
	longestWait = 29 * time.Second
)

// Config is the configuration of the edge.
type Config struct {
	// Gateway is the address that the paths of calls are appended to.
	Gateway *url.URL
	// Transport reaches the gateway. Nil means the network.
	Transport http.RoundTripper
	// Host is the host of the API as its callers use it, with the port.
	Host, Stage string
	// Others are other names of the API, which functions see as such.
	Others []string
	// Keyless is the number of calls without a valid key that one address may make in gatewayresponse.FilterWindow.
	Keyless int
	Now     func() time.Time
}

// New returns the public entrance of a local system: it does the work of AWS's edge that the gateway behind it does not
// do.
func New(c Config) http.Handler {
	host, stage, target, limits := c.Host, c.Stage, c.Gateway, newLimits(c.Keyless, c.Now)
	transport := c.Transport
	if transport == nil {
		transport = &http.Transport{
			MaxIdleConnsPerHost: 64,
			// Bodies pass unchanged, compressed or not.
			DisableCompression:    true,
			ResponseHeaderTimeout: longestWait,
		}
	}
	base := "http://" + host
	proxy := &httputil.ReverseProxy{
		BufferPool: &buffers{},
		Transport:  transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.URL.RawQuery = r.In.URL.RawQuery // the proxy has left out what it could not read
			if r.Out.Host = host; slices.Contains(c.Others, r.In.Host) {
				r.Out.Host = r.In.Host
			}
			// The emulated gateway trusts the first address of this header, so only the caller's
			// own address may be there.
			r.Out.Header.Set(peerHeader, peer(r.In))
			r.Out.Header.Set("X-Forwarded-Proto", "http")
			// A caller without Accept accepts anything (RFC 9110, 12.5.1); the emulated
			// gateway would send it compressed pages in base64.
			if r.Out.Header.Get("Accept") == "" {
				r.Out.Header.Set("Accept", "*/*")
			}
		},
		ModifyResponse: func(res *http.Response) error {
			if res.StatusCode == http.StatusUnauthorized && hasKey(res.Request) && !ofPrograms(res.Request) &&
				!limits.keyless.allows(res.Request.Header.Get(peerHeader)) {
				replace(res, gatewayresponse.Filtered, base)
				return nil
			}
			if err := name(res, stage, base); err != nil {
				return err
			}
			if err := finish(res, base); err != nil {
				return err
			}
			return compress(res)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { fail(w, r, err, base) },
		ErrorLog:     slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rule := limits.refusing(r, peer(r)); rule != "" {
			refuse(w, rule, base)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, largestBody)
		if err := decompress(r); err != nil {
			fail(w, r, err, base)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// buffers are those in which responses are copied. The proxy would make a new one for each.
type buffers struct{ pool sync.Pool }

// copySize is the size of a buffer. Most responses are smaller.
const copySize = 8 << 10

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, copySize)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }

// peerHeader has the address of the caller.
const peerHeader = "X-Forwarded-For"

func peer(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "127.0.0.1"
	}
	return address
}

// name puts the address of the system into the gateway's own responses, because the emulated
// gateway does not know the variable.
func name(res *http.Response, stage, base string) error {
	const challenge = "WWW-Authenticate"
	if value := res.Header.Get(challenge); value != "" {
		res.Header.Set(challenge, strings.Replace(value, "https://$context.domainName/"+stage, base, 1))
	}
	if res.StatusCode < http.StatusBadRequest || res.Request.Method == http.MethodHead {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, largestBody))
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	body = bytes.Replace(body, []byte("https://$context.domainName/"+stage), []byte(base), 1)
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// finish removes the emulator's own headers. If a function failed, it replaces the emulator's
// response by that of the deployed gateway.
func finish(res *http.Response, base string) error {
	rename(res.Header)
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Request-Id", "X-Amzn-Errortype"} {
		res.Header.Del(name)
	}
	failed := res.StatusCode >= http.StatusInternalServerError || res.StatusCode == http.StatusTooManyRequests
	if failed && res.Request.Method == http.MethodHead && res.Header.Get("X-Request-Id") != "" {
		return nil // A function's response, without its body.
	}
	if !failed || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, largestBody))
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	var envelope struct {
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(body, &envelope) == nil && envelope.RequestID != "" {
		res.Body = io.NopCloser(bytes.NewReader(body))
		return nil
	}
	slog.Error("a function failed", "status", res.StatusCode, "answer", string(body))
	replace(res, gatewayresponse.Broken, base)
	return nil
}

// rename gives a challenge of a function the name that the deployed gateway gives it. Those of the gateway itself,
// which alone names the metadata of the service, keep theirs.
func rename(h http.Header) {
	challenge := h.Get("WWW-Authenticate")
	if challenge == "" || strings.Contains(challenge, "resource_metadata=") {
		return
	}
	h.Set(gatewayresponse.Renamed, challenge)
	h.Del("WWW-Authenticate")
}

// replace replaces a response by one of the gateway's own.
func replace(res *http.Response, a gatewayresponse.Response, base string) {
	_ = res.Body.Close()
	header := http.Header{}
	text := render(header, a, base)
	res.StatusCode, res.Header = a.Status(), header
	res.Status = http.StatusText(res.StatusCode)
	res.Body, res.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
}

// fail responds to a call for which the gateway gave no response.
func fail(w http.ResponseWriter, r *http.Request, err error, base string) {
	a := gatewayresponse.Broken
	var timeout net.Error
	var tooLarge *http.MaxBytesError
	switch {
	case r.Context().Err() != nil:
		return // The caller has gone.
	case errors.As(err, &tooLarge):
		a = gatewayresponse.TooLarge
	case errors.Is(err, errCoding):
		a = gatewayresponse.UnknownCoding
	case errors.As(err, &timeout) && timeout.Timeout():
		a = gatewayresponse.TimedOut
	}
	answer(w, a, base)
}

func answer(w http.ResponseWriter, a gatewayresponse.Response, base string) {
	text := render(w.Header(), a, base)
	w.WriteHeader(a.Status())
	_, _ = io.WriteString(w, text)
}

// render sets the headers of a response, and returns its body.
func render(header http.Header, a gatewayresponse.Response, base string) string {
	requestID := uuid.Must(uuid.NewV4()).String()
	text := a.Body(requestID, base)
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	header.Set("X-Request-Id", requestID)
	for name, value := range a.Headers() {
		header.Set(name, value)
	}
	return text
}

// Names are the two names of a customer whose callers show client certificates, as the gateway's custom domains and the
// rule of the firewall serve them.
type Names struct {
	// Private is the host name of callers with a certificate of one of the authorities. Public is that of all others,
	// who have the paths that begin with one of Open.
	Private, Public string
	Authorities     *x509.CertPool
	Open            []string
	// Certificate is that of both names.
	Certificate tls.Certificate
}

// TLS returns the configuration of the listener. A name decides before the first request whether it needs a
// certificate, and no other names are served.
func (n Names) TLS() *tls.Config {
	own := func(auth tls.ClientAuthType) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{n.Certificate},
			ClientAuth: auth, ClientCAs: n.Authorities}
	}
	return &tls.Config{MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			switch hello.ServerName {
			case n.Private:
				return own(tls.RequireAndVerifyClientCert), nil
			case n.Public:
				return own(tls.NoClientCert), nil
			}
			return nil, fmt.Errorf("edge: no name %q", hello.ServerName)
		}}
}

// Handler serves both names. A request for another name than that of its connection is refused: the connection of the
// public name has no certificate.
func (n Names) Handler(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		switch {
		case r.TLS == nil || host != r.TLS.ServerName:
			w.WriteHeader(http.StatusForbidden)
		case host == n.Public && !n.open(r.URL.Path):
			w.WriteHeader(http.StatusNotFound)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

func (n Names) open(path string) bool {
	return slices.ContainsFunc(n.Open, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}
