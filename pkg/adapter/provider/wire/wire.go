// Package wire is the HTTP client of the adapters: calls with JSON in both
// directions, errors classified as *provider.Error, and downloads of results.
//
// It retries no call: the queue does, and there waiting costs nothing and attempts are
// counted. The one exception is net/http's own: if a kept-alive connection is found
// dead before a byte of the request was written, as after a function was frozen, it
// sends the request on a new one. The provider cannot have seen it.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// The bounds of a call that sets none of its own.
const (
	defaultTimeout   = 30 * time.Second
	defaultMaxAnswer = 1 << 20
	maxExcerpt       = 512 // bytes of a refusal that are kept for the log
)

// Config has the dependencies of all adapters. HTTP, BaseURL, Files and Now are
// optional.
type Config struct {
	// HTTP makes the calls. Its policy for redirects is ignored: none is followed.
	HTTP *http.Client
	// BaseURL replaces the provider's own address.
	BaseURL string
	// Key returns the provider's credential. It is called for each call: the secret
	// store caches the credential.
	Key func(ctx context.Context) (string, error)
	// Files opens results. If it is nil, a strict NewFiles does.
	Files Files
	// Now is the clock.
	Now func() time.Time
}

// Dialect has the differences between providers.
type Dialect struct {
	// Provider is the provider's name.
	Provider string
	// BaseURL is the provider's own address.
	BaseURL string
	// Authorize puts the credential into the header of a call.
	Authorize func(h http.Header, key string)
	// Refused, if set, classifies a refusal by its body. It returns nil to classify
	// it by its status alone. The error needs no cause; one without RetryAfter gets
	// that of the answer.
	Refused func(call Call, status int, body []byte) *provider.Error
}

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	dialect Dialect
	http    http.Client
	base    string
	key     func(ctx context.Context) (string, error)
	now     func() time.Time
}

// New makes a client.
func New(cfg Config, dialect Dialect) *Client {
	c := &Client{dialect: dialect, base: cfg.BaseURL, key: cfg.Key, now: cfg.Now}
	if cfg.HTTP != nil {
		c.http = *cfg.HTTP
	}
	// A redirect would carry the request, and perhaps the credential, elsewhere.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.base == "" {
		c.base = dialect.BaseURL
	}
	c.base = strings.TrimSuffix(c.base, "/")
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// Call is one request.
type Call struct {
	Method string
	Path   string // below the base address, escaped, with its leading slash
	Query  url.Values
	Header http.Header // in addition to those of every call
	Body   any         // sent as JSON; may be nil

	// Submits reports whether the call starts a generation at the provider: if its answer is lost, the outcome is
	// unknown.
	Submits bool

	Timeout   time.Duration // 30 s when 0
	MaxAnswer int64         // bytes; 1 MiB when 0
}

// JSON makes a call and decodes the answer into out, unless that is nil. All
// errors are of type *provider.Error.
func (c *Client) JSON(ctx context.Context, call Call, out any) error {
	body, err := c.Bytes(ctx, call)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return c.Garbled(call, err)
	}
	return nil
}

// Bytes makes a call and returns the unchanged body of the answer. All errors are of type *provider.Error.
func (c *Client) Bytes(ctx context.Context, call Call) ([]byte, error) {
	req, key, err := c.request(ctx, call)
	if err != nil {
		return nil, err
	}
	timeout := call.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	// Once its header is written, the whole request may have arrived. WroteRequest
	// would be too late: the provider can accept the request before it is called.
	var sent atomic.Bool
	bounded = httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{
		GetConn:      func(string) { sent.Store(false) }, // also if net/http starts over
		WroteHeaders: func() { sent.Store(true) },
	})
	resp, err := c.http.Do(req.WithContext(bounded))
	if err != nil {
		return nil, c.broken(ctx, call, sent.Load(), err)
	}
	defer resp.Body.Close()
	limit := call.MaxAnswer
	if limit == 0 {
		limit = defaultMaxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, c.refused(call, resp, body, key) // the status alone suffices
	}
	switch {
	case err != nil:
		return nil, c.broken(ctx, call, true, err)
	case int64(len(body)) > limit:
		return nil, c.Garbled(call, fmt.Errorf("the answer is larger than %d bytes", limit))
	}
	return body, nil
}

// request makes the request of a call, with the credential.
func (c *Client) request(ctx context.Context, call Call) (*http.Request, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", c.broken(ctx, call, false, err)
	}
	key, err := c.key(ctx)
	if err != nil {
		return nil, "", c.fail(call, provider.Transient, "provider_unavailable",
			"The provider's credential could not be read.", fmt.Errorf("credential: %w", err))
	}
	if key == "" {
		return nil, "", c.fail(call, provider.Quota, "provider_not_configured", "The provider is not set up here.",
			errors.New("there is no credential"))
	}
	var body io.Reader
	if call.Body != nil {
		encoded, err := json.Marshal(call.Body)
		if err != nil {
			return nil, "", c.fail(call, provider.BadInput, "invalid_input", "The request cannot be written down.", err)
		}
		body = bytes.NewReader(encoded)
	}
	address := c.base + call.Path
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, address, body)
	if err != nil {
		return nil, "", c.fail(call, provider.BadInput, "invalid_input", "The request has no valid address.", bare(err))
	}
	if call.Header != nil {
		req.Header = call.Header.Clone()
	}
	req.Header.Set("Accept", "application/json")
	if accept := call.Header.Get("Accept"); accept != "" {
		req.Header.Set("Accept", accept)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.dialect.Authorize(req.Header, key)
	return req, key, nil
}
