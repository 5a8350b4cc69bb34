// Package httpapi is the HTTP side that all operations share: the envelope, errors, pagination, entity tags, merge
// patches, idempotency, the audit of every call, and the adapter to Lambda. An area registers its operations here and
// does not depend on HTTP otherwise. Start with Router: Read, List, Write and Act register operations.
package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/text"
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

// Status returns the HTTP status and the error type of a code.
func Status(code errs.Code) (status int, kind string) {
	info := errs.InfoOf(code)
	return info.Status, info.Type
}

// response renders an error for a caller.
func response(e *errs.Error, g Gateway) *ErrorResponse {
	status, kind := Status(e.Code)
	return &ErrorResponse{
		Err: ErrorBody{
			Code: e.Code, Message: e.Message, Type: kind, Param: e.Param, Details: e.Details, Context: e.Context,
			DocURL: errs.DocURL(g.BaseURL, e.Code),
		},
		RequestID: g.RequestID,
		status:    status,
	}
}

// fail records the outcome of a call for the audit and the log, and renders it.
func (c *call) fail(err error) *ErrorResponse {
	e := errs.As(err)
	c.code = e.Code
	r := response(e, c.Gateway)
	if r.status < http.StatusInternalServerError {
		c.refusal = e
	}
	if r.status >= http.StatusInternalServerError {
		slog.Error("request failed", "request_id", c.RequestID, "operation_id", c.operation, "code", e.Code,
			"error", err)
	}
	return r
}

// PartError renders an error as a part of an answer that succeeds, such as the result of one item of several. What is
// no fault of the caller is logged.
func PartError(ctx context.Context, err error) ErrorBody {
	c, e := callFrom(ctx), errs.As(err)
	r := response(e, c.Gateway)
	if r.status >= http.StatusInternalServerError {
		slog.Error("part of a request failed", "request_id", c.RequestID, "operation_id", c.operation, "code", e.Code,
			"error", err)
	}
	return r.Err
}

// reason returns the attributes of the log that say why a call was refused. They are in the words of the service: what
// the caller has sent stands in quotation marks in messages, and is left out. A param that cannot be the name of a
// member of ours is left out too.
func reason(e *errs.Error) []any {
	if e == nil || e.Code == errs.MissingAPIKey || e.Code == errs.InvalidAPIKey {
		return nil // the code says all, and the message shows the form of a key, for which logs are searched
	}
	message := e.Message
	if len(e.Details) > 0 {
		message = e.Details[0].Message // without the param
	}
	attributes := []any{"reason", quoted().ReplaceAllString(message, "…")}
	if e.Param != "" && named().MatchString(e.Param) {
		attributes = append(attributes, "param", e.Param)
	}
	return attributes
}

var (
	quoted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	})
	named = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9_/]{1,100}$`)
	})
)

// briefly is the time after which to retry if something is unavailable for an unknown time.
const briefly = time.Second

func errorHeaders(e *errs.Error) http.Header {
	h := http.Header{}
	if challenge := auth.ChallengeOf(e.Code, "", auth.Scope(e.Scope)); challenge != "" {
		h.Set("WWW-Authenticate", challenge)
	}
	wait := e.RetryAfter
	if e.Code == errs.ProviderUnavailable {
		wait = max(wait, briefly)
	}
	if wait > 0 {
		h.Set("Retry-After", seconds(wait))
	}
	return h
}

// seconds returns a time in whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

func errTooLarge() *errs.Error {
	return errs.New(errs.BodyTooLarge, "The body is larger than 256 KiB. Bring in larger files, such as photos, with "+
		"POST /v1/media.")
}

// common are the codes that most operations return. The names of schemas of sets of codes omit them.
var common = []errs.Code{
	errs.InvalidHeader, errs.MalformedJSON, errs.MissingAPIKey, errs.InvalidAPIKey, errs.InsufficientBalance,
	errs.SpendLimitReached,
	errs.InsufficientScope, errs.PlanNotAllowed, errs.IPNotAllowed, errs.PersonRequired, errs.OutsideMandate,
	errs.IdempotencyInProgress, errs.ValidationFailed,
	errs.IdempotencyKeyReused,
	errs.RateLimited,
}

// alike are the statuses whose answers depend only on the codes, not on the operation.
var alike = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge,
	http.StatusUnsupportedMediaType,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	http.StatusGatewayTimeout,
}

// errorResponses describes the errors of an operation by status, each with its codes. Operations with the same codes
// share the schema, and also the response if all answers of the status are alike.
func (r *Router) errorResponses(codes []errs.Code) map[string]*huma.Response {
	byStatus := map[int][]errs.Code{}
	for _, code := range codes {
		status, _ := Status(code)
		byStatus[status] = append(byStatus[status], code)
	}
	components := r.document.Components
	if components.Responses == nil {
		components.Responses = map[string]*huma.Response{}
	}
	responses := map[string]*huma.Response{}
	for status, codes := range byStatus {
		name := errorResponseName(status, codes)
		response := describeError(status, codes, r.errorSchema(name, codes))
		if slices.Contains(alike, status) {
			components.Responses[name] = response
			response = &huma.Response{Ref: "#/components/responses/" + name}
		}
		responses[strconv.Itoa(status)] = response
	}
	return responses
}

// describeError describes the answer with a status.
func describeError(status int, codes []errs.Code, schema *huma.Schema) *huma.Response {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = "`" + string(code) + "`"
	}
	headers := []string{"X-Request-Id", "RateLimit-Policy", "RateLimit"}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		headers = append(headers, "WWW-Authenticate")
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers = append(headers, "Retry-After")
	}
	return &huma.Response{
		Description: http.StatusText(status) + ": " + strings.Join(texts, ", "),
		Headers:     headersNamed(headers...),
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}
}

// errorResponseName returns the name of a set of codes of a status: NotFound for one code, or
// UnprocessableEntityOrUnsupportedModel for the common ones of a status and another.
func errorResponseName(status int, codes []errs.Code) string {
	own := slices.DeleteFunc(slices.Clone(codes), func(c errs.Code) bool { return slices.Contains(common, c) })
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	if len(codes) == 1 {
		return text.Pascal(string(codes[0]))
	} else if shared := len(codes) - len(own); shared == 1 {
		i := slices.IndexFunc(codes, func(c errs.Code) bool { return slices.Contains(common, c) })
		name = text.Pascal(string(codes[i]))
	}
	for _, code := range own {
		name += "Or" + text.Pascal(string(code))
	}
	return name
}

// errorSchema returns the schema of an error response with one of the codes.
func (r *Router) errorSchema(name string, codes []errs.Code) *huma.Schema {
	schemas := r.document.Components.Schemas.Map()
	if r.anyError == nil {
		r.describeErrors()
	}
	var variants []Variant
	for _, code := range codes {
		variants = append(variants, r.failure(code))
	}
	failure := Union(schemas, "ErrorBody", "code", variants)
	s := *r.anyError
	failure.Description = s.Properties["error"].Description
	s.Properties = maps.Clone(s.Properties)
	s.Properties["error"] = failure
	name += "Response"
	if was := schemas[name]; was != nil && len(was.Properties["error"].OneOf) != len(failure.OneOf) {
		panic(fmt.Sprintf("httpapi: two sets of codes have the name %s", name))
	}
	schemas[name] = &s
	return RefTo(name)
}

// failure describes the error with a code, and its context.
func (r *Router) failure(code errs.Code) Variant {
	info := errs.InfoOf(code)
	v := Variant{Value: string(code), Name: text.Pascal(string(code)) + "Error", Description: info.Meaning}
	if info.Context != nil {
		v.Members = map[string]*huma.Schema{"context": {Ref: r.Schema(reflect.TypeOf(info.Context)).Ref,
			Description: "Data about the error"}}
	}
	if info.HasContext {
		v.Required = []string{"context"}
	}
	return v
}

// describeErrors adds the common parts of all errors to the document.
func (r *Router) describeErrors() {
	schemas := r.document.Components.Schemas.Map()
	name := path.Base(r.Schema(reflect.TypeFor[ErrorResponse]()).Ref)
	r.anyError = schemas[name]
	delete(schemas, name) // no operation returns all codes
	members := schemas["ErrorBody"].Properties
	members["code"].Enum = Enum(errs.Codes).Enum
	delete(members, "context") // it depends on the code
}
