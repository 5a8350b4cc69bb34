// Package wire gives the HTTP client of the adapters the credentials and errors of providers, and downloads results.
// All its errors are of type *provider.Error. Start with Client.JSON.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
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
	// Classify, if set, classifies a refusal by its body. It returns nil to classify it by its status alone. The error
	// needs no cause; one without RetryAfter gets that of the answer.
	Classify func(call Call, status int, body []byte) *provider.Error
}

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	dialect Dialect
	http    *http.Client
	base    string
	key     func(ctx context.Context) (string, error)
	now     func() time.Time
}

// New makes a client that speaks the dialect of a provider. It makes no call.
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

// longRetryAfter separates a rate limit, which passes soon, from an exhausted quota.
const longRetryAfter = 5 * time.Minute

// byKind has the error of each kind of failure.
var byKind = map[wire.Kind]provider.Error{
	wire.Lost:        failure(provider.UnknownOutcome, "answer_lost", "The provider's answer was lost."),
	wire.Invalid:     failure(provider.BadInput, "invalid_input", "The request cannot be written down."),
	wire.Canceled:    failure(provider.Transient, "canceled", "The call to the provider was canceled."),
	wire.Late:        failure(provider.Transient, "timeout", "The provider did not answer in time."),
	wire.Unreachable: failure(provider.Transient, "provider_unavailable", "The provider could not be reached."),
	wire.Unreadable: failure(provider.Transient, "provider_answer_invalid",
		"The provider's answer could not be read."),
	wire.Limited: failure(provider.Transient, provider.CodeBusy,
		"The provider accepts no more requests at the moment."),
	wire.Unpaid: failure(provider.Quota, "provider_quota", "The account at the provider has no credit."),
	// The fault is the service's credential, not the request: the call succeeds once that is corrected.
	wire.Unauthorized: failure(provider.Quota, "provider_access", "The provider refuses the service's account."),
	wire.Forbidden:    failure(provider.Quota, "provider_access", "The provider refuses the service's account."),
	wire.Unavailable: failure(provider.Transient, "provider_unavailable",
		"The provider is unavailable at the moment."),
	wire.Refused: failure(provider.BadInput, "provider_refused", "The provider refuses the request."),
}

func failure(kind provider.ErrorKind, code, message string) provider.Error {
	return provider.Error{Kind: kind, Code: code, Message: message}
}

// ByKind returns the error of a kind of failure.
func ByKind(kind wire.Kind) *provider.Error {
	e := byKind[kind]
	return &e
}

// Garbled returns the error of an answer that cannot be parsed, or that lacks a required member.
func (c *Client) Garbled(call Call, cause error) *provider.Error {
	return c.failed(call, wire.Unread(cause, call.Submits))
}

func (c *Client) failed(call Call, fault *wire.Fault) *provider.Error {
	return c.because(call, byKind[fault.Kind], fault.Cause)
}

// refused returns the error of an unsuccessful answer.
func (c *Client) refused(call Call, answer wire.Answer, key string) *provider.Error {
	after := safehttp.RetryAfter(answer.Header, c.now())
	var e *provider.Error
	if c.dialect.Classify != nil {
		e = c.dialect.Classify(call, answer.Status, answer.Body)
	}
	if kind := wire.KindOf(answer.Status); e == nil && kind == wire.Limited && after > longRetryAfter {
		full := failure(provider.Quota, "provider_quota", "The service's quota at the provider is used up for now.")
		e = &full
	} else if e == nil {
		e = ByKind(kind)
	}
	if e.RetryAfter == 0 && (e.Kind == provider.Transient || e.Kind == provider.Quota) {
		e.RetryAfter = after
	}
	return c.because(call, *e, answer.Refusal(key))
}

// because returns the error with a cause, which names the call without its query.
func (c *Client) because(call Call, e provider.Error, cause error) *provider.Error {
	e.Cause = fmt.Errorf("%s: %s %s: %w", c.dialect.Provider, call.Method, call.Path, cause)
	return &e
}

const (
	// keepIdle is short: after a function was frozen, an old connection is likely to be dead.
	keepIdle = 30 * time.Second
	// maxRetryAfter bounds the value of Retry-After.
	maxRetryAfter = time.Hour
)

// AWSConfig returns the configuration of the client of a provider that is a service of AWS. Region and credentials are
// those of cfg. The endpoint is the given one, or the service's own if that is empty; cfg's is ignored. There are no
// retries, as with Client: one would silently repeat a generation whose answer was lost, which is then billed
// twice. Only the context, which AWSCall.Do bounds, limits a call.
func AWSConfig(cfg aws.Config, endpoint string) aws.Config {
	c := cfg.Copy()
	c.BaseEndpoint = nil
	if endpoint != "" {
		c.BaseEndpoint = aws.String(endpoint)
	}
	c.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	c.RetryMaxAttempts = 1
	c.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(
		func(t *http.Transport) { t.IdleConnTimeout = keepIdle })
	return c
}

// AWSCall is one call of an API of AWS.
type AWSCall struct {
	Name    string // of the operation
	Timeout time.Duration
	// Submits reports whether the call starts a generation at the provider and takes no client token: if its answer is
	// lost, the outcome is unknown.
	Submits bool
	// Classify, if set, classifies a refusal by its code, without the suffix "Exception", and its message. It returns
	// nil for codes that mean the same at every service. The error needs no cause.
	Classify func(code, message string) *provider.Error
}

// Do makes the call by the given function, which also reads the whole answer. It
// returns errors of type *provider.Error unchanged, and classifies all others.
func (c AWSCall) Do(ctx context.Context, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	bounded, sent := wire.Traced(bounded)
	err := do(bounded)
	var classified *provider.Error
	if err == nil || errors.As(err, &classified) {
		return err
	}
	var refusal smithy.APIError
	var answer *smithyhttp.ResponseError
	answered := errors.As(err, &answer) && answer.Response != nil && answer.Response.Response != nil &&
		answer.HTTPStatusCode() != 0
	if errors.As(err, &refusal) && answered && answer.HTTPStatusCode() >= 300 {
		return c.refused(refusal, answer.Response.Response, err)
	}
	fault := wire.Broken(ctx, err, c.Submits && sent())
	if fault.Kind == wire.Unreachable && answered {
		return c.Garbled(err)
	}
	return c.failed(fault)
}

// Garbled returns the error of an answer that cannot be parsed, or that lacks a required member.
func (c AWSCall) Garbled(cause error) *provider.Error { return c.failed(wire.Unread(cause, c.Submits)) }

func (c AWSCall) failed(fault *wire.Fault) *provider.Error {
	e := ByKind(fault.Kind)
	return c.fail(e.Kind, e.Code, e.Message, fault.Cause)
}

func (c AWSCall) fail(kind provider.ErrorKind, code, message string, cause error) *provider.Error {
	return &provider.Error{Kind: kind, Code: code, Message: message, Cause: fmt.Errorf("%s: %w", c.Name, cause)}
}

// refused returns the error of an unsuccessful answer.
func (c AWSCall) refused(refusal smithy.APIError, resp *http.Response, cause error) *provider.Error {
	// Some services omit the suffix, some add a name space.
	_, code, found := strings.Cut(refusal.ErrorCode(), "#")
	if !found {
		code = refusal.ErrorCode()
	}
	code = strings.TrimSuffix(code, "Exception")
	var e *provider.Error
	if c.Classify != nil {
		e = c.Classify(code, refusal.ErrorMessage())
	}
	if e == nil {
		e = byCode(code, resp.StatusCode)
	}
	failed := c.fail(e.Kind, e.Code, e.Message, cause)
	if failed.Kind == provider.Transient || failed.Kind == provider.Quota {
		// A date refers to the clock of the service. Without one, it is far away.
		at, _ := http.ParseTime(resp.Header.Get("Date"))
		failed.RetryAfter = max(e.RetryAfter, min(safehttp.RetryAfter(resp.Header, at), maxRetryAfter))
	}
	return failed
}

var (
	// throttled are the codes for too many calls.
	throttled = []string{"Throttling", "RequestLimitExceeded", "TooManyRequests", "RequestThrottled", "SlowDown"}

	// ours are the codes for faults of the service's credentials or permissions. The caller cannot correct these. The
	// call succeeds once they are corrected.
	ours = []string{
		"AccessDenied", "UnrecognizedClient", "InvalidSignature", "SignatureDoesNotMatch", "IncompleteSignature",
		"InvalidClientTokenId",
		"MissingAuthenticationToken", "ExpiredToken", "OptInRequired", "SubscriptionRequired", "NotAuthorized",
	}
)

// byCode classifies a refusal by the codes that mean the same at every service, and other codes by status.
func byCode(code string, status int) *provider.Error {
	switch {
	case code == "ServiceQuotaExceeded", code == "LimitExceeded":
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The service's quota at the provider is used up for now."}
	case slices.Contains(throttled, code):
		return ByKind(wire.Limited)
	case slices.Contains(ours, code):
		return ByKind(wire.Forbidden)
	}
	return ByKind(wire.KindOf(status))
}

// ParseLanguage reads the language of a request (BCP 47).
func ParseLanguage(tag string) (language.Tag, error) {
	parsed, err := language.Parse(tag)
	if err != nil {
		return parsed, &provider.Error{Kind: provider.BadInput, Code: "invalid_input",
			Message: "The language is not a language tag (BCP 47).", Cause: err}
	}
	return parsed, nil
}

// The default bounds of a file.
const (
	fileTimeout = 2 * time.Minute
	maxFile     = 256 << 20
)

// Files opens files at providers. *Downloads implements it.
type Files interface {
	// Open opens the file at an address from a provider. Gone is the kind of error for a file that no longer exists:
	// Transient if fetching the result again returns a new address, otherwise Rejected. All errors, also of reading,
	// are of type *provider.Error.
	Open(ctx context.Context, address string, gone provider.ErrorKind) (io.ReadCloser, error)
}

// File returns a file of a result, which is opened lazily.
func File(from Files, address string, gone provider.ErrorKind) provider.File {
	return provider.File{Open: func(ctx context.Context) (io.ReadCloser, error) {
		return from.Open(ctx,
			address, gone)
	}}
}

// Downloads fetches files through pkg/cloud/safehttp: a URL in a provider's answer is not trusted, and must not lead
// into the service's network.
type Downloads struct{ client *safehttp.Client }

var _ Files = (*Downloads)(nil)

// NewFiles makes Downloads. Without bounds in the options, a file may take two minutes and 256 MiB.
func NewFiles(o safehttp.Options) *Downloads {
	if o.Timeout == 0 {
		o.Timeout = fileTimeout
	}
	if o.MaxBody == 0 {
		o.MaxBody = maxFile
	}
	return &Downloads{client: safehttp.New(o)}
}

// Open implements Files.
func (d *Downloads) Open(ctx context.Context, address string, gone provider.ErrorKind) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, invalidAddress(wire.Bare(err))
	}
	resp, err := d.client.Do(req)
	if err != nil {
		var blocked *safehttp.BlockedError
		if errors.As(err, &blocked) {
			return nil, invalidAddress(blocked)
		}
		return nil, unreadable(err)
	}
	if resp.StatusCode == http.StatusOK {
		return body{resp.Body}, nil
	}
	_ = resp.Body.Close() // its content is not used
	cause := fmt.Errorf("file: status %d", resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return nil, &provider.Error{Kind: gone, Code: "result_expired",
			Message: "The provider no longer keeps the result.", Cause: cause}
	default:
		return nil, unreadable(cause)
	}
}

// body converts the errors of reading to *provider.Error.
type body struct{ io.ReadCloser }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, safehttp.ErrBodyTooLarge):
		return n, &provider.Error{Kind: provider.Rejected, Code: "result_too_large",
			Message: "The provider made a file that is too large.", Cause: err}
	default:
		return n, unreadable(err)
	}
}

// invalidAddress returns the error of an address that is invalid or forbidden.
func invalidAddress(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: "result_invalid",
		Message: "The provider returned a result that cannot be read.", Cause: fmt.Errorf("file: %w", cause)}
}

func unreadable(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Transient, Code: "result_unreadable",
		Message: "The provider's file could not be read.", Cause: fmt.Errorf("file: %w", wire.Bare(cause))}
}
