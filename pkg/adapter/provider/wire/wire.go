// Package wire gives the HTTP client of the adapters the credentials and errors of providers, and downloads results.
// All its errors are of type *provider.Error. Start with Client.JSON.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/wire"
)

// Config has the dependencies of all adapters. HTTP, BaseURL, Files and Now are optional.
type Config struct {
	// HTTP makes the calls. Its policy for redirects is ignored: none is followed.
	HTTP *http.Client
	// BaseURL replaces the provider's own address.
	BaseURL string
	// Key returns the provider's credential. It is called for each call: the secret store caches the credential.
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
	// Refused, if set, classifies a refusal by its body. It returns nil to classify it by its status alone. The error
	// needs no cause; one without RetryAfter gets that of the answer.
	Refused func(call Call, status int, body []byte) *provider.Error
}

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	dialect Dialect
	http    *http.Client
	base    string
	key     func(ctx context.Context) (string, error)
	now     func() time.Time
}

// New makes a client.
func New(cfg Config, dialect Dialect) *Client {
	c := &Client{dialect: dialect, http: wire.Strict(cfg.HTTP), base: cfg.BaseURL, key: cfg.Key, now: cfg.Now}
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

// JSON makes a call and decodes the answer into out, unless that is nil. All errors are of type *provider.Error.
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
	if ctx.Err() != nil {
		return nil, c.failed(call, wire.Broken(ctx, ctx.Err(), false))
	}
	key, err := c.key(ctx)
	if err != nil {
		unread := failure(provider.Transient, "provider_unavailable", "The provider's credential could not be read.")
		return nil, c.because(call, unread, fmt.Errorf("credential: %w", err))
	}
	if key == "" {
		none := failure(provider.Quota, "provider_not_configured", "The provider is not set up here.")
		return nil, c.because(call, none, errors.New("there is no credential"))
	}
	header := call.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	c.dialect.Authorize(header, key)
	answer, fault := wire.Do(ctx, c.http, wire.Call{Method: call.Method, URL: c.base + call.Path, Query: call.Query,
		Header: header, JSON: call.Body, Acts: call.Submits, Timeout: call.Timeout, MaxAnswer: call.MaxAnswer})
	switch {
	case answer.Status != 0 && !answer.OK(): // the status alone suffices
		return nil, c.refused(call, answer, key)
	case fault != nil:
		return nil, c.failed(call, fault)
	}
	return answer.Body, nil
}
