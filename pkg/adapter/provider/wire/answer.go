package wire

import (
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/wire"
)

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
	after := wire.RetryAfter(answer.Header, c.now())
	var e *provider.Error
	if c.dialect.Refused != nil {
		e = c.dialect.Refused(call, answer.Status, answer.Body)
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
