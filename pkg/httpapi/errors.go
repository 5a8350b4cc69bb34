package httpapi

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/content-automation/api/pkg/errs"
)

// Status gives the HTTP status and the error type of a code. It is the one place
// where a code becomes a status.
func Status(code errs.Code) (status int, kind string) {
	switch code {
	case errs.MalformedJSON, errs.InvalidCursor, errs.InvalidHeader:
		return http.StatusBadRequest, "invalid_request_error"
	case errs.MissingAPIKey, errs.InvalidAPIKey:
		return http.StatusUnauthorized, "authentication_error"
	case errs.InsufficientBalance:
		return http.StatusPaymentRequired, "payment_error"
	case errs.InsufficientScope, errs.PlanNotAllowed, errs.IPNotAllowed, errs.ScopeEscalation:
		return http.StatusForbidden, "permission_error"
	case errs.NotFound, errs.UnknownPath:
		return http.StatusNotFound, "invalid_request_error"
	case errs.MethodNotAllowed:
		return http.StatusMethodNotAllowed, "invalid_request_error"
	case errs.IdempotencyInProgress, errs.InvalidState, errs.StaleProposal, errs.Duplicate:
		return http.StatusConflict, "conflict_error"
	case errs.VersionMismatch:
		return http.StatusPreconditionFailed, "conflict_error"
	case errs.BodyTooLarge:
		return http.StatusRequestEntityTooLarge, "invalid_request_error"
	case errs.UnsupportedMediaType:
		return http.StatusUnsupportedMediaType, "invalid_request_error"
	case errs.ValidationFailed, errs.IdempotencyKeyReused, errs.WrongFactoryType, errs.UnsupportedModel, errs.UnsupportedMedia:
		return http.StatusUnprocessableEntity, "invalid_request_error"
	case errs.RateLimited, errs.QueueFull:
		return http.StatusTooManyRequests, "rate_limit_error"
	case errs.ProviderUnavailable:
		return http.StatusServiceUnavailable, "api_error"
	case errs.Timeout:
		return http.StatusGatewayTimeout, "api_error"
	default:
		return http.StatusInternalServerError, "api_error"
	}
}

// response renders an error for a caller.
func response(e *errs.Error, requestID string) *ErrorResponse {
	status, kind := Status(e.Code)
	return &ErrorResponse{
		Err:       ErrorBody{Code: e.Code, Message: e.Message, Type: kind, Param: e.Param, Details: e.Details},
		RequestID: requestID,
		status:    status,
	}
}

// fail notes the outcome of a call for the audit and the log, and renders it.
func (c *call) fail(err error) *ErrorResponse {
	e := errs.As(err)
	c.code = e.Code
	r := response(e, c.RequestID)
	if r.status >= http.StatusInternalServerError {
		slog.Error("request failed", "request_id", c.RequestID, "operation_id", c.operation, "code", e.Code, "error", err)
	}
	return r
}

// briefly is how long to wait where something is unavailable and nobody knows for
// how long.
const briefly = time.Second

// headers gives the headers that an error asks for.
func headers(e *errs.Error) http.Header {
	h := http.Header{}
	if status, _ := Status(e.Code); status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer") // RFC 6750, 3
	}
	wait := e.RetryAfter
	if e.Code == errs.ProviderUnavailable {
		wait = max(wait, briefly)
	}
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	return h
}

func init() {
	// Names that differ from a member's only in case are typing mistakes too.
	huma.ValidateStrictCasing = true
	// huma builds the errors of its own checks through these two.
	huma.NewError = func(status int, msg string, causes ...error) huma.StatusError {
		return response(fromHuma(status, msg, causes, nil), "")
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, causes ...error) huma.StatusError {
		c := callFrom(ctx.Context())
		return c.fail(fromHuma(status, msg, causes, c.body))
	}
}

// fromHuma turns an error of huma's checks into one of ours. Only the place and
// the message of each cause are taken over, never the value that was sent.
func fromHuma(status int, msg string, causes []error, body []byte) *errs.Error {
	switch status {
	case http.StatusBadRequest:
		if len(body) == 0 {
			return errs.New(errs.MalformedJSON, "The body is missing. Send one JSON object in UTF-8.")
		}
		return errNotJSON()
	case http.StatusRequestEntityTooLarge:
		return errTooLarge()
	case http.StatusUnsupportedMediaType:
		return errMediaType()
	case http.StatusUnprocessableEntity:
		if len(causes) == 0 {
			return errs.Invalid("", "%s", msg)
		}
		var sent any
		_ = json.Unmarshal(body, &sent) // only to find places in it
		return Invalid(causes, sent)
	default:
		e := errs.New(errs.Internal, "Something went wrong on our side. Repeat the request with the same Idempotency-Key; if it persists, tell support the request_id.")
		if len(causes) > 0 {
			e.Cause = causes[0]
		}
		return e
	}
}

// Invalid turns the errors of a check of what was sent against a schema into one
// of ours, with one detail for each invalid field.
func Invalid(causes []error, sent any) *errs.Error {
	var details []errs.Detail
	told := map[string]map[string]bool{} // messages by field
	at := map[string]int{}
	for _, cause := range causes {
		d := detail(cause, sent)
		switch {
		case told[d.Param] == nil:
			told[d.Param], at[d.Param] = map[string]bool{}, len(details)
			details = append(details, d)
		case !told[d.Param][d.Message]:
			details[at[d.Param]].Message += "; " + d.Message
		}
		told[d.Param][d.Message] = true
	}
	return errs.InvalidFields(details...)
}

// Only a refusal needs the patterns: most starts do without.
var (
	requiredProperty = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^expected required property (\S+) to be present$`)
	})
	noInteger = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^json: cannot unmarshal number \S+ into Go struct field [^.\s]+\.(\S+) of type u?int`)
	})
	bracket = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(\d+)\]`) })
)

func detail(cause error, sent any) errs.Detail {
	d, ok := cause.(huma.ErrorDetailer)
	if !ok {
		return errs.Detail{Message: cause.Error()}
	}
	e := d.ErrorDetail()
	param, message := pointer(e.Location, sent), e.Message
	if m := requiredProperty().FindStringSubmatch(message); m != nil {
		param, message = param+"/"+m[1], "is required"
	}
	if m := noInteger().FindStringSubmatch(message); m != nil {
		// The schema takes 1.0 for an integer, the parser does not.
		param, message = locate(m[1], sent), "must be an integer, written without fraction and exponent"
	}
	switch {
	case param == "" && message == "expected object":
		message = "The body must be one JSON object"
	case message == "unexpected property":
		message = "is not a member of this resource; check its spelling"
	case message == validation.MsgExpectedRFC3339DateTime:
		message = "is not a time of RFC 3339, such as 2026-05-01T12:00:00Z"
	case strings.HasPrefix(message, "invalid date/time"):
		message = "is not a time of RFC 3339, such as 2026-05-01T12:00:00Z; in an address, + is written as %2B"
	}
	return errs.Detail{Param: param, Message: message}
}

// pointer turns huma's location ("body.topics[1]") into a JSON pointer
// ("/topics/1"), and that of a parameter ("query.limit") into its name.
func pointer(location string, sent any) string {
	in, name, _ := strings.Cut(location, ".")
	if in != "body" {
		return name
	}
	return locate(name, sent)
}

func errTooLarge() *errs.Error {
	return errs.New(errs.BodyTooLarge, "The body is larger than 256 KiB. Send larger things, such as photos, by their signed upload.")
}
