package contentautomation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Error is an error that the API returned.
type Error struct {
	Status int
	// Code says what is wrong. A newer service may have codes that this package does not know.
	Code    ErrorCode
	Type    ErrorType
	Message string
	// Param is the field that is wrong: a JSON pointer, or the name of a parameter or header.
	Param   string
	Details []ErrorDetail
	DocURL  string
	// Context has data about the error that depends on the code.
	Context   json.RawMessage
	RequestID string
	// RetryAfter is the time that the service asks to wait for. It is 0 if it does not.
	RetryAfter time.Duration
	Attempts   int
}

// Error describes the error. It has no secrets.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
	if e.RequestID != "" {
		text += " (request_id " + e.RequestID + ")"
	}
	return text
}

// Classes of errors, for errors.Is.
var (
	// ErrNotFound is a resource that does not exist, or is not one of the key: 404.
	ErrNotFound = errors.New("not found")
	// ErrConflict is a state or version that does not fit: 409, 412.
	ErrConflict = errors.New("conflict")
)

// Is reports whether the error is of the class ErrNotFound or ErrConflict, or has the code of the target:
// errors.Is(err, &Error{Code: ErrorCodeNotFound}).
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrConflict:
		return e.Type == "conflict_error"
	}
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Status == 0
}

// ConnectionError is a request without an answer: whether it had an effect is not known, and the same call with the same
// idempotency key may be made again.
type ConnectionError struct {
	// Timeout reports whether the attempt took too long.
	Timeout  bool
	Attempts int
	cause    error
}

// Error describes the error.
func (e *ConnectionError) Error() string {
	if e.Timeout {
		return fmt.Sprintf("no answer in time (attempts: %d)", e.Attempts)
	}
	return fmt.Sprintf("no answer (attempts: %d): %v", e.Attempts, e.cause)
}

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.cause }

// AnswerError is an answer that is not as the API describes it.
type AnswerError struct {
	Status    int
	RequestID string
	cause     error
}

// Error describes the error.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer (%d, request_id %q) cannot be read: %v", e.Status, e.RequestID, e.cause)
}

// Unwrap returns the cause.
func (e *AnswerError) Unwrap() error { return e.cause }

// FailedError is the end of work that has failed, was rejected or canceled. The method that waited returns the resource
// beside it.
type FailedError struct {
	// State is its last state, and Resource the resource as it was read.
	State    string
	Resource json.RawMessage
	// Failure is the reason. It is nil if the resource has none, as canceled work.
	Failure *Failure
}

// Failure is why work has failed.
type Failure struct {
	// Code is the machine-readable reason.
	Code string `json:"code"`
	// Message says what happened, and what to do about it.
	Message string `json:"message"`
	// Retryable reports whether the same work may succeed if it is asked for again.
	Retryable bool `json:"retryable"`
}

// newFailed reads the reason of a failure from its resource, which may have none.
func newFailed(state string, resource json.RawMessage) *FailedError {
	var r struct{ Failure, Reason *Failure }
	_ = json.Unmarshal(resource, &r)
	return &FailedError{state, resource, cmp.Or(r.Failure, r.Reason)}
}

// Error describes the error.
func (e *FailedError) Error() string {
	var r struct{ ID string }
	_ = json.Unmarshal(e.Resource, &r) // other members may be of any form
	text := cmp.Or(r.ID, "the work") + " has ended in the state " + e.State
	if e.Failure != nil {
		text += ": " + e.Failure.Code + ": " + e.Failure.Message
	}
	return text
}

// UploadError is the refusal of a file by storage, or its failure. The media stays pending: upload the file anew.
type UploadError struct {
	Status int
	// Code is that of storage, such as AccessDenied. It is empty if storage named none.
	Code     string
	MediaID  string
	Attempts int
}

// Error describes the error.
func (e *UploadError) Error() string {
	return fmt.Sprintf("storage refused the file of %s: %s (attempts: %d); upload it anew", e.MediaID,
		strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Code)), e.Attempts)
}

// WaitTimeoutError is the end of waiting for work that has not ended.
type WaitTimeoutError struct {
	State string
	After time.Duration
}

// Error describes the error.
func (e *WaitTimeoutError) Error() string {
	return fmt.Sprintf("the work is still in the state %s after %v", e.State, e.After)
}

// ConfigError is a client or a call that cannot be made.
type ConfigError struct{ Message string }

// Error describes the error.
func (e *ConfigError) Error() string { return e.Message }

// SignatureError is a webhook that is not to be trusted.
type SignatureError struct{ Message string }

// Error describes the error.
func (e *SignatureError) Error() string { return e.Message }

// typeOf returns the type of an error whose body does not say it.
func typeOf(status int) ErrorType {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusPaymentRequired:
		return "payment_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusConflict || status == http.StatusPreconditionFailed:
		return "conflict_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "api_error"
	default:
		return "invalid_request_error"
	}
}
