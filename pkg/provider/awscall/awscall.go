// Package awscall makes the calls of adapters whose provider is a service of AWS,
// and tells every trouble as a *provider.Error of the kind that decides the next
// step, as pkg/provider/wire does for calls over plain HTTP.
//
// Nothing here repeats a call, and clients are made without the repeats of the
// SDK: the engine repeats steps through its queue, where waiting costs nothing and
// attempts are counted. The SDK would repeat a generation whose answer was lost
// without anybody noticing that it is paid for twice.
package awscall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/provider"
)

const (
	// keepIdle is short: what a function that was frozen finds in a connection is
	// less likely to be alive the older that is.
	keepIdle = 30 * time.Second
	// maxRetryAfter bounds what a Retry-After may ask for.
	maxRetryAfter = time.Hour
)

// Config returns the configuration of a client: region and credentials are those of
// cfg; the endpoint is the given one, or where that is empty the service's own,
// whatever cfg says of others; nothing is repeated; and a call ends by its context
// alone, which Do bounds.
func Config(cfg aws.Config, endpoint string) aws.Config {
	c := cfg.Copy()
	c.BaseEndpoint = nil
	if endpoint != "" {
		c.BaseEndpoint = aws.String(endpoint)
	}
	c.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	c.RetryMaxAttempts = 1
	c.HTTPClient = client{awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = keepIdle })}
	return c
}

// client keeps an answer from being lost that comes at once. The SDK closes the body
// of a request as soon as the answer begins. If net/http has yet to see that the body
// has ended, it asks it to write what is left, the closed body gives io.EOF for an
// error, and the connection is closed while the answer is being read. A body that is
// only read ends as it should.
type client struct{ aws.HTTPClient }

// Do implements aws.HTTPClient.
func (c client) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = struct{ io.ReadCloser }{req.Body}
	}
	return c.HTTPClient.Do(req)
}

// Call is one call of an API.
type Call struct {
	Name    string // of the operation
	Timeout time.Duration
	// Submits says that the call starts something at the provider and takes no
	// client token, so that an answer that is lost leaves open whether it runs.
	Submits bool
	// Refused reads a refusal by its code, which has no suffix "Exception", and its
	// message; nil for those that mean what they mean everywhere. It may be nil. The
	// error needs no cause.
	Refused func(code, message string) *provider.Error
}

// Do makes the call by the given function, which also reads the answer to its
// end. Errors of it that are of type *provider.Error are given as they are; all
// others are classified.
func (c Call) Do(ctx context.Context, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	// Once its header is on the way, the whole request may have arrived.
	var sent atomic.Bool
	bounded = httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{
		GetConn:      func(string) { sent.Store(false) }, // also where net/http starts over
		WroteHeaders: func() { sent.Store(true) },
	})
	err := do(bounded)
	var classified *provider.Error
	if err == nil || errors.As(err, &classified) {
		return err
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = errors.Join(ctx.Err(), err)
	}
	var refusal smithy.APIError
	var invalid smithy.InvalidParamsError
	var answer *smithyhttp.ResponseError
	// The SDK has such an error also for a request that nobody answered.
	answered := errors.As(err, &answer) && answer.Response != nil && answer.Response.Response != nil && answer.HTTPStatusCode() != 0
	switch {
	case errors.As(err, &refusal) && answered && answer.HTTPStatusCode() >= 300:
		return c.refused(refusal, answer.Response.Response, err)
	case errors.As(err, &invalid):
		return c.fail(provider.BadInput, "invalid_input", "The request lacks something.", err)
	case c.Submits && sent.Load():
		return c.lost(err)
	case errors.Is(err, context.Canceled):
		return c.fail(provider.Transient, "canceled", "The call to the provider was canceled.", err)
	case errors.Is(err, context.DeadlineExceeded):
		return c.fail(provider.Transient, "timeout", "The provider did not answer in time.", err)
	case answered:
		return c.Garbled(err)
	default:
		return c.fail(provider.Transient, "provider_unavailable", "The provider could not be reached.", err)
	}
}

// Garbled is the error for an answer that came and cannot be understood.
func (c Call) Garbled(cause error) *provider.Error {
	cause = fmt.Errorf("answer: %w", cause)
	if c.Submits {
		return c.lost(cause)
	}
	return c.fail(provider.Transient, "provider_answer_invalid", "The provider's answer could not be read.", cause)
}

func (c Call) lost(cause error) *provider.Error {
	return c.fail(provider.UnknownOutcome, "answer_lost", "The provider's answer was lost.", cause)
}

func (c Call) fail(kind provider.ErrorKind, code, message string, cause error) *provider.Error {
	return &provider.Error{Kind: kind, Code: code, Message: message, Cause: fmt.Errorf("%s: %w", c.Name, cause)}
}

// refused tells of an answer that is no success.
func (c Call) refused(refusal smithy.APIError, resp *http.Response, cause error) *provider.Error {
	// Some services leave the suffix out, some add a name space.
	_, code, found := strings.Cut(refusal.ErrorCode(), "#")
	if !found {
		code = refusal.ErrorCode()
	}
	code = strings.TrimSuffix(code, "Exception")
	var e *provider.Error
	if c.Refused != nil {
		e = c.Refused(code, refusal.ErrorMessage())
	}
	if e == nil {
		e = byCode(code, resp.StatusCode)
	}
	told := c.fail(e.Kind, e.Code, e.Message, cause)
	if told.Kind == provider.Transient || told.Kind == provider.Quota {
		told.RetryAfter = max(e.RetryAfter, retryAfter(resp))
	}
	return told
}

var (
	// throttled are the codes for too many calls.
	throttled = []string{"Throttling", "RequestLimitExceeded", "TooManyRequests", "RequestThrottled", "SlowDown"}

	// ours are the codes for what is wrong with our credentials or their rights: it
	// is nothing that the caller could mend, and it works once we have.
	ours = []string{
		"AccessDenied", "UnrecognizedClient", "InvalidSignature", "SignatureDoesNotMatch", "IncompleteSignature", "InvalidClientTokenId",
		"MissingAuthenticationToken", "ExpiredToken", "OptInRequired", "SubscriptionRequired", "NotAuthorized",
	}
)

// byCode classifies a refusal that means the same at every service, and where its
// code is none of those, by its status.
func byCode(code string, status int) *provider.Error {
	is := func(kind provider.ErrorKind, code, message string) *provider.Error {
		return &provider.Error{Kind: kind, Code: code, Message: message}
	}
	switch {
	case code == "ServiceQuotaExceeded", code == "LimitExceeded":
		return is(provider.Quota, "provider_quota", "The service's quota at the provider is used up for now.")
	case slices.Contains(throttled, code), status == http.StatusTooManyRequests:
		return is(provider.Transient, "provider_busy", "The provider accepts no more requests at the moment.")
	case slices.Contains(ours, code), status == http.StatusForbidden, status == http.StatusUnauthorized:
		return is(provider.Quota, "provider_access", "The provider refuses the service's account.")
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return is(provider.BadInput, "provider_refused", "The provider refuses the request.")
	default:
		return is(provider.Transient, "provider_unavailable", "The provider is unavailable at the moment.")
	}
}

// retryAfter reads the header of that name, in seconds.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return min(max(time.Duration(seconds)*time.Second, 0), maxRetryAfter)
}
