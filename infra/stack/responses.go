package stack

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"
)

// The types of errors, as in the functions' own envelopes.
const (
	invalidRequest = "invalid_request_error"
	authentication = "authentication_error"
	rateLimit      = "rate_limit_error"
	apiError       = "api_error"
)

// response is what the gateway answers on its own, in the envelope that the
// functions use.
type response struct {
	id                  string
	kind                awsapigateway.ResponseType
	status              string
	errorType           string
	code                string
	message             string
	challenge, waitable bool
}

func responses() []response {
	const (
		noSuchPath = "There is no such path. The paths of this API are described at /openapi.json."
		notJSON    = "The request could not be read: its body, a parameter or a header has the wrong form."
		tooMany    = "Too many calls at once. Try again after a second."
		broken     = "Something went wrong on our side. Try again; if it stays, tell us the request_id."
	)
	return []response{
		{id: "Unauthorized", kind: awsapigateway.ResponseType_UNAUTHORIZED(), status: "401", errorType: authentication, code: "missing_api_key", challenge: true,
			message: "No API key was sent. Send it as `Authorization: Bearer svc_live_…` (or svc_test_…)."},
		{id: "AccessDenied", kind: awsapigateway.ResponseType_ACCESS_DENIED(), status: "401", errorType: authentication, code: "invalid_api_key", challenge: true,
			message: "The API key is not valid: it may be mistyped, expired or revoked. Create one in the account area or with POST /v1/api-keys."},
		// The gateway's word for a path that it does not know. Given a header
		// Authorization that is not one of AWS's own, it calls the same thing a
		// signature error, or an error without a type of its own.
		{id: "NoMethod", kind: awsapigateway.ResponseType_MISSING_AUTHENTICATION_TOKEN(), status: "404", errorType: invalidRequest, code: "unknown_path", message: noSuchPath},
		{id: "NoResource", kind: awsapigateway.ResponseType_RESOURCE_NOT_FOUND(), status: "404", errorType: invalidRequest, code: "unknown_path", message: noSuchPath},
		{id: "Signature", kind: awsapigateway.ResponseType_INVALID_SIGNATURE(), status: "404", errorType: invalidRequest, code: "unknown_path", message: noSuchPath},
		{id: "Expired", kind: awsapigateway.ResponseType_EXPIRED_TOKEN(), status: "404", errorType: invalidRequest, code: "unknown_path", message: noSuchPath},
		{id: "Default4xx", kind: awsapigateway.ResponseType_DEFAULT_4XX(), status: "404", errorType: invalidRequest, code: "unknown_path", message: noSuchPath},

		{id: "BadBody", kind: awsapigateway.ResponseType_BAD_REQUEST_BODY(), status: "400", errorType: invalidRequest, code: "malformed_json", message: notJSON},
		{id: "BadParameters", kind: awsapigateway.ResponseType_BAD_REQUEST_PARAMETERS(), status: "400", errorType: invalidRequest, code: "invalid_header", message: notJSON},
		{id: "TooLarge", kind: awsapigateway.ResponseType_REQUEST_TOO_LARGE(), status: "413", errorType: invalidRequest, code: "body_too_large",
			message: "The body is larger than 256 KiB. Photos and media go to object storage by signed URL."},
		{id: "MediaType", kind: awsapigateway.ResponseType_UNSUPPORTED_MEDIA_TYPE(), status: "415", errorType: invalidRequest, code: "unsupported_media_type",
			message: "The body is not JSON. Send it with `Content-Type: application/json`."},
		{id: "Throttled", kind: awsapigateway.ResponseType_THROTTLED(), status: "429", errorType: rateLimit, code: "rate_limited", message: tooMany, waitable: true},
		{id: "Quota", kind: awsapigateway.ResponseType_QUOTA_EXCEEDED(), status: "429", errorType: rateLimit, code: "rate_limited", message: tooMany, waitable: true},

		{id: "Timeout", kind: awsapigateway.ResponseType_INTEGRATION_TIMEOUT(), status: "504", errorType: apiError, code: "timeout",
			message: "The answer took too long. The call may still have had its effect: repeat it with the same Idempotency-Key."},
		{id: "Failure", kind: awsapigateway.ResponseType_INTEGRATION_FAILURE(), status: "500", errorType: apiError, code: "internal", message: broken},
		{id: "AuthorizerFailure", kind: awsapigateway.ResponseType_AUTHORIZER_FAILURE(), status: "500", errorType: apiError, code: "internal", message: broken},
		{id: "AuthorizerSetup", kind: awsapigateway.ResponseType_AUTHORIZER_CONFIGURATION_ERROR(), status: "500", errorType: apiError, code: "internal", message: broken},
		{id: "ApiSetup", kind: awsapigateway.ResponseType_API_CONFIGURATION_ERROR(), status: "500", errorType: apiError, code: "internal", message: broken},
		{id: "Default5xx", kind: awsapigateway.ResponseType_DEFAULT_5XX(), status: "500", errorType: apiError, code: "internal", message: broken},
	}
}

// respond puts every answer of the gateway's own into the envelope.
func (g *gateway) respond() {
	for _, r := range responses() {
		headers := map[string]*string{
			"X-Request-Id":  jsii.String("context.requestId"),
			"Cache-Control": jsii.String("'no-store'"),
		}
		if r.challenge {
			headers["WWW-Authenticate"] = jsii.String("'Bearer'")
		}
		if r.waitable {
			headers["Retry-After"] = jsii.String("'1'")
		}
		g.api.AddGatewayResponse(jsii.String(r.id), &awsapigateway.GatewayResponseOptions{
			Type:            r.kind,
			StatusCode:      jsii.String(r.status),
			ResponseHeaders: &headers,
			Templates:       &map[string]*string{"application/json": jsii.String(Envelope(r.code, r.message, r.errorType, "$context.requestId"))},
		})
	}
}

// Envelope is the answer to a call that failed before it reached a function.
func Envelope(code, message, errorType, requestID string) string {
	body := struct {
		Data  any `json:"data"`
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
		RequestID string `json:"request_id"`
	}{RequestID: requestID}
	body.Error.Code, body.Error.Message, body.Error.Type = code, message, errorType
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		panic(err) // Text alone: it can be encoded.
	}
	return strings.TrimSpace(out.String())
}
