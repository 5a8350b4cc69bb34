package x

import (
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The calls that answers are given to.
var (
	creates = regexp.MustCompile(`^POST /2/tweets$`)
	uploads = regexp.MustCompile(`^POST /2/media/upload/initialize$`)
	states  = regexp.MustCompile(`^(POST /2/media/upload/\d+/finalize|GET /2/media/upload)$`)
	figures = regexp.MustCompile(`^GET /2/tweets/\d+$`)
	tokens  = regexp.MustCompile(`^POST /2/oauth2/token$`)
)

// problem returns the body of a refusal. The type is the end of its address, or empty for about:blank.
func problem(status int, kind, title, detail string, more ...any) string {
	address := "about:blank"
	if kind != "" {
		address = "https://api.x.com/2/problems/" + kind
	}
	body := map[string]any{"type": address, "title": title, "detail": detail, "status": status}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	raw, _ := json.Marshal(body) // of texts and numbers
	return string(raw)
}

func forbidden(detail string) control.Answer {
	return control.Answer{Call: creates, Status: http.StatusForbidden, Body: problem(403, "", "Forbidden", detail)}
}

func ofType(status int, kind, title, detail string, more ...any) control.Answer {
	return control.Answer{Call: creates, Status: status, Body: problem(status, kind, title, detail, more...)}
}

func at(a control.Answer, call *regexp.Regexp) control.Answer {
	a.Call = call
	return a
}

func failed(name, message string) control.Answer {
	raw, _ := json.Marshal(map[string]any{"data": map[string]any{"id": "1", "processing_info": map[string]any{
		"state": "failed", "error": map[string]any{"code": 1, "name": name, "message": message}}}})
	return control.Answer{Call: states, Status: http.StatusOK, Body: string(raw)}
}

func limited(header ...string) control.Answer {
	a := ofType(http.StatusTooManyRequests, "", "Too Many Requests", "Too Many Requests")
	a.Header = http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		a.Header.Set(header[i], header[i+1])
	}
	return a
}

func token(status int, body string) control.Answer {
	return control.Answer{Call: tokens, Status: status, Body: body}
}

// Answers are refusals of X, as its documents and public reports state them. README.md names the source of
// each. Their
// times follow 22 November 2026, 09:00 UTC.
var Answers = map[string]control.Answer{
	"not permitted": forbidden("You are not permitted to perform this action."),
	"two cashtags":  forbidden("Posts are limited to a maximum of one cashtag"),
	"long video":    forbidden("This user is not allowed to post a video longer than 2 minutes."),
	"five items":    forbidden("Media must have a maximum of 4 items."),
	"invalid URL":   forbidden("The Tweet contains an invalid URL."),
	"feature":       forbidden("Your account is not permitted to access this feature."),
	"too long":      forbidden("Your Tweet text is too long. For more information, see the documentation."),
	"malware":       forbidden("Status contains malware"),
	"reply":         forbidden("Reply to this conversation is not allowed because you have not been mentioned."),
	"quote":         forbidden("Quoting this post is not allowed."),
	"deleted":       forbidden("You attempted to reply to a Tweet that is deleted or not visible to you."),
	"duplicate":     forbidden("You are not allowed to create a Tweet with duplicate content."),
	"automated":     forbidden("This request looks like it might be automated. Please try again later."),
	"daily limit":   forbidden("User is over daily status update limit."),
	"something new": forbidden("The moon is in the seventh house."),
	"locked":        forbidden("To protect our users from spam, this account is temporarily locked."),
	"suspended": ofType(403, "user-suspended", "Forbidden",
		"The user used for authentication is suspended"),
	"client forbidden": ofType(403, "client-forbidden", "Client Forbidden",
		"The App is not enrolled.", "reason", "client-not-enrolled"),
	"read only": ofType(403, "oauth1-permissions", "Forbidden",
		"Your client app is not configured with the appropriate oauth1 app permissions."),
	"other authentication": ofType(403, "unsupported-authentication", "Unsupported Authentication",
		"The authentication is not supported."),
	"application suspended": ofType(403, "app-suspended", "Forbidden", "This app is suspended."),
	"private post": ofType(403, "not-authorized-for-resource", "Authorization Error",
		"Sorry, you are not authorized to see the post."),
	"invalid request": ofType(400, "invalid-request", "Invalid Request",
		"One or more parameters to your request was invalid.",
		"errors", []any{map[string]string{"message": "The text of the poll is too long."}}),
	"upload gone": ofType(400, "invalid-request", "Invalid Request",
		"One or more parameters to your request was invalid.",
		"errors", []any{map[string]string{"message": "Your media IDs are invalid."}}),
	"no such post": ofType(404, "resource-not-found", "Not Found Error", "Could not find tweet with id: [1]."),
	"no credits": ofType(402, "credits", "CreditsDepleted",
		"Your enrolled account does not have any credits to fulfill this request."),
	"daily cap": ofType(429, "usage-capped", "UsageCapExceeded",
		"Usage cap exceeded: Daily product cap", "period", "Daily"),
	"monthly cap": ofType(429, "usage-capped", "UsageCapExceeded",
		"Usage cap exceeded: Monthly product cap", "period", "Monthly"),
	"limit": limited("X-Rate-Limit-Remaining", "0", "X-Rate-Limit-Reset", "1795338900"),
	"limit of a day": limited("X-Rate-Limit-Reset", "1795338900", "X-User-Limit-24hour-Remaining", "0",
		"X-User-Limit-24hour-Reset", "1795363200"),
	"limit of the application": limited("X-App-Limit-24hour-Remaining", "0",
		"X-App-Limit-24hour-Reset", "1795363200"),
	"limit, retry after": limited("Retry-After", "90"),
	"unauthorized":       ofType(401, "", "Unauthorized", "Unauthorized"),
	"upload: long video": at(forbidden("This user is not allowed to post a video longer than 2 minutes."), uploads),
	"upload: too large":  at(ofType(413, "", "Payload Too Large", "The media is too large."), uploads),
	"upload: invalid": at(ofType(400, "invalid-request", "Invalid Request",
		"media type unrecognized."), uploads),
	"upload: unavailable":   at(ofType(503, "", "Service Unavailable", "Service Unavailable"), uploads),
	"upload: something new": at(ofType(409, "", "Conflict", "The media is busy."), uploads),
	"upload: expired": at(ofType(404, "resource-not-found", "Not Found Error",
		"Could not find media."), states),
	"media: invalid":  failed("InvalidMedia", "The video has an invalid frame rate."),
	"media: internal": failed("InternalError", "Internal error."),
	"figures: forbidden": at(ofType(403, "not-authorized-for-resource", "Authorization Error",
		"Not authorized."), figures),
	"figures: bare": at(forbidden("Forbidden"), figures),
	"token: spent": token(400,
		`{"error":"invalid_request","error_description":"Value passed for the token was invalid."}`),
	"token: spent, 401": token(401,
		`{"error":"invalid_request","error_description":"Value passed for the token was invalid."}`),
	"token: grant": token(400, `{"error":"invalid_grant"}`),
	"token: application": token(401,
		`{"error":"unauthorized_client","error_description":"Missing valid authorization header"}`),
	"token: our form": token(400,
		`{"error":"invalid_request","error_description":"Missing required parameter [grant_type]."}`),
	"token: outage": token(503, `{"error":"Service Unavailable"}`),
	"token: outage with the words": token(500,
		`{"error":"invalid_request","error_description":"Value passed for the token was invalid."}`),
	"token: proxy": token(403, `<html>Forbidden</html>`),
	"token: limit": token(429, `{"error":"too_many_requests"}`),
}
