// Package gatewayresponse has the responses that the gateway makes itself, without a
// function, in the same envelope and with the same codes and statuses as those of the
// functions. The CDK app configures them in API Gateway. The local system, whose
// emulated gateway does not make all of them, makes the rest from here.
package gatewayresponse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/headers"
	"github.com/content-automation/api/pkg/httpapi"
)

// Response is one of the gateway's own responses.
type Response struct {
	// Type is API Gateway's name of the response.
	Type    string
	Code    errs.Code
	Message string
}

// Status returns the HTTP status of the code.
func (a Response) Status() int {
	status, _ := httpapi.Status(a.Code)
	return status
}

// Headers returns the headers other than the content type and the request's id.
func (a Response) Headers() map[string]string {
	h := headers.Always()
	switch a.Code {
	case errs.MissingAPIKey, errs.InvalidAPIKey:
		h["WWW-Authenticate"] = "Bearer" // RFC 6750, 3
	case errs.RateLimited:
		h["Retry-After"] = "1"
		if a.Type == Filtered.Type {
			h["Retry-After"] = strconv.Itoa(int(FilterWindow.Seconds()))
		}
	case errs.ProviderUnavailable:
		h["Retry-After"] = "1"
	}
	return h
}

// Body returns the body of the response to the request with the given id; base is the
// address of the API.
func (a Response) Body(requestID, base string) string {
	_, kind := httpapi.Status(a.Code)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(httpapi.ErrorResponse{
		Err:       httpapi.ErrorBody{Code: a.Code, Message: a.Message, Type: kind, DocURL: errs.DocURL(base, a.Code)},
		RequestID: requestID,
	}); err != nil {
		panic(err) // texts can always be encoded
	}
	return ascii(bytes.TrimSpace(out.Bytes()))
}

// ascii escapes all characters that are not ASCII: services between the template and
// the gateway replace them.
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
	noSuchPath = "There is no such path. The paths of this API begin with /v1 and are described at /openapi.json."
	malformed  = "The request could not be read: its body, a parameter or a header has the wrong form."
	tooMany    = "Too many requests at once. Try again after a second."
	overloaded = "The service has too much to do at the moment, and did not answer. Repeat the request with the same Idempotency-Key after the seconds in Retry-After."
	broken     = "Something went wrong on our side. Try again; if it persists, send the request_id to support."
)

const (
	// FilterWindow is the time in which the firewall counts calls without a key.
	FilterWindow = 5 * time.Minute
	// KeyPrefix is how the header Authorization of a call with a key begins, in lower
	// case.
	KeyPrefix = "bearer svc_"
)

// CompressedFrom is the size in bytes from which on the gateway compresses responses,
// for callers that accept it.
const CompressedFrom = 1024

// The responses that the local system makes itself.
var (
	UnknownCoding = Response{"UNSUPPORTED_MEDIA_TYPE", errs.UnsupportedMediaType,
		"The body could not be read. Send JSON with the header `Content-Type: application/json`; where it has a `Content-Encoding`, that must be gzip or deflate, and the body must be in it."}
	Filtered = Response{"WAF_FILTERED", errs.RateLimited,
		"Too many requests without a valid API key came from this address. Send a valid key, or try again after five minutes."}
	TooLarge = Response{"REQUEST_TOO_LARGE", errs.BodyTooLarge,
		"The body is larger than 256 KiB. Bring in larger files, such as photos, with POST /v1/media."}
	TimedOut = Response{"INTEGRATION_TIMEOUT", errs.Timeout,
		"The response took too long. The request may still have had its effect: repeat it with the same Idempotency-Key."}
	Broken = Response{"DEFAULT_5XX", errs.Internal, broken}
)

// All has the responses of every type that the gateway has for this API.
var All = []Response{
	{"UNAUTHORIZED", errs.MissingAPIKey, "No API key was sent. Send it as `Authorization: Bearer svc_live_…` (or svc_test_…)."},
	{"ACCESS_DENIED", errs.InvalidAPIKey, auth.MessageInvalidKey},

	// The types of the gateway for an unknown path. With a header Authorization that
	// is not AWS's own, the type is a fault of the signature, or a default.
	{"MISSING_AUTHENTICATION_TOKEN", errs.UnknownPath, noSuchPath},
	{"RESOURCE_NOT_FOUND", errs.UnknownPath, noSuchPath},
	{"INVALID_SIGNATURE", errs.UnknownPath, noSuchPath},
	{"EXPIRED_TOKEN", errs.UnknownPath, noSuchPath},
	{"DEFAULT_4XX", errs.UnknownPath, noSuchPath},

	{"BAD_REQUEST_BODY", errs.MalformedJSON, malformed},
	{"BAD_REQUEST_PARAMETERS", errs.InvalidHeader, malformed},
	TooLarge,
	UnknownCoding,
	{"THROTTLED", errs.RateLimited, tooMany},
	Filtered,
	{"QUOTA_EXCEEDED", errs.RateLimited, tooMany},

	TimedOut,
	// The types of the gateway if the function or the authorizer is throttled, fails or
	// does not answer.
	{"INTEGRATION_FAILURE", errs.ProviderUnavailable, overloaded},
	{"AUTHORIZER_FAILURE", errs.ProviderUnavailable, auth.MessageUnavailable},
	{"AUTHORIZER_CONFIGURATION_ERROR", errs.ProviderUnavailable, auth.MessageUnavailable},
	{"API_CONFIGURATION_ERROR", errs.Internal, broken},
	Broken,
}
