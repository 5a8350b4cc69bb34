package provider

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind determines the reaction to an error. The list is append-only.
type ErrorKind int

// The kinds of error.
const (
	// Transient means that the same step may succeed later.
	Transient ErrorKind = iota + 1
	// BadInput means that the provider refuses the request, also if it is repeated.
	BadInput
	// Quota means that the service's account at the provider has reached a limit or has no credit. The same step
	// succeeds once that is corrected.
	Quota
	// UnknownOutcome means that the answer to a submission was lost. A second submission may start a second generation,
	// which costs the service, never the customer.
	UnknownOutcome
	// Rejected means that the generation was tried and failed for good. Another attempt with the same request is a new
	// generation, and may succeed.
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

// CodeBusy is the code of a Transient error by which a provider refuses calls because it gets too many of them. It has
// done nothing.
const CodeBusy = "provider_busy"

// The failure that callers see if a provider's content rules forbid a request. It is the same for all providers.
const (
	CodeContentPolicy    = "content_policy"
	MessageContentPolicy = "The provider's content policy does not allow this request."
)

// Error is the error of a provider, classified by the next step.
type Error struct {
	Kind       ErrorKind
	Code       string        // stable, lower snake_case; shown to the caller as the failure's code
	Message    string        // for the caller: the problem, in whole sentences; no secret, no address, no stack
	RetryAfter time.Duration // of Transient and Quota, if the provider states it
	Cause      error         // for the log
	// Part is the part of a composition that the error concerns: a JSON pointer into its description, such as /music,
	// or the key of a file. It is empty if there is none.
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

// NoEffect reports whether the call had no effect for certain, so that it can be made again: see task.Once.
func (e *Error) NoEffect() bool { return e.Kind != UnknownOutcome }

// Throttled reports whether the provider refuses calls only because it gets too many of them. A task waits then, and
// does not count it as a failure.
func (e *Error) Throttled() bool { return e.Kind == Transient && e.Code == CodeBusy }

// Refused returns the error of a provider that has refused or failed a request for good, or nil if err is no such
// error.
func Refused(err error) *Error {
	var e *Error
	if errors.As(err, &e) && (e.Kind == BadInput || e.Kind == Rejected) {
		return e
	}
	return nil
}

// KindOf returns the kind of an error. An unclassified error, such as a broken
// connection or an exceeded deadline, is Transient: the provider refused nothing.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Transient
}
