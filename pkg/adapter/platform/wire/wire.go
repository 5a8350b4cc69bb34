// Package wire is the HTTP client of the platforms' adapters. It makes calls with JSON, forms and
// streamed files, and returns errors of type *platform.Error.
//
// It retries no call. A call that makes a post is marked. If its answer is lost after its header
// was written, the error is platform.Unknown.
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
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

var errNoToken = errors.New("there is no access token")

// Bounds of a call.
const (
	defaultTimeout = 30 * time.Second
	// UploadTimeout bounds the upload of a part of a file.
	UploadTimeout = 5 * time.Minute
	maxAnswer     = 1 << 20
	maxExcerpt    = 512 // bytes of a refusal in the log
	maxRetryAfter = 24 * time.Hour
)

// Doer makes a call. It follows no redirect, because a redirect could carry a token elsewhere.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

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
		cfg.HTTP = &http.Client{CheckRedirect: func(*http.Request,
			[]*http.Request) error {
			return http.ErrUseLastResponse
		}}
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
	Posts   bool
	Timeout time.Duration // 30 s if it is 0
}

// Answer is a complete answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// RetryAfter returns how long the platform wants the client to wait, or 0 if it does not say.
func (c *Client) RetryAfter(a Answer) time.Duration {
	value := a.Header.Get("Retry-After")
	var after time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		after = time.Duration(min(seconds, int64(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(c.Now())
	}
	return min(max(after, 0), maxRetryAfter)
}

// OK reports whether the status is a success.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status <= 299 }

// Refused classifies an answer by its content. It returns nil if the answer is no refusal of the
// platform.
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
	if out == nil {
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
		e = c.byStatus(call, answer)
	}
	text := string(answer.Body[:min(len(answer.Body), maxExcerpt)])
	for _, s := range append(call.Secrets, call.Bearer) {
		if s != "" {
			text = strings.ReplaceAll(text, s.Reveal(), "[redacted]")
		}
	}
	if e.RetryAfter == 0 && (e.Kind == platform.Retry || e.Kind == platform.Quota) {
		e.RetryAfter = c.RetryAfter(answer)
	}
	return e.Because(c.cause(call, fmt.Errorf("status %d: %q", answer.Status, text)))
}

// byStatus classifies a refusal by its status alone.
func (c *Client) byStatus(call Call, a Answer) *platform.Error {
	switch {
	case a.Status == http.StatusTooManyRequests:
		return platform.Limited(0)
	case a.Status == http.StatusUnauthorized:
		return platform.TokenExpired()
	case call.Posts && (a.Status >= 500 || a.Status < 400 || a.Status == http.StatusRequestTimeout):
		// A proxy in front of the platform may have answered while the platform continues.
		return platform.Lost(nil)
	case a.Status >= 500, a.Status == http.StatusRequestTimeout, a.Status == http.StatusTooEarly, a.Status < 400:
		return platform.Busy()
	default:
		return platform.Reject(platform.CodeContentRefused, "The platform refuses the post.")
	}
}

// Garbled returns the error of an answer that cannot be read, or lacks a member.
func (c *Client) Garbled(call Call, cause error) *platform.Error {
	cause = c.cause(call, fmt.Errorf("answer: %w", cause))
	if call.Posts {
		return platform.Lost(cause)
	}
	return platform.Busy().Because(cause)
}

// Do makes a call. It returns an error if there is no complete answer.
func (c *Client) Do(ctx context.Context, call Call) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, c.broken(ctx, call, false, err)
	}
	timeout := call.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// The whole request may have arrived as soon as its header is written and its body read to
	// the end. WroteRequest would be too late, because the platform can act before net/http
	// calls it.
	var headers atomic.Bool
	bounded = httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{
		GetConn:      func(string) { headers.Store(false) }, // net/http also calls it for a retry
		WroteHeaders: func() { headers.Store(true) },
	})
	req, body, err := request(bounded, call)
	if err != nil {
		return Answer{}, c.broken(ctx, call, false, err)
	}
	resp, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return Answer{}, c.broken(ctx, call, headers.Load() && body.whole(), err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return Answer{}, c.broken(ctx, call, true, err)
	}
	if len(content) > maxAnswer {
		return Answer{}, c.Garbled(call, fmt.Errorf("it is larger than %d bytes", maxAnswer))
	}
	return Answer{resp.StatusCode, resp.Header, content}, nil
}

func request(ctx context.Context, call Call) (*http.Request, *sending, error) {
	address := call.URL
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}
	body := call.Body
	switch {
	case call.JSON != nil:
		raw, err := json.Marshal(call.JSON)
		if err != nil {
			return nil, nil, err
		}
		body = &Body{Type: "application/json; charset=UTF-8", Length: int64(len(raw)), Reader: bytes.NewReader(raw)}
	case call.Form != nil:
		raw := call.Form.Encode()
		body = &Body{Type: "application/x-www-form-urlencoded", Length: int64(len(raw)), Reader: strings.NewReader(raw)}
	}
	var sent *sending
	var reader io.Reader = http.NoBody
	if body != nil && body.Length > 0 {
		sent = &sending{r: body.Reader, left: body.Length}
		reader = sent // the request has no GetBody, so that net/http cannot send it twice
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, address, reader)
	if err != nil {
		return nil, nil, err
	}
	for name, values := range call.Header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	if call.Bearer != "" {
		req.Header.Set("Authorization", "Bearer "+call.Bearer.Reveal())
	}
	if body != nil {
		req.ContentLength = body.Length
		if body.Type != "" {
			req.Header.Set("Content-Type", body.Type)
		}
	}
	return req, sent, nil
}

// broken returns the error of a call without a complete answer; sent reports whether the platform
// may have received the whole request.
func (c *Client) broken(ctx context.Context, call Call, sent bool, cause error) *platform.Error {
	var u *url.Error
	if errors.As(cause, &u) {
		cause = u.Err // the cause without the address
	}
	if err := ctx.Err(); err != nil && !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	cause = c.cause(call, cause)
	switch {
	case call.Posts && sent:
		return platform.Lost(cause)
	case errors.Is(cause, context.Canceled):
		return platform.Later(platform.CodeCanceled, "The call to the platform was canceled.").Because(cause)
	default:
		return platform.Later(platform.CodePlatformUnavailable, "The platform could not be reached.").Because(cause)
	}
}

func (c *Client) cause(call Call, err error) error {
	return fmt.Errorf("%s: %s: %w", c.name, call.Name, err)
}
