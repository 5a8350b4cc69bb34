// Package wire gives the HTTP client of the adapters the errors, tokens and files of platforms. All its errors are of
// type *platform.Error. A call that makes a post is marked: if its answer is lost, the error is platform.Unknown. Start
// with API, whose method Call makes a call.
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

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/wire"
)

var errNoToken = errors.New("there is no access token")

// UploadTimeout bounds the upload of a part of a file.
const UploadTimeout = 5 * time.Minute

// Doer sends a request. It follows no redirect.
type Doer = wire.Doer

// Answer is a complete answer.
type Answer = wire.Answer

// Config has the dependencies of all adapters. HTTP, BaseURL and Now are optional.
type Config struct {
	HTTP Doer
	// BaseURL replaces all addresses of the platform.
	BaseURL string
	// App returns the operator's application. Only platforms with OAuth need it.
	App func(ctx context.Context) (platform.App, error)
	Now func() time.Time
}

// Client calls one platform. It is safe for concurrent use.
type Client struct {
	name string
	cfg  Config
}

// New returns a client of a platform.
func New(name string, cfg Config) *Client {
	if cfg.HTTP == nil {
		cfg.HTTP = wire.Strict(nil)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	return &Client{name: name, cfg: cfg}
}

// Now returns the time.
func (c *Client) Now() time.Time { return c.cfg.Now() }

// Base returns the address of the platform, or the address that replaces it.
func (c *Client) Base(own string) string {
	if c.cfg.BaseURL != "" {
		return c.cfg.BaseURL
	}
	return own
}

// Trusts reports whether an address that the platform has named is on the platform's own domain,
// with TLS, or on the server that replaces it.
func (c *Client) Trusts(address, domain string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if base, err := url.Parse(c.cfg.BaseURL); err == nil && c.cfg.BaseURL != "" && u.Scheme == base.Scheme &&
		u.Host == base.Host {
		return true
	}
	return u.Scheme == "https" && (u.Host == domain || strings.HasSuffix(u.Host, "."+domain))
}

// App returns the operator's application.
func (c *Client) App(ctx context.Context) (platform.App, error) {
	if c.cfg.App == nil {
		return platform.App{}, notConfigured(nil)
	}
	app, err := c.cfg.App(ctx)
	if err != nil {
		return platform.App{}, platform.Later(platform.CodePlatformUnavailable,
			"The platform's application could not be read.").Because(err)
	}
	if app.ID == "" {
		return platform.App{}, notConfigured(errors.New("there is no application"))
	}
	return app, nil
}

func notConfigured(cause error) error {
	return platform.Reject(platform.CodeNotConfigured, "The platform is not set up here.").Because(cause)
}

// Call is one request. At most one of JSON, Form and Body is set.
type Call struct {
	Name    string // for the log, because the address may contain a token
	Method  string
	URL     string
	Query   url.Values
	Header  http.Header
	Bearer  platform.Secret // sent in the header Authorization
	JSON    any
	Form    url.Values
	Body    *Body
	Secrets []platform.Secret // redacted in the logged part of a refusal

	// Posts reports whether the call may make a post visible.
	Posts bool
	// Void reports whether an answer without a body is complete.
	Void    bool
	Timeout time.Duration // 30 s if it is 0
}

// Refused classifies an answer by its content. It returns nil if the answer is no refusal of the platform.
type Refused func(a Answer) *platform.Error

// JSON makes a call, classifies its answer and decodes it into out, unless out is nil.
func (c *Client) JSON(ctx context.Context, call Call, refused Refused, out any) error {
	answer, err := c.Do(ctx, call)
	if err != nil {
		return err
	}
	if err := c.Check(call, answer, refused); err != nil {
		return err
	}
	if out == nil || call.Void && len(answer.Body) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return c.Garbled(call, err)
	}
	return nil
}

// Check returns the error of an answer that is a refusal.
func (c *Client) Check(call Call, answer Answer, refused Refused) error {
	var e *platform.Error
	if refused != nil {
		e = refused(answer)
	}
	if e == nil && answer.OK() {
		return nil
	}
	if e == nil {
		e = byKind(wire.KindOf(answer.Status), call.Posts && answer.Status != http.StatusTooEarly)
	}
	if e.RetryAfter == 0 && (e.Kind == platform.Retry || e.Kind == platform.Quota) {
		e.RetryAfter = wire.RetryAfter(answer.Header, c.Now())
	}
	secrets := []string{call.Bearer.Reveal()}
	for _, s := range call.Secrets {
		secrets = append(secrets, s.Reveal())
	}
	if e.Words == "" {
		e.Saying(said(answer, secrets))
	}
	return e.Because(c.cause(call, answer.Refusal(secrets...)))
}

// byKind returns the error of a kind of failure. The argument posts reports whether the call may have made a post.
func byKind(kind wire.Kind, posts bool) *platform.Error {
	switch kind {
	case wire.Lost:
		return platform.Lost(nil)
	case wire.Invalid, wire.Late, wire.Unreachable:
		return platform.Later(platform.CodePlatformUnavailable, "The platform could not be reached.")
	case wire.Canceled:
		return platform.Later(platform.CodeCanceled, "The call to the platform was canceled.")
	case wire.Limited:
		return platform.Limited(0)
	case wire.Unauthorized:
		return platform.TokenExpired()
	case wire.Unreadable:
		return platform.Busy()
	case wire.Unavailable:
		if posts { // a proxy in front of the platform may have answered while the platform continues
			return platform.Lost(nil)
		}
		return platform.Busy()
	}
	return platform.Odd()
}

// Garbled returns the error of an answer that cannot be read, or lacks a member.
func (c *Client) Garbled(call Call, cause error) *platform.Error {
	return c.failed(call, wire.Unread(cause, call.Posts))
}

// Do makes a call. It returns an error if there is no complete answer.
func (c *Client) Do(ctx context.Context, call Call) (Answer, error) {
	header := call.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if call.Bearer != "" {
		header.Set("Authorization", "Bearer "+call.Bearer.Reveal())
	}
	if call.JSON != nil {
		header.Set("Content-Type", "application/json; charset=UTF-8") // TikTok asks for it
	}
	answer, fault := wire.Do(ctx, c.cfg.HTTP, wire.Call{Method: call.Method, URL: call.URL, Query: call.Query,
		Header: header, JSON: call.JSON, Form: call.Form, Body: call.Body, Acts: call.Posts, Timeout: call.Timeout})
	if fault != nil {
		return Answer{}, c.failed(call, fault)
	}
	return answer, nil
}

func (c *Client) failed(call Call, fault *wire.Fault) *platform.Error {
	return byKind(fault.Kind, call.Posts).Because(c.cause(call, fault.Cause))
}

func (c *Client) cause(call Call, err error) error {
	return fmt.Errorf("%s: %s: %w", c.name, call.Name, err)
}
