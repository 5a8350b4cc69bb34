// Package safehttp is the HTTP client for every URL from a caller of the API, such as of webhooks and photos. Such a
// URL must not lead into the network that the service runs in (server-side request forgery).
//
// The rules are applied twice. CheckURL applies them when a URL is saved, so that the caller gets a clear error. The
// dialer applies them to the address of each connection, which protects the network: a name may resolve to another
// address by then (DNS rebinding). Redirects are followed only if Options says so, each under the same rules. No proxy
// is taken from the environment, and answers are bounded in size and time. New makes a Client.
package safehttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// The bounds of one call.
const (
	lookupTimeout    = 5 * time.Second
	connectTimeout   = 10 * time.Second
	idleTimeout      = 60 * time.Second // less than the time that most servers keep a connection
	pingAfter        = 5 * time.Second  // finds HTTP/2 connections that died while a function was frozen
	maxHeaderBytes   = 64 << 10
	maxIdle          = 512
	maxIdlePerHost   = 64
	sessionCacheSize = 512
)

// Options configure a Client. The zero value is the strict client of a deployed stack with the system's resolver.
type Options struct {
	// AllowLoopback is for the local system only: it also allows loopback addresses, with http and on any port.
	AllowLoopback bool
	// Ports are the allowed ports. If it is empty, only 443 is allowed.
	Ports []uint16
	// Resolver looks names up. If it is nil, net.DefaultResolver does.
	Resolver *net.Resolver
	// Timeout bounds a call from its look-up to the last byte of the answer's body. 0 means 15 seconds.
	Timeout time.Duration
	// MaxBody is the number of bytes of an answer's body that can be read. 0 means 64 KiB.
	MaxBody int64
	// Redirects is the number of redirects that are followed when something is read (GET): at most MaxRedirects. No
	// credentials are sent along. 0 returns the redirect as the answer.
	Redirects int
	// UserAgent is sent if a request has none of its own.
	UserAgent string
	// RootCAs verify the servers' certificates. If it is nil, those of the system do.
	RootCAs *x509.CertPool
}

// Client calls untrusted URLs. It is safe for concurrent use and keeps connections for reuse: make one and keep it.
type Client struct {
	policy    *policy
	resolver  *net.Resolver
	timeout   time.Duration
	maxBody   int64
	redirects int
	userAgent string

	// The transports for https and for http. They are used without an http.Client, which would follow redirects and
	// cost a goroutine for the timeout of each call.
	encrypted, plain *http.Transport
}

// New makes a Client.
func New(o Options) *Client {
	if len(o.Ports) == 0 {
		o.Ports = []uint16{443}
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 10
	}
	c := &Client{
		policy:    newPolicy(o.AllowLoopback, slices.Clone(o.Ports)),
		resolver:  o.Resolver,
		timeout:   o.Timeout,
		maxBody:   o.MaxBody,
		redirects: min(o.Redirects, MaxRedirects),
		userAgent: o.UserAgent,
	}
	c.encrypted, c.plain = c.transport(false), c.transport(true)
	c.encrypted.TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            o.RootCAs,
		ClientSessionCache: tls.NewLRUClientSessionCache(sessionCacheSize),
	}
	return c
}

// transport makes one of the two transports. They are separate so that the dialer knows whether a connection will be
// encrypted, which it cannot see.
func (c *Client) transport(plain bool) *http.Transport {
	dialer := &net.Dialer{
		Timeout:  connectTimeout,
		Resolver: c.resolver,
		// Called with the address of each connection before it is opened.
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return errNotPublic
			}
			return c.policy.check(plain, to)
		},
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		Proxy: nil, // never from the environment
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, fmt.Errorf("safehttp: %w", err)
			}
			return dialer.DialContext(ctx, network, net.JoinHostPort(rooted(host), port))
		},
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
		TLSHandshakeTimeout:    connectTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true, // a small answer must not unpack into a large one
	}
}

// rooted ends a name with a dot, so that the resolver tries neither the search domains of the network that the service
// runs in nor the hosts file, which alone knows localhost.
func rooted(host string) string {
	if _, err := netip.ParseAddr(host); err == nil || isLocalhost(host) {
		return host
	}
	return host + "."
}

// Checker checks addresses from callers.
type Checker interface {
	// CheckURL returns a *BlockedError for an address that may not be called, and an error
	// that wraps ErrLookup if its name could not be looked up.
	CheckURL(ctx context.Context, raw string) error
}

var _ Checker = (*Client)(nil)

// CheckURL checks a URL before it is called: its form, and every address that its name resolves to now. It returns a
// *BlockedError if the URL may not be called, and an error that wraps ErrLookup if the name could not be looked up.
func (c *Client) CheckURL(ctx context.Context, raw string) error {
	u, err := c.parse(raw)
	if err != nil {
		return err
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return nil // parse has checked the address
	}
	port, err := portOf(u)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", rooted(host))
	if err != nil {
		var dns *net.DNSError
		if errors.As(err, &dns) && dns.IsNotFound {
			return blocked("The host name %s does not exist.", host)
		}
		return fmt.Errorf("%w: %w", ErrLookup, err)
	}
	for _, addr := range addrs {
		if err := c.policy.check(u.Scheme == "http", netip.AddrPortFrom(addr.Unmap(), port)); err != nil {
			return err
		}
	}
	return nil
}

// Do sends a request and returns the answer, whatever its status. The caller closes the body; see ReadBody. For a
// refused URL or address it returns a *BlockedError, and for one behind a redirect a *RedirectError around it. Describe
// turns any error into a sentence.
//
// An idempotent request should have the header Idempotency-Key (with an empty list of values it is not sent): the
// transport then retries it if a kept-alive connection is dead.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.checkParts(req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // like the transport with a request that it cannot send
		}
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.timeout)
	req = req.WithContext(ctx)
	if c.userAgent != "" && req.Header.Get("User-Agent") == "" {
		req.Header = req.Header.Clone()
		req.Header.Set("User-Agent", c.userAgent)
	}
	resp, err := c.send(req)
	if err == nil && c.redirects > 0 && (req.Method == http.MethodGet || req.Method == http.MethodHead) {
		resp, err = c.follow(resp)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &cappedBody{ReadCloser: resp.Body, left: c.maxBody, end: cancel}
	return resp, nil
}

// CloseIdleConnections closes the connections kept for reuse.
func (c *Client) CloseIdleConnections() {
	c.encrypted.CloseIdleConnections()
	c.plain.CloseIdleConnections()
}

// cappedBody returns an error if more than `left` bytes are read. Closing it ends the context of the call.
type cappedBody struct {
	io.ReadCloser
	left int64
	end  context.CancelFunc
}

func (b *cappedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrBodyTooLarge
	}
	// One byte beyond the limit distinguishes an answer of that size from a larger one.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, ErrBodyTooLarge
	}
	return n, err
}

// ReadBody reads an answer's body to its end, or to MaxBody, keeps the first `keep` bytes of it, and closes it. The
// connection can only be reused if the body was read to its end. The bytes that were read are returned even with an
// error: ErrBodyTooLarge for more than MaxBody bytes, and the error of the network if the server stalls or closes
// midway.
func ReadBody(resp *http.Response, keep int64) ([]byte, error) {
	if resp.ContentLength == 0 {
		return nil, resp.Body.Close()
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, keep))
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return body, errors.Join(err, resp.Body.Close())
}
