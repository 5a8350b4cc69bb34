// Package httpapi is the HTTP side that all operations share: the envelope, errors, pagination, entity tags, merge
// patches, idempotency, the audit of every call, and the adapter to Lambda. An area registers its operations here and
// does not depend on HTTP otherwise. Start with Router: Read, List, Write and Act register operations.
package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
)

var _ = format.Define("error-type", format.Format{
	Values: format.Words("invalid_request_error authentication_error payment_error permission_error " +
		"conflict_error rate_limit_error api_error")})

// Envelope is the form of every successful answer that is not a list.
type Envelope[T any] struct {
	// Result of the request.
	Data T `json:"data"`
	// Null in a successful response.
	Error Null `json:"error"`
	// Id of the request; the same as the header X-Request-Id, except in a replayed response, which has the id of the
	// first request.
	RequestID string `json:"request_id" example:"1763812345678-6f9a4e7e"`
}

// ListEnvelope is the form of every successful list.
type ListEnvelope[T any] struct {
	// Results of this page, newest first.
	Data []T `json:"data" nullable:"false"`
	// Null in a successful response.
	Error Null `json:"error"`
	// Cursor of the next page. Null at the end of the list.
	NextCursor *string `json:"next_cursor"`
	// Id of the request; the same as the header X-Request-Id.
	RequestID string `json:"request_id" example:"1763812345678-6f9a4e7e"`
}

// Null is a member that is always null.
type Null struct{}

// MarshalJSON writes null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema describes the member in the OpenAPI document: as an object that may be null, since several generators make no
// type, or one that does not compile, of null alone.
func (Null) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true}
}

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	// Null in an error response.
	Data Null `json:"data"`
	// The error.
	Err ErrorBody `json:"error"`
	// Id of the request; the same as the header X-Request-Id.
	RequestID string `json:"request_id" example:"1763812345678-6f9a4e7e"`

	status int
}

// ErrorBody describes the problem and its solution.
type ErrorBody struct {
	// Machine-readable code. It never changes.
	Code errs.Code `json:"code" example:"validation_failed"`
	// What is wrong and what to do about it, for a developer.
	Message string `json:"message" example:"/name: is required"`
	// Type of the error.
	Type string `json:"type" format:"error-type" example:"invalid_request_error"`
	// JSON pointer (RFC 6901) of the invalid field, or the name of the query parameter or header.
	Param string `json:"param,omitempty" example:"/name"`
	// One entry per invalid field, up to 100.
	Details []errs.Detail `json:"details,omitempty"`
	// Data about the error.
	Context any `json:"context,omitempty"`
	// Page about the code.
	DocURL string `json:"doc_url,omitempty"`
}

// GetStatus returns the HTTP status. huma requires it.
func (e *ErrorResponse) GetStatus() int { return e.status }

// Error implements error, which huma requires.
func (e *ErrorResponse) Error() string { return string(e.Err.Code) + ": " + e.Err.Message }
