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
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
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

// New makes a Client that refuses addresses which are not public.
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
			return dialer.DialContext(ctx, network, net.JoinHostPort(RootName(host), port))
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

// RootName ends a name with a dot, so that the resolver tries neither the search domains of the network that the
// service runs in nor the hosts file, which alone knows localhost.
func RootName(host string) string {
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
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", RootName(host))
	if err != nil {
		var dns *net.DNSError
		if errors.As(err, &dns) && dns.IsNotFound {
			return blockedError("The host name %s does not exist.", host)
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

// MaxRedirects is the number of redirects that are followed for files and feeds of callers: servers of shops and
// networks of copies redirect once or twice.
const MaxRedirects = 5

// maxDrained is the number of bytes of a redirect's body that are read so that its connection can be used again.
const maxDrained = 4 << 10

// RedirectError is the error of an address that a redirect has led to.
type RedirectError struct {
	// Hop is the number of the redirect, from 1.
	Hop int
	// Host is the host to which it leads, as its server has written it. It may be empty.
	Host string
	Err  error
}

// Error returns what failed, and where.
func (e *RedirectError) Error() string { return "safehttp: " + e.where() + e.Err.Error() }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *RedirectError) Unwrap() error { return e.Err }

func (e *RedirectError) where() string {
	if e.Host == "" {
		return ordinals[e.Hop-1] + " redirect: "
	}
	return ordinals[e.Hop-1] + " redirect, to " + e.Host + ": "
}

var ordinals = [MaxRedirects + 1]string{"First", "Second", "Third", "Fourth", "Fifth", "Sixth"}

// redirected reports whether an answer leads to another address.
func redirected(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
}

// follow returns the answer at the end of the redirects of an answer, or the error of the first one that cannot be
// followed. Every address is checked as that of a caller is: when it is read, and when a connection to it is opened.
func (c *Client) follow(resp *http.Response) (*http.Response, error) {
	seen := []string{resp.Request.URL.String()}
	for hop := 1; redirected(resp); hop++ {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrained)
		_ = resp.Body.Close()
		to, err := next(resp)
		failed := &RedirectError{Hop: hop, Err: err}
		if to != nil {
			failed.Host = clip(to.Host)
		}
		switch {
		case err != nil:
			return nil, failed
		case hop > c.redirects:
			failed.Err = blockedError("The URL redirects more than %d times.", c.redirects)
			return nil, failed
		case slices.Contains(seen, to.String()):
			failed.Err = blockedError("The redirects lead in a circle.")
			return nil, failed
		}
		if failed.Err = c.checkParts(to); failed.Err != nil {
			return nil, failed
		}
		seen = append(seen, to.String())
		req := resp.Request.Clone(resp.Request.Context())
		req.URL, req.Host = to, ""
		for _, secret := range []string{"Authorization", "Cookie", "Proxy-Authorization", "Www-Authenticate"} {
			req.Header.Del(secret)
		}
		if resp, err = c.send(req); err != nil {
			failed.Err = err
			return nil, failed
		}
	}
	return resp, nil
}

// next returns the address that an answer leads to, without its fragment.
func next(resp *http.Response) (*url.URL, error) {
	location := resp.Header.Get("Location")
	if len(location) > maxURL {
		return nil, blockedError("The URL is longer than %d characters.", maxURL)
	}
	to, err := resp.Request.URL.Parse(location)
	if err != nil {
		return nil, blockedError("The URL is not valid.")
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}

// clip bounds a host of a message.
func clip(host string) string {
	const most = 100
	return host[:min(len(host), most)]
}

func (c *Client) send(req *http.Request) (*http.Response, error) {
	transport := c.encrypted
	if req.URL.Scheme == "http" {
		transport = c.plain
	}
	resp, err := transport.RoundTrip(req)
	// The error around it names the refused address.
	var refused *BlockedError
	if errors.As(err, &refused) {
		return nil, refused
	}
	return resp, err
}

// BlockedError is returned if a URL, or the address that its name resolves to, is not allowed. A retry fails until one
// of them changes.
type BlockedError struct {
	// Reason is a sentence for the caller who sent the URL. It never contains the address that a name resolved to.
	Reason string
}

// Error returns the reason.
func (e *BlockedError) Error() string { return "safehttp: " + e.Reason }

var (
	// ErrLookup reports that a name could not be looked up now. Unlike a name that does not exist, which leads to a
	// *BlockedError, it is worth a retry.
	ErrLookup = errors.New("safehttp: the name could not be looked up")

	// ErrBodyTooLarge is the error of reading an answer's body past MaxBody.
	ErrBodyTooLarge = errors.New("safehttp: the answer is larger than allowed")

	errNotPublic = blockedError("The URL's host is not a public address on the internet. Send one that the internet " +
		"can reach.")
)

func blockedError(format string, args ...any) *BlockedError {
	return &BlockedError{Reason: fmt.Sprintf(format, args...)}
}

// Describe turns an error of Do, or of reading an answer's body, into a sentence for the caller who sent the URL. It
// says how to correct the problem, and reveals nothing about the network of the service.
func Describe(err error) string {
	if behind := new(RedirectError); errors.As(err, &behind) {
		return behind.where() + Describe(behind.Err)
	}
	var (
		refused *BlockedError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		timeout net.Error
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refused.Reason
	case errors.Is(err, ErrBodyTooLarge):
		return "The response was larger than allowed."
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return "The host name does not exist."
		}
		return "The host name could not be looked up."
	case errors.As(err, &cert):
		return "The TLS certificate of the server was not accepted: " + certificate(cert.Err)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "The server did not speak TLS."
	case errors.As(err, &alert):
		return "The server ended the TLS handshake. Check its certificate, and that it takes TLS 1.2 or newer."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "The server did not answer in time."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The connection was refused."
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "The host could not be reached."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "The server closed the connection before its response was complete."
	case errors.Is(err, context.Canceled):
		return "The request was canceled."
	default:
		return "The request failed: the server's response was not valid HTTP, or the connection broke."
	}
}

// certificate says what is wrong with a certificate.
func certificate(err error) string {
	var (
		name   x509.HostnameError
		issuer x509.UnknownAuthorityError
		bad    x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "it is for another host name."
	case errors.As(err, &issuer):
		return "no known authority has issued it, or the server does not send the certificates between."
	case errors.As(err, &bad) && bad.Reason == x509.Expired:
		return "it has expired, or is not valid yet."
	}
	return "it is not valid for this server."
}

// localStage is the stage of the local system.
const localStage = "local"

// AllowLoopback reads the setting ALLOW_LOOPBACK_WEBHOOKS. It returns an error if a stage other than the local one has
// it, because it would open the network of the functions to everybody who can create a webhook.
func AllowLoopback(setting, stage string) (bool, error) {
	if setting == "" {
		return false, nil
	}
	allow, err := strconv.ParseBool(setting)
	if err != nil {
		return false, fmt.Errorf("safehttp: ALLOW_LOOPBACK_WEBHOOKS is true or false, not %q", setting)
	}
	if allow && stage != localStage {
		return false, fmt.Errorf("safehttp: ALLOW_LOOPBACK_WEBHOOKS is for the stage %s alone: in the stage %q "+
			"webhooks could reach the service's own network", localStage, stage)
	}
	return allow, nil
}

// InvalidURL returns the answer to the caller whose URL an error of CheckURL refuses. Param is the JSON pointer of the
// member with the URL. Other errors are returned unchanged.
func InvalidURL(err error, param string) error {
	var blocked *BlockedError
	switch {
	case errors.As(err, &blocked):
		return errs.Invalid(param, "%s", Describe(err))
	case errors.Is(err, ErrLookup):
		e := errs.Invalid(param, "The host name could not be looked up. Try again, or check its name servers.")
		e.Cause = err
		return e
	default:
		return err
	}
}
