package pinterest

import (
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The calls that answers are given to.
var (
	creates   = regexp.MustCompile(`^POST /v5/pins$`)
	registers = regexp.MustCompile(`^POST /v5/media$`)
	states    = regexp.MustCompile(`^GET /v5/media/`)
	uploads   = regexp.MustCompile(`^POST /upload/`)
	figures   = regexp.MustCompile(`^GET /v5/pins/[^/]+/analytics$`)
	tokens    = regexp.MustCompile(`^POST /v5/oauth/token$`)
)

// refused returns a refusal of a call.
func refused(call *regexp.Regexp, status, code int, message string, header ...string) control.Answer {
	raw, _ := json.Marshal(map[string]any{"code": code, "message": message}) // of a text and a number
	a := control.Answer{Call: call, Status: status, Body: string(raw), Header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		a.Header.Set(header[i], header[i+1])
	}
	return a
}

// Answers are refusals of Pinterest, as its documents and public reports state them. README.md names the
// source of each.
var Answers = map[string]control.Answer{
	"trial":         refused(creates, 403, 29, "Apps with Trial access may not create Pins in production"),
	"trial, code 3": refused(creates, 403, 3, "This app requires Standard access."),
	"consumer type": refused(creates, 401, 3,
		"Your application consumer type is not supported, please contact support."),
	"missing scope": refused(creates, 403, 29,
		"Your token does not have sufficient permissions to perform this operation."),
	"telescopes":    refused(creates, 403, 29, "Pins about telescopes are not permitted here."),
	"another board": refused(creates, 403, 29, "You are not permitted to access that resource."),
	"spam":          refused(creates, 403, 9, "This was caught by a block (Pins) we have in place to combat spam."),
	"no board":      refused(creates, 404, 40, "Board not found."),
	"no section":    refused(creates, 404, 2031, "Board section not found."),
	"unreachable": refused(creates, 400, 235,
		"Unable to reach the URL. Please check the URL is correct and try again."),
	"not fetched":   refused(creates, 400, 1, "Sorry, we could not fetch the image."),
	"on our end":    refused(creates, 400, 12, "Something went wrong on our end. Sorry about that."),
	"busy board":    refused(creates, 409, 409, "Could not get exclusive access to the board."),
	"invalid":       refused(creates, 400, 1, "Invalid request: 'title' is too long."),
	"invalid media": refused(creates, 400, 235, "The image is too small."),
	"something new": refused(creates, 422, 7777, "The moon is in the seventh house."),
	"unauthorized":  refused(creates, 401, 2, "Authentication failed."),
	"limit": refused(creates, 429, 8, "You have exceeded your rate limit. Try again later.",
		"Retry-After", "45"),
	"limit, reset": refused(creates, 429, 8, "You have exceeded your rate limit.", "X-RateLimit-Reset", "3600"),
	"limit, reset at": refused(creates, 429, 8, "You have exceeded your rate limit.", "X-RateLimit-Reset",
		"1795338120"), // 2026-11-22T09:02:00Z
	"upload: refused": refused(registers, 400, 1, "Invalid media type."),
	"upload: outage":  refused(registers, 503, 11, "Service unavailable."),
	"upload: end":     refused(registers, 500, 12, "Something went wrong on our end."),
	"upload: new":     refused(registers, 418, 7777, "The media is a teapot."),
	"upload: denied": refused(registers, 403, 29,
		"Your token does not have sufficient permissions to perform this operation."),
	"upload: storage": {Call: uploads, Status: 503, Body: "<Error><Code>SlowDown</Code></Error>"},
	"video: gone":     refused(states, 404, 40, "Media upload not found."),
	"video: failed":   {Call: states, Status: 200, Body: `{"media_id":"1","media_type":"video","status":"failed"}`},
	"video: always fails": {Call: states, Status: 200,
		Body: `{"media_id":"1","media_type":"video","status":"failed"}`},
	"figures: denied": refused(figures, 403, 403, "Not authorized to access board or Pin."),
	"figures: gone":   refused(figures, 404, 404, "Pin not found."),

	"token: revoked":     refused(tokens, 400, 1, "The refresh token is invalid or has expired."),
	"token: 401":         refused(tokens, 401, 2, "The refresh token was revoked."),
	"token: application": refused(tokens, 401, 2, "Authentication failed."),
	"token: our form":    refused(tokens, 400, 1, "Missing required parameter grant_type."),
	"token: outage":      refused(tokens, 500, 12, "Something went wrong on our end."),
	"token: outage with the words": refused(tokens, 503, 1,
		"The refresh token is invalid or has expired."),
	"token: proxy":  {Call: tokens, Status: 403, Body: `<html>Forbidden</html>`},
	"token: denied": refused(tokens, 403, 29, "You are not permitted to access that resource."),
	"token: limit":  refused(tokens, 429, 8, "You have exceeded your rate limit."),
}
