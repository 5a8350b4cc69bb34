package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/humafix"
)

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
		c.refused = e
	}
	if r.status >= http.StatusInternalServerError {
		slog.Error("request failed", "request_id", c.RequestID, "operation_id", c.operation, "code", e.Code,
			"error", err)
	}
	return r
}

// Told renders an error as a part of an answer that succeeds, such as the result of one item of several. What is no
// fault of the caller is logged.
func Told(ctx context.Context, err error) ErrorBody {
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
	attributes := []any{"reason", quoted.ReplaceAllString(message, "…")}
	if e.Param != "" && named.MatchString(e.Param) {
		attributes = append(attributes, "param", e.Param)
	}
	return attributes
}

var (
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	named  = regexp.MustCompile(`^[a-z0-9_/]{1,100}$`)
)

// briefly is the time after which to retry if something is unavailable for an unknown time.
const briefly = time.Second

// Challenge returns the value of the header WWW-Authenticate of an answer with a code (RFC 6750, 3), or an empty text
// if it has none. The metadata are the address of those of the resource, or empty. The scope is what the caller lacks;
// a caller without a key may need any.
func Challenge(code errs.Code, metadata string, lacking auth.Scope) string {
	switch status, _ := Status(code); {
	case code == errs.MissingAPIKey:
		return auth.Challenge("", metadata, auth.ProgramScopes()...)
	case status == http.StatusUnauthorized:
		return auth.Challenge(auth.InvalidToken, metadata, auth.ProgramScopes()...)
	case code == errs.InsufficientScope && lacking != "":
		return auth.Challenge(auth.InsufficientScope, metadata, lacking)
	case code == errs.InsufficientScope:
		return auth.Challenge(auth.InsufficientScope, metadata)
	}
	return ""
}

// errorHeaders returns the headers of an error.
func errorHeaders(e *errs.Error) http.Header {
	h := http.Header{}
	if challenge := Challenge(e.Code, "", auth.Scope(e.Scope)); challenge != "" {
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

func init() {
	humafix.RenderWith(func(ctx context.Context, e *errs.Error) huma.StatusError {
		if c, ok := ctx.Value(callKey{}).(*call); ok {
			return c.fail(e)
		}
		return response(e, Gateway{}) // in the document
	})
}

func errTooLarge() *errs.Error {
	return errs.New(errs.BodyTooLarge, "The body is larger than 256 KiB. Bring in larger files, such as photos, with "+
		"POST /v1/media.")
}
