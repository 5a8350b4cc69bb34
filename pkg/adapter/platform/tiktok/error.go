package tiktok

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// meaning is what a code of TikTok means.
type meaning int

const (
	content    meaning = iota + 1 // TikTok refuses the description of the post
	policy                        // TikTok does not let the account post this
	file                          // TikTok refuses the media
	privacy                       // the account does not allow the privacy
	unaudited                     // TikTok has not audited the application
	unverified                    // the domain of the photos is not verified
	fault                         // TikTok has a fault, and did nothing
	pulls                         // TikTok could not read a file
	pause                         // too many calls in a minute
	full                          // the account, or the application, may post no more for a day
	token                         // the access token has ended
	right                         // the account has not granted the right
	account                       // the account has removed the application
	canceled                      // the publication was canceled in TikTok
	unknownID                     // TikTok does not know the publication
)

// codes are the codes of refused calls (D: content-posting-api-reference-direct-post, U: …-upload-video, P:
// …-photo-post, S: …-get-video-status, C: …-query-creator-info, E: tiktok-api-v2-error-handling, all of
// developers.tiktok.com/doc).
// Only right and account end a connection, and right only of a call that publishes.
var codes = map[string]meaning{
	"access_token_invalid":               token,  // D, E: 401
	"access_token_expired":               token,  // reports of publishers
	"scope_not_authorized":               right,  // D, E: 401
	"scope_permission_missed":            right,  // E: 401
	"rate_limit_exceeded":                pause,  // D, E: 429
	"internal_error":                     fault,  // E: 500
	"internal":                           fault,  // S
	"spam_risk_too_many_posts":           full,   // D, C: 403, "the daily post cap from the API is reached"
	"spam_risk_too_many_pending_share":   full,   // U: 403, five in 24 hours
	"reached_active_user_cap":            full,   // D, C: 403, of 24 hours
	"spam_risk_user_banned_from_posting": policy, // D, C: 403
	"spam_risk_text":                     policy, // S
	"spam_risk":                          policy, // D
	"unaudited_client_can_only_post_to_private_accounts": unaudited,  // D: 403
	"url_ownership_unverified":                           unverified, // D, P: 403
	"privacy_level_option_mismatch":                      privacy,    // D: 403
	"invalid_param":                                      content,    // D: 400
	"invalid_params":                                     content,    // E: 400
	// P: 400, an old TikTok on the phone of the person
	"app_version_check_failed":                      content,
	"invalid_file_upload":                           file,      // E: 400
	"invalid_publish_id":                            unknownID, // S: 400
	"publish_id_not_found":                          unknownID,
	"token_not_authorized_for_specified_publish_id": unknownID, // S: 400
}

// reasons are the reasons of a publication that has failed (S). Nothing was posted. Those that are not here begin again
// some times, and end with TikTok's word.
var reasons = map[string]meaning{
	"file_format_check_failed":           file,
	"duration_check_failed":              file,
	"frame_rate_check_failed":            file,
	"picture_size_check_failed":          file,
	"internal":                           fault, // "This is a retryable error."
	"internal_error":                     fault,
	"video_pull_failed":                  pulls, // "a retry is recommended"
	"photo_pull_failed":                  pulls, // post-for-me #296
	"publish_cancelled":                  canceled,
	"auth_removed":                       account,
	"spam_risk_too_many_posts":           full,
	"reached_active_user_cap":            full,
	"spam_risk_user_banned_from_posting": policy,
	"spam_risk_text":                     policy,
	"spam_risk":                          policy,
	"unaudited_client_can_only_post_to_private_accounts": unaudited,
	"url_ownership_unverified":                           unverified,
	"privacy_level_option_mismatch":                      privacy,
}

// checks say what TikTok has found wrong with a file.
var checks = map[string]string{
	"file_format_check_failed":  "TikTok does not take the format of the file.",
	"duration_check_failed":     "TikTok does not take the length of the video.",
	"frame_rate_check_failed":   "TikTok does not take the frame rate of the video.",
	"picture_size_check_failed": "TikTok does not take the size of the picture.",
}

// use is what a call is for.
type use int

const (
	reads     use = iota // of figures and earlier posts
	publishes            // or prepares a post
)

// classes makes the classification that wire asks for.
func classes(posts bool) wire.Refused { return refused(publishes, posts) }

// refused classifies refusals by the code that every answer has; posts reports whether the call may have made a post.
func refused(u use, posts bool) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		var body struct {
			Error struct {
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &body); err != nil || body.Error.Code == "" || body.Error.Code == "ok" {
			return nil
		}
		m := codes[body.Error.Code]
		switch {
		case m == 0 && strings.HasPrefix(body.Error.Code, "scope_"):
			m = right
		case m == 0 && strings.HasPrefix(body.Error.Code, "spam_risk"):
			m = policy
		case m == 0 && a.Status == http.StatusTooManyRequests:
			m = pause
		case m == 0 && a.Status >= http.StatusInternalServerError:
			m = fault
		}
		return errorOf(m, u, posts).Saying(said(body.Error.Message, body.Error.Code))
	}
}

// said returns TikTok's message, or the code if there is none.
func said(message, code string) string {
	if message == "" {
		return code
	}
	return message
}

// errorOf returns the error of a refused call.
func errorOf(m meaning, u use, posts bool) *platform.Error {
	switch {
	case m == token:
		return platform.TokenExpired()
	case m == right && u == reads:
		return platform.Reject(platform.CodeMissingPermission, "TikTok does not let the application read this.")
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of TikTok asks for.")
	case m == pause:
		return platform.Limited(time.Minute)
	case m == fault && posts, m == unknownID:
		return platform.Lost(nil)
	case m == fault:
		return platform.Busy()
	case m == full:
		return platform.Full(24 * time.Hour)
	case m == content:
		return platform.Reject(platform.CodeContentRefused, "TikTok refuses the post.")
	case m == 0:
		return platform.Odd()
	}
	return refusal(m)
}

// refusal returns the error of a post that TikTok refuses for good.
func refusal(m meaning) *platform.Error {
	switch m {
	case policy:
		return platform.Reject(platform.CodeContentPolicy, "TikTok does not let the account post this.")
	case privacy:
		return badPrivacy()
	case unaudited:
		return platform.Reject(platform.CodeInvalidOption, "TikTok has not audited the application yet: it posts "+
			"privately only.")
	case unverified:
		return platform.Reject(platform.CodeMediaRefused, "The domain of the media is not verified with TikTok.")
	case canceled:
		return platform.Reject(platform.CodeCanceled, "The publication was canceled on TikTok.")
	default:
		return platform.Reject(platform.CodeMediaRefused, "TikTok could not process the media.")
	}
}

func badPrivacy() *platform.Error {
	return platform.Reject(platform.CodeInvalidOption, "The TikTok account does not allow the privacy.")
}

// failed returns the error of a publication that TikTok has abandoned. Its word is the reason.
func failed(reason string) *platform.Error {
	cause := fmt.Errorf("tiktok: fail_reason %q", reason)
	m := reasons[reason]
	if m == 0 && strings.HasPrefix(reason, "spam_risk") {
		m = policy
	}
	e := refusal(m)
	switch m {
	case account:
		e = platform.Disconnected()
	case full:
		e = platform.Again(nil).After(24 * time.Hour)
	case fault, pulls, 0:
		e = platform.Again(nil)
	case file:
		e.Message = checks[reason]
	}
	return e.Saying(reason).Because(cause)
}

// tokenRefused classifies refusals of the token endpoint. TikTok answers invalid_request or invalid_grant to a code or
// a refresh token that is not valid, with the status 200 or 400 (oauth-user-access-token-management).
func tokenRefused(a wire.Answer) *platform.Error {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	grant := (a.OK() || a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized) &&
		json.Unmarshal(a.Body, &body) == nil && body.Error == "invalid_request"
	if said := strings.ToLower(body.Description); grant && (strings.Contains(said, "code") ||
		strings.Contains(said, "token")) && (strings.Contains(said, "expired") || strings.Contains(said, "invalid") ||
		strings.Contains(said, "not known")) {
		return platform.Disconnected()
	}
	return wire.OAuthRefused(a)
}
