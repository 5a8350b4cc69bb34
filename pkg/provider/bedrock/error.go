package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/provider"
)

// maxRetryAfter bounds what a Retry-After may ask for.
const maxRetryAfter = time.Hour

// call is one call of the API.
type call struct {
	name    string
	timeout time.Duration
	// generates tells that the call makes something and takes no client token, so
	// that an answer that is lost leaves open whether that is paid for.
	generates bool
}

// call makes a call. All errors are of type *provider.Error.
func (p *Provider) call(ctx context.Context, c call, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	// Once its header is on the way, the whole request may have arrived.
	var sent atomic.Bool
	bounded = httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{
		GetConn:      func(string) { sent.Store(false) }, // also where net/http starts over
		WroteHeaders: func() { sent.Store(true) },
	})
	err := do(bounded)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = errors.Join(ctx.Err(), err)
	}
	var answer *smithyhttp.ResponseError
	var refusal smithy.APIError
	switch {
	case errors.As(err, &refusal):
		var response *http.Response
		if errors.As(err, &answer) && answer.Response != nil {
			response = answer.Response.Response
		}
		return refused(refusal, response, err)
	case c.generates && sent.Load():
		return lost(err)
	case errors.Is(err, context.Canceled):
		return &provider.Error{Kind: provider.Transient, Code: "canceled", Message: "The call to the provider was canceled.", Cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &provider.Error{Kind: provider.Transient, Code: "timeout", Message: "The provider did not answer in time.", Cause: err}
	case errors.As(err, &answer) && answer.HTTPStatusCode() > 0: // 0 where nobody answered
		return c.garbled(err)
	default:
		return &provider.Error{Kind: provider.Transient, Code: "provider_unavailable", Message: "The provider could not be reached.", Cause: err}
	}
}

// garbled is for an answer that came and cannot be understood.
func (c call) garbled(cause error) *provider.Error {
	cause = fmt.Errorf("%s: answer: %w", c.name, cause)
	if c.generates {
		return lost(cause)
	}
	return &provider.Error{Kind: provider.Transient, Code: "provider_answer_invalid", Message: "The provider's answer could not be read.", Cause: cause}
}

func lost(cause error) *provider.Error {
	return &provider.Error{Kind: provider.UnknownOutcome, Code: "answer_lost", Message: "The provider's answer was lost.", Cause: cause}
}

// refused tells of an answer that is no success, by its code, or where that is
// none that is known here, by its status.
func refused(e smithy.APIError, resp *http.Response, cause error) *provider.Error {
	is := func(kind provider.ErrorKind, code, message string) *provider.Error {
		out := &provider.Error{Kind: kind, Code: code, Message: message, Cause: cause}
		if kind == provider.Transient || kind == provider.Quota {
			out.RetryAfter = retryAfter(resp)
		}
		return out
	}
	status := 0
	if resp != nil {
		status = resp.StatusCode
	}
	// Some of them share a name with those of other services, which add a suffix.
	code := strings.TrimSuffix(e.ErrorCode(), "Exception")
	switch {
	case code == "Throttling" && strings.Contains(e.ErrorMessage(), "per day"), code == "ServiceQuotaExceeded":
		return is(provider.Quota, "provider_quota", "The allowance at the provider is used up for now.")
	case code == "Throttling", code == "TooManyRequests":
		return is(provider.Transient, "provider_busy", "The provider takes no more requests at the moment.")
	case code == "ModelTimeout", code == "ModelNotReady", code == "ModelError", code == "ServiceUnavailable", code == "InternalServer":
		return is(provider.Transient, "provider_unavailable", "The provider is unavailable at the moment.")
	case code == "Validation" && aboutContent(e.ErrorMessage()):
		return is(provider.BadInput, "content_filtered", filteredMessage)
	case code == "Validation", code == "Conflict":
		return is(provider.BadInput, "provider_refused", "The provider refuses the request.")
	case code == "AccessDenied":
		return is(provider.BadInput, "provider_access", "The provider refuses the service's account.")
	case code == "ResourceNotFound":
		return is(provider.BadInput, "provider_refused", "The provider knows no such model or generation.")
	case code == "ExpiredToken", code == "UnrecognizedClient", code == "InvalidSignature", code == "IncompleteSignature":
		return is(provider.Quota, "provider_access", "The provider refuses the service's account.")
	case status == http.StatusTooManyRequests:
		return is(provider.Transient, "provider_busy", "The provider takes no more requests at the moment.")
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return is(provider.BadInput, "provider_access", "The provider refuses the service's account.")
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return is(provider.BadInput, "provider_refused", "The provider refuses the request.")
	default:
		return is(provider.Transient, "provider_unavailable", "The provider is unavailable at the moment.")
	}
}

// retryAfter reads the header of that name, in seconds.
func retryAfter(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return min(max(time.Duration(seconds)*time.Second, 0), maxRetryAfter)
}

const filteredMessage = "The provider's rules of content do not allow this. Change the prompt."

// aboutContent tells whether a message speaks of rules of content, not of form.
func aboutContent(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"content filter", "filter reason", "responsible ai", "moderat", "content polic"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// filtered is for what the provider's rules of content forbid.
func filtered(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: "content_filtered", Message: filteredMessage, Cause: cause}
}

// failed is for a generation that failed without a reason that helps anyone.
func failed(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: "generation_failed", Message: "The provider could not make this.", Cause: cause}
}
