package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

const (
	// longRetryAfter separates a rate limit, which passes soon, from an exhausted
	// quota.
	longRetryAfter = 5 * time.Minute
	maxRetryAfter  = 24 * time.Hour
)

// Garbled returns the error of an answer that cannot be parsed, or that lacks a
// required member.
func (c *Client) Garbled(call Call, cause error) *provider.Error {
	cause = fmt.Errorf("answer: %w", cause)
	if call.Submits {
		return c.unknown(call, cause)
	}
	return c.fail(call, provider.Transient, "provider_answer_invalid",
		"The provider's answer could not be read.", cause)
}

// broken returns the error of a call without a complete answer. The argument sent reports that the provider may have
// received the request.
func (c *Client) broken(ctx context.Context, call Call, sent bool, cause error) *provider.Error {
	cause = bare(cause)
	if err := ctx.Err(); err != nil && !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	switch {
	case call.Submits && sent:
		return c.unknown(call, cause)
	case errors.Is(cause, context.Canceled):
		return c.fail(call, provider.Transient, "canceled", "The call to the provider was canceled.", cause)
	case errors.Is(cause, context.DeadlineExceeded):
		return c.fail(call, provider.Transient, "timeout", "The provider did not answer in time.", cause)
	default:
		return c.fail(call, provider.Transient, "provider_unavailable", "The provider could not be reached.", cause)
	}
}

func (c *Client) unknown(call Call, cause error) *provider.Error {
	return c.fail(call, provider.UnknownOutcome, "answer_lost", "The provider's answer was lost.", cause)
}

// refused returns the error of an unsuccessful answer.
func (c *Client) refused(call Call, resp *http.Response, body []byte, key string) *provider.Error {
	after := retryAfter(resp.Header.Get("Retry-After"), c.now())
	// Some providers echo an invalid credential.
	text := strings.ReplaceAll(string(body), key, "[credential]")
	cause := fmt.Errorf("status %d: %q", resp.StatusCode, text[:min(len(text), maxExcerpt)])
	var e *provider.Error
	if c.dialect.Refused != nil {
		e = c.dialect.Refused(call, resp.StatusCode, body)
	}
	if e == nil {
		e = byStatus(resp.StatusCode, after)
	}
	if e.RetryAfter == 0 && (e.Kind == provider.Transient || e.Kind == provider.Quota) {
		e.RetryAfter = after
	}
	return c.fail(call, e.Kind, e.Code, e.Message, cause, e.RetryAfter)
}

// byStatus classifies a refusal by its status alone.
func byStatus(status int, after time.Duration) *provider.Error {
	switch {
	case status == http.StatusTooManyRequests && after > longRetryAfter:
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The service's quota at the provider is used up for now."}
	case status == http.StatusTooManyRequests:
		return &provider.Error{Kind: provider.Transient, Code: "provider_busy",
			Message: "The provider accepts no more requests at the moment."}
	case status == http.StatusPaymentRequired:
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The account at the provider has no credit."}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		// The fault is the service's credential, not the request: the call succeeds once that is corrected.
		return &provider.Error{Kind: provider.Quota, Code: "provider_access",
			Message: "The provider refuses the service's account."}
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500, status < 400:
		return &provider.Error{Kind: provider.Transient, Code: "provider_unavailable",
			Message: "The provider is unavailable at the moment."}
	default:
		return &provider.Error{Kind: provider.BadInput, Code: "provider_refused",
			Message: "The provider refuses the request."}
	}
}

// fail returns an error whose cause names the call, without its query.
func (c *Client) fail(call Call, kind provider.ErrorKind, code, message string, cause error,
	after ...time.Duration) *provider.Error {
	e := &provider.Error{
		Kind: kind, Code: code, Message: message,
		Cause: fmt.Errorf("%s: %s %s: %w", c.dialect.Provider, call.Method, call.Path, cause),
	}
	if len(after) > 0 {
		e.RetryAfter = after[0]
	}
	return e
}

// bare removes the URL from an error of net/http: a URL may contain a signature, and its host is internal.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// retryAfter parses a Retry-After header: seconds, or a date (RFC 9110, 10.2.3).
func retryAfter(value string, now time.Time) time.Duration {
	var after time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		after = time.Duration(min(seconds, int64(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(now)
	}
	return min(max(after, 0), maxRetryAfter)
}
