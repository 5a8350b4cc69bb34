package youtube

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The calls that the answers are for.
const (
	opens = "^POST /upload/youtube/v3/videos$"
	puts  = "^PUT /upload/youtube/v3/videos$"
)

// Where the answers are described.
const (
	errorsPage = "developers.google.com/youtube/v3/docs/errors"
	global     = "global errors of Google's APIs"
	resumable  = "developers.google.com, Resumable Uploads, Errors"
)

// Answers are answers of YouTube that its documents or public reports describe.
var Answers = []control.Row{
	told("uploadLimitExceeded", opens, 400, "uploadLimitExceeded", "The user has exceeded the number of videos they may upload.",
		errorsPage+"; shotwell #5019"),
	told("quotaExceeded", opens, 403, "quotaExceeded",
		`You have exceeded your <a href=\"/youtube/v3/getting-started#quota\">quota</a>.`, errorsPage),
	told("rateLimitExceeded", opens, 403, "rateLimitExceeded", "Rate Limit Exceeded", global),
	later("429 with a time", opens, 429, "rateLimitExceeded", global),
	later("503 with a time", opens, 503, "backendError", global),
	told("500 backendError", opens, 500, "backendError", "Backend Error", global),
	told("401 authError", opens, 401, "authError", "Invalid Credentials", global),
	told("401 youtubeSignupRequired", opens, 401, "youtubeSignupRequired", "Unauthorized", "tokland/youtube-upload #288"),
	told("403 insufficientPermissions", opens, 403, "insufficientPermissions", "Insufficient Permission", global),
	detailed("403 of the new form", opens, 403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
		"Request had insufficient authentication scopes.", "cloud.google.com/apis, errors"),
	told("403 channelSuspended", opens, 403, "channelSuspended", "The channel has been suspended.", errorsPage),
	told("403 authenticatedUserAccountClosed", opens, 403, "authenticatedUserAccountClosed", "The account is closed.",
		errorsPage),
	told("403 forbidden", opens, 403, "forbidden", "Access forbidden. The request may not be properly authorized.",
		"postiz #1913; tokland/youtube-upload #144, #166"),
	told("403 forbiddenPrivacySetting", opens, 403, "forbiddenPrivacySetting", "Invalid privacy setting.", errorsPage),
	told("400 invalidTags", opens, 400, "invalidTags", "The request metadata specifies invalid video keywords.", errorsPage),
	told("400 mediaBodyRequired", opens, 400, "mediaBodyRequired", "The request does not include the video content.",
		errorsPage),
	told("403 accessNotConfigured", opens, 403, "accessNotConfigured", "The API is disabled.", global),
	told("an unknown reason", opens, 400, "somethingNew", "Something new", "stands for those that no document has"),
	bare("404 of the session", puts, 404, resumable),
	bare("410 of the session", puts, 410, resumable),
	bare("503 of the session", puts, 503, resumable),
	told("403 quotaExceeded of the session", puts, 403, "quotaExceeded", "Quota", errorsPage),
	told("an unknown reason of the session", puts, 400, "somethingNew", "Something new", "stands for those that no document has"),
}

// told is a refusal with a reason.
func told(name, call string, status int, reason, message, source string) control.Row {
	return control.Row{Name: name, Source: source, Answer: control.Answer{Call: regexp.MustCompile(call), Status: status,
		Body: fmt.Sprintf(`{"error":{"code":%d,"message":"%s","errors":[{"message":"%s","domain":"youtube","reason":%q}]}}`,
			status, message, message, reason)}}
}

// detailed is a refusal in the newer form of Google's errors.
func detailed(name, call string, status int, reason, message, source string) control.Row {
	return control.Row{Name: name, Source: source, Answer: control.Answer{Call: regexp.MustCompile(call), Status: status,
		Body: fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":"PERMISSION_DENIED","details":[{"@type":`+
			`"type.googleapis.com/google.rpc.ErrorInfo","reason":%q,"domain":"googleapis.com"}]}}`, status, message, reason)}}
}

// later is a refusal that names a time.
func later(name, call string, status int, reason, source string) control.Row {
	row := told(name, call, status, reason, "Later", source)
	row.Header = http.Header{"Retry-After": {"45"}}
	return row
}

// bare is an answer without an explanation.
func bare(name, call string, status int, source string) control.Row {
	return control.Row{Name: name, Source: source, Answer: control.Answer{Call: regexp.MustCompile(call), Status: status,
		Body: http.StatusText(status)}}
}
