package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Kind is what is wrong with a call.
type Kind int

// The kinds of calls without a complete answer.
const (
	// Lost means that the other side may have acted, and its answer is missing.
	Lost Kind = iota + 1
	// Invalid means that the request cannot be made.
	Invalid
	// Canceled means that the caller has given up.
	Canceled
	// Late means that the time of the call was over.
	Late
	// Unreachable means that the connection failed.
	Unreachable
	// Unreadable means that the answer cannot be parsed, or lacks a member.
	Unreadable
)

// The kinds of refusals.
const (
	// Limited means that the other side takes no more calls at the moment.
	Limited Kind = iota + 100
	// Unauthorized means that the credential is not valid.
	Unauthorized
	// Unpaid means that the account has no credit.
	Unpaid
	// Forbidden means that the credential does not allow the call.
	Forbidden
	// Unavailable means that the other side, or a proxy in front of it, does not work.
	Unavailable
	// Refused means that the other side does not take the request, and takes no repeat of it.
	Refused
)

// KindOf returns the kind of a status that is no success.
func KindOf(status int) Kind {
	switch status {
	case http.StatusTooManyRequests:
		return Limited
	case http.StatusUnauthorized:
		return Unauthorized
	case http.StatusPaymentRequired:
		return Unpaid
	case http.StatusForbidden:
		return Forbidden
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return Unavailable
	}
	if status >= 400 && status <= 499 {
		return Refused
	}
	return Unavailable
}

// Fault is the failure of a call without a complete answer. Its cause has no address.
type Fault struct {
	Kind  Kind
	Cause error
}

// Broken returns the fault of a call with an error of net/http. The argument acted reports whether the other side may
// have acted.
func Broken(ctx context.Context, cause error, acted bool) *Fault {
	cause = Bare(cause)
	if err := ctx.Err(); err != nil && !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	switch {
	case acted:
		return &Fault{Lost, cause}
	case errors.Is(cause, context.Canceled):
		return &Fault{Canceled, cause}
	case errors.Is(cause, context.DeadlineExceeded):
		return &Fault{Late, cause}
	}
	return &Fault{Unreachable, cause}
}

// Unread returns the fault of an answer that cannot be parsed, or lacks a member.
func Unread(cause error, acted bool) *Fault {
	cause = fmt.Errorf("answer: %w", cause)
	if acted {
		return &Fault{Lost, cause}
	}
	return &Fault{Unreadable, cause}
}

// Bare removes the URL from an error of net/http: a URL may contain a token or a signature.
func Bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
