package provider

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind decides what happens after an error. The list is append-only.
type ErrorKind int

// The kinds of error.
const (
	// Transient: the same step may succeed later.
	Transient ErrorKind = iota + 1
	// BadInput: the provider refuses the request, now and whenever it is repeated.
	BadInput
	// Quota: our account at the provider has reached a limit or has no credit;
	// the same step succeeds once that is mended.
	Quota
	// UnknownOutcome: the answer to a submission was lost. Submitting again may
	// make a second generation, which costs us, never the customer.
	UnknownOutcome
	// Rejected: the generation was tried and failed for good. Another attempt
	// with the same request is a new generation, and may succeed.
	Rejected
)

// String names the kind, for logs and metrics.
func (k ErrorKind) String() string {
	switch k {
	case Transient:
		return "transient"
	case BadInput:
		return "bad_input"
	case Quota:
		return "quota"
	case UnknownOutcome:
		return "unknown_outcome"
	case Rejected:
		return "rejected"
	default:
		return fmt.Sprintf("ErrorKind(%d)", int(k))
	}
}

// The failure that callers see when a provider's content rules forbid a request. It
// is the same for all providers.
const (
	CodeContentPolicy    = "content_policy"
	MessageContentPolicy = "The provider's content policy does not allow this request."
)

// Error is the error of a provider, classified by the next step.
type Error struct {
	Kind       ErrorKind
	Code       string        // stable, lower snake_case; shown to the caller as the failure's code
	Message    string        // for the caller: what happened, in whole sentences; no secret, no address, no stack
	RetryAfter time.Duration // of Transient and Quota, if the provider states it
	Cause      error         // for the log
	// Part is what of a composition the error is about: a JSON pointer into its description,
	// such as /music, or the key of a file; empty: nothing of it.
	Part string
}

// Error returns kind, code, message and cause.
func (e *Error) Error() string {
	s := fmt.Sprintf("provider: %s: %s: %s", e.Kind, e.Code, e.Message)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of an error. An unclassified error, such as a broken
// connection or an exceeded deadline, is Transient: the provider refused nothing.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Transient
}
