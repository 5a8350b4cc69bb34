// Package answer holds what the gateway answers on its own, before or instead
// of a function: the same envelope, codes and statuses as the functions'. The CDK
// app turns them into gateway responses; the local system, whose gateway does
// not make all of them, takes those from here.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

// Answer is one of the gateway's own answers.
type Answer struct {
	// Type is API Gateway's name of it.
	Type    string
	Code    errs.Code
	Message string
}

// Status is the HTTP status that goes with the code.
func (a Answer) Status() int {
	status, _ := httpapi.Status(a.Code)
	return status
}

// Headers are those beside the content type and the request's id.
func (a Answer) Headers() map[string]string {
	h := map[string]string{"Cache-Control": "no-store"}
	switch a.Code {
	case errs.MissingAPIKey, errs.InvalidAPIKey:
		h["WWW-Authenticate"] = "Bearer" // RFC 6750, 3
	case errs.RateLimited:
		h["Retry-After"] = "1"
	}
	return h
}

// Body is the envelope of the answer to the request with the given id.
func (a Answer) Body(requestID string) string {
	_, kind := httpapi.Status(a.Code)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(httpapi.ErrorResponse{
		Err:       httpapi.ErrorBody{Code: a.Code, Message: a.Message, Type: kind},
		RequestID: requestID,
	}); err != nil {
		panic(err) // It is text alone, which can be encoded.
	}
	return ascii(bytes.TrimSpace(out.Bytes()))
}

// ascii writes every other character as JSON's escape: on its way into the
// gateway a template passes services that replace what is not ASCII.
func ascii(text []byte) string {
	var out strings.Builder
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}

const (
	noSuchPath = "There is no such path. The paths of this API are described at /openapi.json."
	malformed  = "The request could not be read: its body, a parameter or a header has the wrong form."
	tooMany    = "Too many requests at once. Try again after a second."
	broken     = "Something went wrong on our side. Try again; if it persists, send the request_id to support."
)

// Those that the local system makes itself.
var (
	TooLarge = Answer{"REQUEST_TOO_LARGE", errs.BodyTooLarge,
		"The body is larger than 256 KiB. Photos and media go to object storage by signed URL."}
	TimedOut = Answer{"INTEGRATION_TIMEOUT", errs.Timeout,
		"The response took too long. The request may still have had its effect: repeat it with the same Idempotency-Key."}
	Broken = Answer{"DEFAULT_5XX", errs.Internal, broken}
)

// All are the answers of every type that the gateway has for this API.
var All = []Answer{
	{"UNAUTHORIZED", errs.MissingAPIKey, "No API key was sent. Send it as `Authorization: Bearer svc_live_…` (or svc_test_…)."},
	{"ACCESS_DENIED", errs.InvalidAPIKey,
		"The API key is not valid: it may be mistyped, expired or revoked. Create one in the account area or with POST /v1/api-keys."},

	// How the gateway calls a path that it does not know. Where the request has a
	// header Authorization that is not one of AWS's own, it calls the same thing a
	// fault of the signature, or has no name for it.
	{"MISSING_AUTHENTICATION_TOKEN", errs.UnknownPath, noSuchPath},
	{"RESOURCE_NOT_FOUND", errs.UnknownPath, noSuchPath},
	{"INVALID_SIGNATURE", errs.UnknownPath, noSuchPath},
	{"EXPIRED_TOKEN", errs.UnknownPath, noSuchPath},
	{"DEFAULT_4XX", errs.UnknownPath, noSuchPath},

	{"BAD_REQUEST_BODY", errs.MalformedJSON, malformed},
	{"BAD_REQUEST_PARAMETERS", errs.InvalidHeader, malformed},
	TooLarge,
	{"UNSUPPORTED_MEDIA_TYPE", errs.UnsupportedMediaType, "The body is not JSON. Send it with `Content-Type: application/json`."},
	{"THROTTLED", errs.RateLimited, tooMany},
	{"QUOTA_EXCEEDED", errs.RateLimited, tooMany},

	TimedOut,
	{"INTEGRATION_FAILURE", errs.Internal, broken},
	{"AUTHORIZER_FAILURE", errs.Internal, broken},
	{"AUTHORIZER_CONFIGURATION_ERROR", errs.Internal, broken},
	{"API_CONFIGURATION_ERROR", errs.Internal, broken},
	Broken,
}
