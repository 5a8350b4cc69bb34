// Package errs defines the only error type of the service: a code that callers may rely on, a public message that says
// how to correct the problem, and the cause, which is logged but never shown to a caller. Start with New and Wrap;
// codes.go declares all codes.
package errs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/text"
)

// Detail is one invalid field of a request.
type Detail struct {
	// JSON pointer (RFC 6901) of the invalid field, or the name of the query parameter or header. The pointer of the
	// body as a whole is empty.
	//
	// Param is the JSON pointer of a body field (RFC 6901), or the bare name of a query parameter or header.
	Param string `json:"param"`
	// What is wrong with the field.
	Message string `json:"message"`
}

// Error is the error that operations return. Message is public; Cause is not.
type Error struct {
	Code       Code
	Message    string
	Param      string
	Details    []Detail
	Context    any           // data of the code for callers, such as StateContext, or nil
	Scope      string        // the scope that the caller lacks, or empty
	RetryAfter time.Duration // time after which a retry makes sense, 0 if unknown
	Cause      error
}

// Error returns code, message and cause. It is for the log, not for callers.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error with a public message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an error with a public message and a cause for the log.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.Cause = cause
	return e
}

// With sets the data of the code, and returns e.
func (e *Error) With(context any) *Error {
	e.Context = context
	return e
}

// In returns the error with the context of invalid_state: the state of the resource, and the actions that it permits.
func (e *Error) In(state string, allowed ...string) *Error {
	return e.With(StateContext{State: state, Allowed: append([]string{}, allowed...)})
}

// Invalid makes a validation error of one field; param is its JSON pointer.
func Invalid(param, format string, args ...any) *Error {
	return InvalidFields(Detail{Param: param, Message: fmt.Sprintf(format, args...)})
}

// InvalidIf makes a validation error of one field if it is wrong, and nil otherwise.
func InvalidIf(wrong bool, param, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return Invalid(param, format, args...)
}

// longestParam bounds a parameter, in bytes: a caller chooses the names of unknown members.
const longestParam = 512

// InvalidFields makes a validation error of several fields. The first one is
// repeated as message and param, for callers that show only one.
func InvalidFields(details ...Detail) *Error {
	details = slices.Clone(details)
	for i, d := range details {
		if len(d.Param) > longestParam {
			details[i].Param = text.ClipText(d.Param, longestParam) + "…"
		}
	}
	first := details[0]
	msg := first.Param + ": " + first.Message
	if first.Param == "" {
		msg = first.Message
	}
	if n := len(details) - 1; n > 0 {
		msg = fmt.Sprintf("%s (and %d more; see details)", msg, n)
	}
	return &Error{Code: ValidationFailed, Message: msg, Param: first.Param, Details: details}
}

// All returns one error for all errors found in a request, with the details of each and the code of the first, or nil
// if there is none. An error of another package is returned alone.
func All(found ...error) error {
	var details []Detail
	var first *Error
	for _, err := range found {
		var e *Error
		switch {
		case err == nil:
			continue
		case !errors.As(err, &e):
			return err
		case first == nil:
			first = e
		}
		if e.Details == nil {
			details = append(details, Detail{Param: e.Param, Message: e.Message})
		}
		details = append(details, e.Details...)
	}
	switch len(details) {
	case 0:
		return nil
	case 1:
		return first
	}
	all := InvalidFields(details...)
	all.Code, all.Context = first.Code, first.Context
	return all
}

// Missing returns the error of an id that does not exist, is malformed, or belongs to another account or mode: a caller
// cannot distinguish these.
func Missing(noun, id string) *Error {
	if why := mistaken(noun, id); why != "" {
		return New(NotFound, "%s.", why)
	}
	return New(NotFound, "No %s has the id %q for this key's account and mode.", strings.ReplaceAll(noun, "_", " "),
		clipped(id))
}

// MissingAt is Missing for an id in a body, whose member the param names.
func MissingAt(param, noun, id string) *Error {
	e := Missing(noun, id)
	e.Param = param
	return e
}

// At names the member of a body whose resource was not found. Other errors stay as they are.
func At(param string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != NotFound {
		return err
	}
	at := *e
	at.Param = param
	return &at
}

// OfOtherMode is Missing for a resource that the account has in the other mode, which is named.
func OfOtherMode(noun, id, mode string) *Error {
	e := Missing(noun, id)
	e.Message += fmt.Sprintf(" It exists in %s mode: use a %[1]s key.", mode)
	return e
}

// CodeOf returns the code of an error: its own, timeout for an exceeded deadline, and internal for any other error that
// is not an *Error.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	default:
		return Internal
	}
}

// As returns the *Error inside err, or an internal error with err as its cause, whose message reveals nothing of it.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if CodeOf(err) == Timeout {
		return Wrap(err, Timeout, "The request took too long. Repeat it with the same Idempotency-Key.")
	}
	return Wrap(err, Internal, "Something went wrong on our side. Repeat the request with the same Idempotency-Key; "+
		"if it persists, send the request_id to support.")
}

// Below prefixes the parameters that an error names with a member of the body, unless they have the prefix already.
func Below(member string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	move := func(param string) string {
		if strings.HasPrefix(param, "/") && param != member && !strings.HasPrefix(param, member+"/") {
			return member + param
		}
		return param
	}
	moved.Param, moved.Details = move(e.Param), slices.Clone(e.Details)
	if rest, ok := strings.CutPrefix(e.Message, e.Param+": "); ok && e.Param != "" {
		moved.Message = moved.Param + ": " + rest
	}
	for i := range moved.Details {
		moved.Details[i].Param = move(moved.Details[i].Param)
	}
	return &moved
}
