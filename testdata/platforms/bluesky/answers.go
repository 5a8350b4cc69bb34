package bluesky

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The calls that the answers are for.
const (
	creates  = "^POST /xrpc/com.atproto.repo.createRecord$"
	blobs    = "^POST /xrpc/com.atproto.repo.uploadBlob$"
	limits   = "^GET /xrpc/app.bsky.video.getUploadLimits$"
	uploads  = "^POST /xrpc/app.bsky.video.uploadVideo$"
	statuses = "^GET /xrpc/app.bsky.video.getJobStatus$"
)

// Where the answers are described.
const (
	verifier = "atproto, packages/pds/src/auth-verifier.ts"
	xrpc     = "atproto, packages/xrpc-server/src/errors.ts"
	jobs     = "atproto, lexicons/app/bsky/video/defs.json"
	app      = "social-app, getUploadErrorMessage"
)

// Resets is the second that an answer names as the end of a limit: 2026-11-22T09:02:00Z.
const Resets = 1795338120

// Answers are answers of Bluesky that its documents or public reports describe.
var Answers = []control.Row{
	named("ExpiredToken", creates, 400, "ExpiredToken", "Token has expired", verifier),
	named("InvalidToken", creates, 400, "InvalidToken", "Token could not be verified", verifier),
	named("AuthMissing", creates, 401, "AuthMissing", "Authentication Required", verifier),
	named("AccountTakedown", creates, 401, "AccountTakedown", "Account has been taken down", verifier),
	named("AccountDeactivated", creates, 400, "AccountDeactivated", "Account is deactivated", xrpc),
	limited("RateLimitExceeded", creates, `{"error":"RateLimitExceeded","message":"Rate Limit Exceeded"}`),
	limited("429 of a proxy", creates, `<html>429</html>`),
	named("UpstreamFailure", creates, 502, "UpstreamFailure", "Upstream Failure", xrpc),
	named("InternalServerError", creates, 500, "InternalServerError", "Internal Server Error", xrpc),
	named("InternalServerError of a blob", blobs, 500, "InternalServerError", "Internal Server Error", xrpc),
	named("InvalidSwap", creates, 400, "InvalidSwap", "Commit was at bafyrei", "atproto, lexicons/com/atproto/repo/createRecord.json"),
	named("InvalidRequest", creates, 400, "InvalidRequest",
		"Invalid app.bsky.feed.post record: blob too big (maximum 100000000, got 103969941) at $.record.embed.video",
		"touitomamout-next #110"),
	named("BlobNotFound", creates, 400, "BlobNotFound", "Could not find blob: bafkrei1", "atproto, packages/pds, repo"),
	named("BlobTooLarge", blobs, 400, "BlobTooLarge", "This file is too large.", "atproto, packages/pds, blob"),
	named("413 of a blob", blobs, 413, "PayloadTooLarge", "request entity too large", xrpc),
	named("an unknown error of a post", creates, 400, "SomethingNew", "Something new", "stands for those that no document has"),
	named("an unknown error of a blob", blobs, 400, "SomethingNew", "Something new", "stands for those that no document has"),
	failed("job: pds_upload_failure", "pds_upload_failure", "", "Failed to upload to the PDS", jobs+"; twitter-to-bluesky #55, #78"),
	failed("job: generic_failure", "generic_failure", "", "Video failed to process", jobs),
	failed("job: without a code", "", "JobError", "", "twitter-to-bluesky #55; social-app #11329"),
	failed("job: validation_failure", "validation_failure", "video_too_long", "The video is too long", jobs),
	failed("job: without a code, video_too_long", "", "video_too_long", "", "social-app, getValidationErrorMessage"),
	failed("job: encoding_failure", "encoding_failure", "", "The video could not be encoded", jobs),
	failed("job: pds_upload_unsupported_blob_size", "pds_upload_unsupported_blob_size", "", "Too large for the PDS", jobs),
	raw("upload: 401 of the audience", uploads, 401,
		`{"did":"","error":"invalid token: invalid token audience \"did:web:video.bsky.app\"","jobId":"","state":""}`,
		"touitomamout-next #110; blacksky.community #24"),
	named("upload: 401 unconfirmed_email", uploads, 401, "unconfirmed_email", "Confirm your email address to upload videos",
		"atproto #3097"),
	raw("limits: 401", limits, 401, `{"error":"Unauthorized","message":"invalid token"}`, "ArtemioPadilla/watchboard #87"),
	raw("limits: unconfirmed_email", limits, 200,
		`{"canUpload":false,"error":"unconfirmed_email","message":"Confirm your email address to upload videos"}`,
		"atproto #3097"),
	raw("limits: no more today", limits, 200, `{"canUpload":false,"remainingDailyVideos":0,"message":"No more today"}`,
		"atproto, lexicons/app/bsky/video/getUploadLimits.json"),
	named("upload: daily limit", uploads, 400, "BadRequest", "User has exceeded daily upload bytes limit", app),
	named("upload: disabled", uploads, 400, "BadRequest", "Uploading is disabled at the moment", app),
	named("upload: too large", uploads, 400, "BadRequest",
		"file size (300000001 bytes) is larger than the maximum allowed size (300000000 bytes)", app),
	named("upload: not allowed", uploads, 403, "Forbidden", "User is not allowed to upload videos", app),
	named("upload: 503", uploads, 503, "ServiceUnavailable", "Service Unavailable", xrpc),
}

func raw(name, call string, status int, body, source string) control.Row {
	return control.Row{Name: name, Source: source, Answer: control.Answer{Call: regexp.MustCompile(call), Status: status,
		Body: body}}
}

// named is a refusal of the AT Protocol.
func named(name, call string, status int, error, message, source string) control.Row {
	body, _ := json.Marshal(map[string]string{"error": error, "message": message}) // texts are no error
	return raw(name, call, status, string(body), source)
}

func limited(name, call, body string) control.Row {
	row := raw(name, call, http.StatusTooManyRequests, body, "docs.bsky.app, Rate Limits")
	row.Header = http.Header{"Ratelimit-Reset": {fmt.Sprint(Resets)}}
	return row
}

// failed is the status of a job that has failed.
func failed(name, code, error, message, source string) control.Row {
	members := []string{`"jobId":"job-0001"`, `"did":"` + DID + `"`, `"state":"JOB_STATE_FAILED"`}
	for _, m := range [][2]string{{"failureCode", code}, {"error", error}, {"message", message}} {
		if m[1] != "" {
			members = append(members, fmt.Sprintf("%q:%q", m[0], m[1]))
		}
	}
	return raw(name, statuses, http.StatusOK, `{"jobStatus":{`+strings.Join(members, ",")+`}}`, source)
}
