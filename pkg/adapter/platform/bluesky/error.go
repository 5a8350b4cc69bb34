package bluesky

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// fault is a refusal of the AT Protocol (atproto.com/specs/xrpc, Error Responses).
type fault struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// suspended are the errors of accounts that are taken down, suspended or deactivated (atproto,
// lexicons/com/atproto/server/createSession.json and lexicons/com/atproto/sync; packages/pds/src/auth-verifier.ts).
var suspended = map[string]bool{"AccountTakedown": true, "AccountSuspended": true, "AccountDeactivated": true,
	"AccountNotFound": true, "RepoTakendown": true, "RepoSuspended": true, "RepoDeactivated": true}

// ended are the errors of a token (packages/pds/src/auth-verifier.ts). A refresh tells whether the session has ended.
var ended = map[string]bool{
	"ExpiredToken":           true, // Token has expired, Token has been revoked
	"InvalidToken":           true, // Token could not be verified, Bad token scope, Malformed token
	"AuthMissing":            true, // the header was lost on the way
	"AuthenticationRequired": true, // Authentication Required
}

// refusals are the other errors that name their cause.
var refusals = map[string]func() *platform.Error{
	// packages/pds/src/repo: another commit came first. Nothing was written.
	"InvalidSwap": platform.Busy,
	// packages/xrpc-server/src/errors.ts. They come with statuses from 500 as well.
	"UpstreamFailure": platform.Busy, "UpstreamTimeout": platform.Busy, "NotEnoughResources": platform.Busy,
	"InternalServerError": platform.Busy,
	// lexicons/com/atproto/repo/getRecord.json; app/bsky/feed/getPostThread.json
	"RecordNotFound": notFound, "NotFound": notFound,
	// packages/xrpc-server and packages/repo: what was sent does not fit the lexicon.
	"InvalidRequest": contentRefused, "InvalidRecord": contentRefused, "InvalidRecordKey": contentRefused,
	// packages/pds/src/actor-store/blob
	"BlobTooLarge": mediaRefused, "InvalidMimeType": mediaRefused, "PayloadTooLarge": mediaRefused,
	// lexicons/com/atproto/identity/resolveHandle.json
	"HandleNotFound": contentRefused,
}

func notFound() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "Bluesky does not have the post.")
}

func contentRefused() *platform.Error {
	return platform.Reject(platform.CodeContentRefused, "Bluesky refuses the post.")
}

func mediaRefused() *platform.Error {
	return platform.Reject(platform.CodeMediaRefused, "Bluesky refuses the file.")
}

func accountSuspended() *platform.Error {
	return platform.NeedsReconnect(platform.CodeNeedsReconnect, "Bluesky has suspended the account, or its owner has "+
		"deactivated it.")
}

// limited returns the error of too many calls. Bluesky names the second at which the next is taken
// (docs.bsky.app, Rate Limits).
func (p *Platform) limited(a wire.Answer) *platform.Error {
	var after time.Duration
	if at, err := strconv.ParseInt(a.Header.Get("RateLimit-Reset"), 10, 64); err == nil {
		after = min(max(time.Unix(at, 0).Sub(p.Client.Now()), 0), 24*time.Hour)
	}
	return platform.Limited(after)
}

// refused classifies the refusals of the server of the account, which name an error.
func (p *Platform) refused(a wire.Answer) *platform.Error {
	var f fault
	named := json.Unmarshal(a.Body, &f) == nil && f.Error != ""
	switch {
	case a.OK() || a.Status >= 500: // the status tells the failures inside Bluesky
		return nil
	case a.Status == http.StatusTooManyRequests, f.Error == "RateLimitExceeded":
		return p.limited(a)
	case !named:
		return nil
	case ended[f.Error]:
		return platform.TokenExpired()
	case suspended[f.Error]:
		return accountSuspended()
	}
	if means, ok := refusals[f.Error]; ok {
		return means()
	}
	return platform.Odd()
}

// sessionRefused classifies the refusals of the calls that open, renew and end a session. Only an answer with the
// status 400 or 401 and an error of the token or of the account ends a connection.
func (p *Platform) sessionRefused(a wire.Answer) *platform.Error {
	var f fault
	named := json.Unmarshal(a.Body, &f) == nil && f.Error != ""
	own := a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
	switch {
	case a.OK():
		return nil
	case a.Status == http.StatusTooManyRequests, own && f.Error == "RateLimitExceeded":
		return p.limited(a)
	case own && named && suspended[f.Error]:
		return accountSuspended()
	case own && f.Error == "AuthFactorTokenRequired":
		return platform.NeedsReconnect(platform.CodeNeedsReconnect, "Bluesky wants a code sent by e-mail. Connect the "+
			"account with an app password.")
	case own && named && ended[f.Error]:
		return platform.Disconnected()
	}
	return platform.Busy()
}

// The refusals of the video service, by the texts that github.com/bluesky-social/social-app knows
// (getUploadErrorMessage), and unconfirmed_email of atproto #3097.
var (
	videoQuota = regexp.MustCompile(`(?i)exceeded daily upload|daily limit`)
	videoLater = regexp.MustCompile(`(?i)disabled at the moment|failed to get user's upload stats`)
	videoSize  = regexp.MustCompile(`(?i)larger than the maximum|too large`)
	videoMail  = regexp.MustCompile(`(?i)unconfirmed_email|confirm your email`)
	videoRight = regexp.MustCompile(`(?i)not allowed to upload|not old enough`)
)

// videoRefused classifies the refusals of the video service. It has tokens of its own, so that a refusal of one says
// nothing about the session of the account: after some attempts the refusal is final.
func (p *Platform) videoRefused(a wire.Answer) *platform.Error {
	var f fault
	_ = json.Unmarshal(a.Body, &f) // an answer in another form explains nothing
	switch {
	case a.OK() || a.Status >= 500:
		return nil
	case a.Status == http.StatusTooManyRequests, f.Error == "RateLimitExceeded":
		return p.limited(a)
	case a.Status == http.StatusRequestEntityTooLarge:
		return mediaRefused()
	}
	if e := videoMeans(f.Error + " " + f.Message); e != nil {
		return e
	}
	return platform.Perhaps(platform.CodeContentRefused, "Bluesky's video service refuses the video.")
}

// videoMeans returns what a text of the video service says, or nil.
func videoMeans(said string) *platform.Error {
	switch {
	case videoQuota.MatchString(said):
		return platform.Full(24 * time.Hour)
	case videoLater.MatchString(said):
		return platform.Later(platform.CodePlatformUnavailable, "Bluesky takes no videos at the moment.").
			After(10 * time.Minute)
	case videoSize.MatchString(said):
		return mediaRefused()
	case videoMail.MatchString(said):
		return platform.Reject(platform.CodeMissingPermission, "Bluesky takes no videos of the account. Its e-mail "+
			"address must be confirmed.")
	case videoRight.MatchString(said):
		return platform.Reject(platform.CodeMissingPermission, "Bluesky takes no videos of the account.")
	}
	return nil
}

// failures are the codes with which the processing of a video fails for good: app.bsky.video.defs#jobStatus,
// failureCode, and the errors that social-app shows for services without that member. After another failure, such as
// pds_upload_failure, the video is uploaded again (twitter-to-bluesky #55 and #78: usually transient).
var failures = map[string]bool{
	"validation_failure": true, "encoding_failure": true, "pds_upload_unsupported_blob_size": true,
	"video_too_long": true, "bad_aspect_ratio": true, "unsupported_codec": true, "encoded_video_too_large": true,
}

// words returns what the video service says about a failure.
func (j progress) words() string {
	for _, text := range []string{j.Message, j.Error, j.Failure} {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// lasts reports whether the processing would fail again.
func (j progress) lasts() bool { return failures[j.Failure] || j.Failure == "" && failures[j.Error] }

// unprocessed is the error of a video that Bluesky could not process.
func unprocessed(words string) *platform.Error {
	return platform.Reject(platform.CodeMediaRefused, "Bluesky could not process the video.").Saying(words)
}
