package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/wire"
)

const (
	// keepIdle is short: after a function was frozen, an old connection is likely to be dead.
	keepIdle = 30 * time.Second
	// maxRetryAfter bounds the value of Retry-After.
	maxRetryAfter = time.Hour
)

// AWSConfig returns the configuration of the client of a provider that is a service of AWS. Region and credentials are
// those of cfg. The endpoint is the given one, or the service's own if that is empty; cfg's is ignored. There are no
// retries, as with Client: the SDK would silently repeat a generation whose answer was lost, which is then billed
// twice. Only the context, which AWSCall.Do bounds, limits a call.
func AWSConfig(cfg aws.Config, endpoint string) aws.Config {
	c := cfg.Copy()
	c.BaseEndpoint = nil
	if endpoint != "" {
		c.BaseEndpoint = aws.String(endpoint)
	}
	c.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	c.RetryMaxAttempts = 1
	c.HTTPClient = awsClient{awshttp.NewBuildableClient().WithTransportOptions(
		func(t *http.Transport) { t.IdleConnTimeout = keepIdle })}
	return c
}

// awsClient works around a race that loses answers that come at once. The SDK closes the body of a request as soon as
// the answer begins. If net/http has not seen the end of that body yet, it calls its WriteTo, which returns io.EOF once
// the body is closed. net/http then closes the connection while the answer is being read. A body that only has Read
// ends correctly.
type awsClient struct{ aws.HTTPClient }

func (c awsClient) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = struct{ io.ReadCloser }{req.Body}
	}
	return c.HTTPClient.Do(req)
}

// AWSCall is one call of an API of AWS.
type AWSCall struct {
	Name    string // of the operation
	Timeout time.Duration
	// Submits reports whether the call starts a generation at the provider and takes no client token: if its answer is
	// lost, the outcome is unknown.
	Submits bool
	// Refused, if set, classifies a refusal by its code, without the suffix "Exception", and its message. It returns
	// nil for codes that mean the same at every service. The error needs no cause.
	Refused func(code, message string) *provider.Error
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
	var invalid smithy.InvalidParamsError
	var answer *smithyhttp.ResponseError
	// The SDK also returns such an error for a request without an answer.
	answered := errors.As(err, &answer) && answer.Response != nil && answer.Response.Response != nil &&
		answer.HTTPStatusCode() != 0
	switch {
	case errors.As(err, &refusal) && answered && answer.HTTPStatusCode() >= 300:
		return c.refused(refusal, answer.Response.Response, err)
	case errors.As(err, &invalid):
		return c.fail(provider.BadInput, "invalid_input", "The request lacks something.", err)
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
	if c.Refused != nil {
		e = c.Refused(code, refusal.ErrorMessage())
	}
	if e == nil {
		e = byCode(code, resp.StatusCode)
	}
	failed := c.fail(e.Kind, e.Code, e.Message, cause)
	if failed.Kind == provider.Transient || failed.Kind == provider.Quota {
		// A date refers to the clock of the service. Without one, it is far away.
		at, _ := http.ParseTime(resp.Header.Get("Date"))
		failed.RetryAfter = max(e.RetryAfter, min(wire.RetryAfter(resp.Header, at), maxRetryAfter))
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
