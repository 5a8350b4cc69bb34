package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/base/errs"
)

// The errors of a table that does not serve a call. None of them says that nothing was changed: an earlier attempt may
// have been carried out.
var (
	// errBusy is returned if every attempt meets other transactions.
	errBusy = errs.New(errs.ProviderUnavailable, "Other requests are changing the same resource. Repeat the request "+
		"with the same Idempotency-Key in a second.")
	// errOverloaded is returned if the table refuses every attempt because of its load.
	errOverloaded = errs.New(errs.ProviderUnavailable, "The service has too much to do at the moment. Repeat the "+
		"request with the same Idempotency-Key after the seconds in Retry-After.")
	// errUnreachable is returned if the table does not answer, or fails.
	errUnreachable = errs.New(errs.ProviderUnavailable, "The service cannot reach its data at the moment. Repeat the "+
		"request with the same Idempotency-Key after the seconds in Retry-After.")
	// errUnknown is returned if a write was sent and its answer was lost.
	errUnknown = errs.New(errs.Timeout, "The request was interrupted, and may have had its effect. Repeat it with "+
		"the same Idempotency-Key: it then has its effect at most once.")
	// errLate is returned if the deadline passes before a commit is sent.
	errLate = errs.New(errs.Timeout, "The request took too long. Repeat it with the same Idempotency-Key.")
)

// ErrUnstorable is the error of a call with a value that the table does not take, however often it is sent: an empty or
// long key, or an item above 400 KB.
var ErrUnstorable = errors.New("the table does not take a value of the call")

// attempts follows the SDK's attempts of one read or write. The SDK returns only the error of the last attempt. Whether
// a write may have been carried out, and why the time ran out, depends on all of them.
type attempts struct {
	write bool
	// until is the time up to which the last attempt may be sent. The zero time means any time.
	until time.Time
	now   func() time.Time
	// lastError is the reason for which the last attempt failed, if it may succeed later, or nil.
	lastError error
	// unknown reports that an attempt was sent whose outcome is unknown.
	unknown bool
}

func (db *DB) reading() *attempts { return &attempts{now: db.now} }

func (db *DB) writing(until time.Time) *attempts {
	return &attempts{write: true, until: until, now: db.now}
}

// follow is the option of a call that follows its attempts. It checks the deadline before each attempt, just before the
// attempt is signed. A request that is delayed on its way is harmless: its signature expires within minutes.
func (a *attempts) follow(o *dynamodb.Options) {
	step := middleware.FinalizeMiddlewareFunc("Attempts", func(ctx context.Context, in middleware.FinalizeInput,
		next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if !a.until.IsZero() && a.now().Round(0).After(a.until) {
			return middleware.FinalizeOutput{}, middleware.Metadata{}, errLate
		}
		out, meta, err := next.HandleFinalize(ctx, in)
		a.note(ctx, err)
		return out, meta, err
	})
	o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
		return s.Finalize.Insert(step, "Retry", middleware.After)
	})
}

// note records the outcome of an attempt, or of a call.
func (a *attempts) note(ctx context.Context, err error) {
	switch {
	case err == nil:
	case isThrottled(err):
		a.lastError = errOverloaded
	case isContention(err):
		a.lastError = errBusy
	case ctx.Err() != nil:
		a.unknown = true
	case isUnsent(err):
		a.lastError = errUnreachable
	case isUnanswered(err):
		a.lastError, a.unknown = errUnreachable, true
	}
}

// failure returns the error of a call that has failed for good. It asks callers to repeat the call if that may help.
func (a *attempts) failure(ctx context.Context, err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	ended := ctx.Err() != nil
	if !ended {
		a.note(ctx, err)
	}
	switch transient := ended || isContention(err) || isUnsent(err) || isUnanswered(err); {
	case transient && a.write && a.unknown:
		return fmt.Errorf("%s: %w: %w", what, errUnknown, err)
	case transient && a.lastError != nil:
		return fmt.Errorf("%s: %w: %w", what, a.lastError, err)
	case codeOf(err) == "ValidationException":
		return fmt.Errorf("%s: %w: %w", what, ErrUnstorable, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// exhausted returns the error of a write whose retries have ended, either by their number or because the context has
// ended with the error ended. The last attempt was refused with busy, which is nil if there was none.
func (a *attempts) exhausted(busy, ended error) error {
	own := busy == error(errBusy) || busy == error(errOverloaded)
	switch {
	case a.unknown && (busy == nil || own):
		busy = errUnknown
	case busy == nil:
		return ended
	}
	if ended != nil {
		return fmt.Errorf("store: %w: %w", busy, ended)
	}
	return busy
}

// codeOf returns the error code of an answer of DynamoDB.
func codeOf(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	return api.ErrorCode()
}

// isThrottled reports whether DynamoDB has refused a call because of its load.
func isThrottled(err error) bool {
	switch codeOf(err) {
	case "ThrottlingException", "ThrottlingError", "ProvisionedThroughputExceededException", "RequestLimitExceeded":
		return true
	}
	return false
}

// isContention reports whether an error is transient and its attempt has written nothing.
func isContention(err error) bool {
	switch codeOf(err) {
	case "TransactionConflictException", "TransactionInProgressException":
		return true
	}
	return isThrottled(err)
}

// isUnsent reports whether there was no connection by which to send an attempt.
func isUnsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isUnanswered reports whether DynamoDB has failed, or its answer was lost.
func isUnanswered(err error) bool {
	if code := codeOf(err); code == "InternalServerError" || code == "ServiceUnavailable" {
		return true
	}
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) {
		// The SDK reports the status 0 if there was no answer.
		status := answer.HTTPStatusCode()
		return status == 0 || status >= http.StatusInternalServerError
	}
	var send *smithyhttp.RequestSendError
	var garbled *smithy.DeserializationError
	var broken net.Error
	return errors.As(err, &send) || errors.As(err, &garbled) || errors.As(err, &broken)
}
