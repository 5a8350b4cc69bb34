// Package gatewayresponse has the responses that the gateway makes itself, without a
// function. They have the envelope, the codes and the statuses of the functions' responses.
// The CDK app configures them in API Gateway. The emulated gateway of the local system does
// not make all of them; the local proxy makes the rest from this package.
package gatewayresponse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/connection"
)

// Response is one of the gateway's own responses.
type Response struct {
	// Type is the name of the response in API Gateway.
	Type    string
	Code    errs.Code
	Message string
}

// Status returns the HTTP status of the code.
func (a Response) Status() int {
	status, _ := httpapi.Status(a.Code)
	return status
}

// Headers returns all headers except the content type and the request's id.
func (a Response) Headers() map[string]string {
	h := web.GatewayHeaders()
	if challenge := auth.ChallengeOf(a.Code, "", ""); challenge != "" {
		h["WWW-Authenticate"] = challenge
	}
	switch a.Code {
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

// HeadersAt returns the headers of the response where people sign in. Base is the address of the API: a challenge names
// the metadata from which agents find the sign-in (RFC 9728). A function cannot do so, because the gateway renames the
// header in its answers.
func (a Response) HeadersAt(base string) map[string]string {
	h := a.Headers()
	if challenge := auth.ChallengeOf(a.Code, base+MetadataPath, ""); challenge != "" {
		h["WWW-Authenticate"] = challenge
	}
	return h
}

// MetadataPath is the path of the metadata of the server for agents.
const MetadataPath = "/.well-known/oauth-protected-resource/mcp"

// Renamed is the name that the gateway gives to the header WWW-Authenticate in an answer of a function.
const Renamed = "X-Amzn-Remapped-Www-Authenticate"

// Body returns the body of the response to the request with the given id. base is the
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
		panic(err) // Every text can be encoded.
	}
	// The services between the template and the gateway replace other characters.
	return web.ASCII(bytes.TrimSpace(out.Bytes()))
}

const (
	noSuchPath = errs.NoSuchPath
	malformed  = "The request could not be read: its body, a parameter or a header has the wrong form."
	tooMany    = "Too many requests at once. Try again after a second."
	overloaded = "The service has too much to do at the moment, and did not answer. Repeat the request with the same " +
		"Idempotency-Key after the seconds in Retry-After."
	broken = "Something went wrong on our side. Try again; if it persists, send the request_id to support."
)

const (
	// FilterWindow is the period in which the firewall counts calls without a key.
	FilterWindow = 5 * time.Minute
	// KeyPrefix is the prefix of the header Authorization of a call with a key, in lower
	// case.
	KeyPrefix = "bearer svc_"
	// TokenPrefix is that of a call with a person's access token: of a JSON object in base64.
	TokenPrefix = "bearer eyj"
	// DirectoryPrefix is that of a call of a directory by SCIM.
	DirectoryPrefix = "bearer " + connection.DirectoryPrefix
	// SessionCookie is the start of the cookie of a signed-in browser, in lower case. A page of the account area makes
	// many requests.
	SessionCookie = "__host-session="
	// MostOfAddress is the number of calls that one address may make in FilterWindow, whatever they have. An account
	// may make 6,000 calls a minute, all from one address.
	MostOfAddress = 40_000
)

// Group is a group of paths on which a key means nothing to the firewall. Its calls count together, for each address. A
// path is in one group at most: AWS counts a call in every rule that it matches, and the smallest limit would win.
type Group struct {
	Name string
	// Parts are parts of the paths.
	Parts []string
	// Times is the number of calls in FilterWindow, as a multiple of that of calls without a key.
	Times int
	// Strangers reports that calls with a session do not count.
	Strangers bool
	// OAuth reports that the refusals of the group have the form of OAuth.
	OAuth bool
}

// Groups are the groups of paths. Their callers have other credentials than keys, or none.
var Groups = []Group{
	// A CRM calls for all of its customers from a few addresses, and so do social platforms.
	{Name: "hooks", Parts: []string{"/integrations/hooks/", "/integrations/callback", "/social/callback"}, Times: 100},
	// Services that run agents connect, refresh and call for all people from a few addresses.
	{Name: "programs", Parts: []string{"/oauth/", "/.well-known/", "/mcp"}, Times: 100, OAuth: true},
	// The people of an office share an address. A sign-in of a person has four calls, and its pages have some
	// more before it; the first synchronisation of a directory has several calls for each person. The service
	// itself counts guesses.
	{Name: "people", Parts: []string{"/auth/", "/setup", "/scim/", "/review/", "/docs", "/api-docs", "/openapi.",
		"/llms"}, Times: 50},
	{Name: "area", Parts: []string{"/settings"}, Times: 100, Strangers: true},
}

// Has reports whether a path is in the group.
func (g Group) Has(path string) bool {
	return slices.ContainsFunc(g.Parts, func(part string) bool { return strings.Contains(path, part) })
}

// Grouped reports whether a path is in a group.
func Grouped(path string) bool {
	return slices.ContainsFunc(Groups, func(g Group) bool { return g.Has(path) })
}

// FilteredProgram is the body of the firewall's answer to programs, in the form of RFC 6749, 5.2. Its status is that of
// Filtered.
const FilteredProgram = `{"error":"temporarily_unavailable","error_description":"Too many requests came from this ` +
	`address. Repeat the request after the seconds in Retry-After."}`

// PoolTimes is the number of forms that one address may send to the pages of the user pool, as a multiple of the calls
// without a key: those of an office. The pool itself counts the guesses at each password and code.
const PoolTimes = 30

// AllCalls returns the number of calls that one address may make in FilterWindow where it may make limit without a key.
func AllCalls(limit int) int { return max(MostOfAddress, MostOfAddress/100*limit) }

// CompressedFrom is the smallest size in bytes of a response that the gateway compresses,
// for callers that accept it.
const CompressedFrom = 1024

// The local system makes these responses itself.
var (
	UnknownCoding = Response{"UNSUPPORTED_MEDIA_TYPE", errs.UnsupportedMediaType,
		"The body could not be read. Send JSON with the header `Content-Type: application/json`; where it has a " +
			"`Content-Encoding`, that must be gzip or deflate, and the body must be in it."}
	Filtered = Response{"WAF_FILTERED", errs.RateLimited,
		"Too many requests came from this address, in all or without a valid API key. Send a valid key, or try again " +
			"after five minutes."}
	TooLarge = Response{"REQUEST_TOO_LARGE", errs.BodyTooLarge,
		"The body is larger than 256 KiB. Bring in larger files, such as photos, with POST /v1/media."}
	TimedOut = Response{"INTEGRATION_TIMEOUT", errs.Timeout,
		"The response took too long. The request may still have had its effect: repeat it with the same " +
			"Idempotency-Key."}
	Broken = Response{"DEFAULT_5XX", errs.Internal, broken}
)

// All has one response for each type that the gateway has for this API.
var All = []Response{
	{"UNAUTHORIZED", errs.MissingAPIKey, "No API key was sent. Send it as `Authorization: Bearer svc_live_…` (or " +
		"svc_test_…)."},
	{"ACCESS_DENIED", errs.InvalidAPIKey, auth.MessageInvalidKey},

	// The gateway uses these types for an unknown path. If the header Authorization is not
	// in AWS's own form, it uses a type for wrong signatures, or a default.
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
	// The gateway uses these types if the function or the authorizer is throttled, fails or
	// does not answer.
	{"INTEGRATION_FAILURE", errs.ProviderUnavailable, overloaded},
	{"AUTHORIZER_FAILURE", errs.ProviderUnavailable, auth.MessageUnavailable},
	{"AUTHORIZER_CONFIGURATION_ERROR", errs.ProviderUnavailable, auth.MessageUnavailable},
	{"API_CONFIGURATION_ERROR", errs.Internal, broken},
	Broken,
}
