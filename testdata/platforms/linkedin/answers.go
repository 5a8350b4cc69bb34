package linkedin

import (
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The calls that answers are given to.
var (
	creates  = regexp.MustCompile(`^POST /rest/posts$`)
	opens    = regexp.MustCompile(`^POST /rest/(images|videos|documents)$`)
	puts     = regexp.MustCompile(`^PUT /upload/`)
	statuses = regexp.MustCompile(`^GET /rest/videos/`)
	tokens   = regexp.MustCompile(`^POST /oauth/v2/accessToken$`)
)

// refused returns a refusal of a call in the form of the error handling page. The code is left out if it is
// empty, and
// so is the code of an input.
func refused(call *regexp.Regexp, status int, code, message, input string) control.Answer {
	body := map[string]any{"status": status, "serviceErrorCode": 100, "message": message}
	if code != "" {
		body["code"] = code
	}
	if input != "" {
		body["errorDetailType"] = "com.linkedin.common.error.BadRequest"
		body["errorDetails"] = map[string]any{"inputErrors": []any{map[string]any{"description": "of the input",
			"input": map[string]any{}, "code": input}}}
	}
	raw, _ := json.Marshal(body) // of texts and numbers
	return control.Answer{Call: call, Status: status, Body: string(raw)}
}

func with(a control.Answer, header, value string) control.Answer {
	a.Header = http.Header{}
	a.Header.Set(header, value)
	return a
}

func token(status int, body string) control.Answer {
	return control.Answer{Call: tokens, Status: status, Body: body}
}

// exception begins the messages of LinkedIn about posts.
const exception = "com.linkedin.content.common.exception.BadRequestResponseException: "

// Answers are refusals of LinkedIn, as its documents and public reports state them. README.md names the source of
// each.
var Answers = map[string]control.Answer{
	"duplicate": refused(creates, 422, "", exception+"Content is a duplicate of urn:li:share:7141138937766391808",
		"DUPLICATE_POST"),
	"too long":      refused(creates, 422, "", exception+"The commentary is too long", "FIELD_LENGTH_TOO_LONG"),
	"too long, 400": refused(creates, 400, "FIELD_LENGTH_TOO_LONG", "commentary exceeds the limit", ""),
	"invalid value": refused(creates, 422, "", "Field has an invalid value", "INVALID_VALUE_FOR_FIELD"),
	"invalid URN":   refused(creates, 400, "INVALID_URN_TYPE", "urn:li:company is not a valid URN", ""),
	"missing scope": refused(creates, 403, "ACCESS_DENIED",
		"Not enough permissions to access: posts.CREATE.20260701", ""),
	"access denied":  refused(creates, 403, "ACCESS_DENIED", "The member has no access", ""),
	"another author": refused(creates, 403, "ACCESS_DENIED", fields+"[/author]", ""),
	"another field":  refused(creates, 403, "ACCESS_DENIED", fields+"[/reshareContext/parent]", ""),
	"hidden post": refused(creates, 403, "",
		"Not enough permissions to access urn:li:ugcPost:7141138937766391808", ""),
	"something new": refused(creates, 412, "NEW", "The moon is in the seventh house.", ""),
	"file failed":   refused(creates, 400, "MEDIA_ASSET_PROCESSING_FAILED", "The asset could not be processed", ""),
	"file waits":    refused(creates, 400, "MEDIA_ASSET_WAITING_UPLOAD", "The asset waits for its upload", ""),
	"unauthorized":  refused(creates, 401, "EXPIRED_ACCESS_TOKEN", "The token used in the request has expired", ""),
	"revoked":       refused(creates, 401, "REVOKED_ACCESS_TOKEN", "The token has been revoked by the user", ""),
	"day limit": refused(creates, 429, "TOO_MANY_REQUESTS",
		"Resource level throttle APPLICATION DAY limit for calls to this resource is reached.", ""),
	"limit, retry after": with(refused(creates, 429, "TOO_MANY_REQUESTS", "Too many requests", ""),
		"Retry-After", "120"),
	"version": refused(creates, 426, "NONEXISTENT_VERSION",
		"Requested version 20260701 is not active", ""),
	"upload: denied":  refused(opens, 403, "ACCESS_DENIED", "Not enough permissions to access: images.ACTION", ""),
	"upload: invalid": refused(opens, 400, "INVALID_VALUE_FOR_FIELD", "The owner is invalid", ""),
	"upload: outage":  refused(opens, 500, "INTERNAL_SERVER_ERROR", "Internal server error", ""),
	"upload: new":     refused(opens, 409, "CONFLICT", "The asset is busy.", ""),
	"upload: expired": refused(puts, 400, "EXPIRED_UPLOAD_URL", "The address has expired", ""),
	"upload: gone":    refused(puts, 404, "", "Not found", ""),
	"video: failed": {Call: statuses, Status: 200,
		Body: `{"status":"PROCESSING_FAILED","processingFailureReason":"The codec is not supported."}`},
	"video: no reason":    {Call: statuses, Status: 200, Body: `{"status":"PROCESSING_FAILED"}`},
	"video: always fails": {Call: statuses, Status: 200, Body: `{"status":"PROCESSING_FAILED"}`},
	"video: hidden":       refused(statuses, 403, "ACCESS_DENIED", "Not enough permissions to access: videos.GET", ""),
	"video: gone":         refused(statuses, 404, "NOT_FOUND", "Not found", ""),
	"token: revoked": token(400,
		`{"error":"invalid_request","error_description":"The provided authorization grant or `+
			`refresh token is invalid, expired or revoked"}`),
	"token: grant": token(400, `{"error":"invalid_grant","error_description":"The refresh token is not valid"}`),
	"token: our form": token(400,
		`{"error":"invalid_request","error_description":"A required parameter \"refresh_token\" is missing"}`),
	"token: application": token(401,
		`{"error":"invalid_client_id","error_description":"Client authentication failed"}`),
	"token: outage": token(500, `{"error":"internal_server_error"}`),
	"token: limit":  token(429, `{"error":"too_many_requests"}`),
	"token: outage with the words": token(503,
		`{"error":"invalid_request","error_description":"refresh token is invalid, expired or revoked"}`),
	"token: proxy": token(403, `<html>Forbidden</html>`),
}

// fields begins the message about a part of a post.
const fields = "Field Value validation failed in REQUEST_BODY: Data Processing Exception while processing fields "

// RoleCalls are the calls that list the roles of the member.
var RoleCalls = regexp.MustCompile(`^GET /rest/organizationAcls$`)
