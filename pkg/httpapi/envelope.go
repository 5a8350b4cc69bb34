// Package httpapi is the HTTP side that all operations share: the envelope, errors, pagination, entity tags, merge
// patches, idempotency, the audit of every call, and the adapter to Lambda. An area registers its operations here and
// does not depend on HTTP otherwise.
package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
)

// Envelope is the form of every successful answer that is not a list.
type Envelope[T any] struct {
	Data      T      `json:"data" doc:"Result of the request"`
	Error     Null   `json:"error" doc:"Always null in a successful response"`
	RequestID string `json:"request_id" doc:"Id of the request; the same as the header X-Request-Id, except in a replayed response, which has the id of the first request" example:"1763812345678-6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21"`
}

// ListEnvelope is the form of every successful list.
type ListEnvelope[T any] struct {
	Data       []T     `json:"data" nullable:"false" doc:"Results of this page, newest first"`
	Error      Null    `json:"error" doc:"Always null in a successful response"`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page. Null at the end of the list"`
	RequestID  string  `json:"request_id" doc:"Id of the request; the same as the header X-Request-Id" example:"1763812345678-6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21"`
}

// Null is a member that is always null.
type Null struct{}

// MarshalJSON writes null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema describes the member in the OpenAPI document.
func (Null) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: "null"} }

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Data      Null      `json:"data" doc:"Always null in an error response"`
	Err       ErrorBody `json:"error" doc:"The error"`
	RequestID string    `json:"request_id" doc:"Id of the request; the same as the header X-Request-Id" example:"1763812345678-6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21"`

	status int
}

// ErrorBody describes the problem and its solution.
type ErrorBody struct {
	Code    errs.Code     `json:"code" doc:"Machine-readable code. It never changes" example:"validation_failed"`
	Message string        `json:"message" doc:"What is wrong and what to do about it, for a developer" example:"/name: is required"`
	Type    string        `json:"type" doc:"Type of the error" enum:"invalid_request_error,authentication_error,payment_error,permission_error,conflict_error,rate_limit_error,api_error" example:"invalid_request_error"`
	Param   string        `json:"param,omitempty" doc:"JSON pointer (RFC 6901) of the invalid field, or the name of the query parameter or header" example:"/name"`
	Details []errs.Detail `json:"details,omitempty" doc:"One entry per invalid field, up to 100"`
	Context any           `json:"context,omitempty" doc:"Data about the error"`
	DocURL  string        `json:"doc_url,omitempty" doc:"Page about the code"`
}

// GetStatus returns the HTTP status. huma requires it.
func (e *ErrorResponse) GetStatus() int { return e.status }

// Error implements error, which huma requires.
func (e *ErrorResponse) Error() string { return string(e.Err.Code) + ": " + e.Err.Message }
