package tiktok

import (
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The calls that answers are given to.
var (
	asks    = regexp.MustCompile(`^POST /v2/post/publish/creator_info/query/$`)
	opens   = regexp.MustCompile(`^POST /v2/post/publish/video/init/$`)
	names   = regexp.MustCompile(`^POST /v2/post/publish/content/init/$`)
	states  = regexp.MustCompile(`^POST /v2/post/publish/status/fetch/$`)
	puts    = regexp.MustCompile(`^PUT /upload/`)
	figures = regexp.MustCompile(`^POST /v2/video/query/$`)
	tokens  = regexp.MustCompile(`^POST /v2/oauth/token/$`)
)

// refused returns a refusal of a call.
func refused(call *regexp.Regexp, status int, code, message string) control.Answer {
	raw, _ := json.Marshal(map[string]any{"data": map[string]any{},
		"error": map[string]string{"code": code, "message": message, "log_id": "1"}}) // of texts
	return control.Answer{Call: call, Status: status, Body: string(raw)}
}

func token(status int, body string) control.Answer {
	return control.Answer{Call: tokens, Status: status, Body: body}
}

// Answers are refusals of TikTok, as its documents and public reports state them. README.md names the source
// of each.
var Answers = map[string]control.Answer{
	"banned": refused(opens, 403, "spam_risk_user_banned_from_posting",
		"The user is banned from posting."),
	"spam":     refused(opens, 403, "spam_risk", "The post is a risk."),
	"new spam": refused(opens, 403, "spam_risk_something_new", "The post is a new risk."),
	"too many posts": refused(opens, 403, "spam_risk_too_many_posts",
		"The daily post cap from the API is reached."),
	"too many drafts":   refused(opens, 403, "spam_risk_too_many_pending_share", "Five drafts are pending."),
	"user cap":          refused(asks, 403, "reached_active_user_cap", "The daily quota of active users is reached."),
	"unaudited":         refused(opens, 403, "unaudited_client_can_only_post_to_private_accounts", "Not audited."),
	"privacy":           refused(opens, 403, "privacy_level_option_mismatch", "The privacy is not an option."),
	"domain":            refused(names, 403, "url_ownership_unverified", "The domain is not verified."),
	"invalid":           refused(opens, 400, "invalid_param", "The title is too long."),
	"invalid, E":        refused(names, 400, "invalid_params", "The post_info is empty or incorrect"),
	"old app":           refused(names, 400, "app_version_check_failed", "The version of the app is too low."),
	"invalid file":      refused(opens, 400, "invalid_file_upload", "The file is not valid."),
	"something new":     refused(opens, 400, "moon_in_seventh_house", "The moon is in the seventh house."),
	"new, of photos":    refused(names, 400, "moon_in_seventh_house", "The moon is in the seventh house."),
	"unauthorized":      refused(opens, 401, "access_token_invalid", "The access token is invalid or not found."),
	"missing scope":     refused(opens, 401, "scope_not_authorized", "The user did not authorize the scope."),
	"scope missed":      refused(asks, 401, "scope_permission_missed", "The client lacks the scope."),
	"limit":             refused(opens, 429, "rate_limit_exceeded", "The API rate limit was exceeded."),
	"new limit":         refused(opens, 429, "too_many_moons", "Too many."),
	"outage":            refused(opens, 500, "internal_error", "Something is wrong."),
	"outage, of photos": refused(names, 500, "internal_error", "Something is wrong."),
	"state: unknown":    refused(states, 400, "invalid_publish_id", "The publish_id does not exist."),
	"state: outage":     refused(states, 503, "internal_error", "Something is wrong."),
	"state: limit":      refused(states, 429, "rate_limit_exceeded", "The API rate limit was exceeded."),
	"upload: expired":   {Call: puts, Status: http.StatusForbidden},
	"upload: refused":   {Call: puts, Status: http.StatusBadRequest},
	"figures: scope":    refused(figures, 401, "scope_not_authorized", "The user did not authorize the scope."),

	"token: revoked": token(400,
		`{"error":"invalid_grant","error_description":"Refresh token is invalid or expired."}`),
	"token: revoked, 200": token(200,
		`{"error":"invalid_request","error_description":"Refresh token is invalid or expired."}`),
	"token: application": token(401,
		`{"error":"invalid_client","error_description":"Client key or secret is incorrect."}`),
	"token: our form": token(400, `{"error":"invalid_request","error_description":"The grant_type is empty."}`),
	"token: outage":   token(500, `{"error":"internal_error"}`),
	"token: outage with the words": token(503,
		`{"error":"invalid_grant","error_description":"Refresh token is invalid or expired."}`),
	"token: proxy": token(403, `<html>Forbidden</html>`),
	"token: limit": token(429, `{"error":"rate_limit_exceeded"}`),
}

// Reasons are the reasons with which a publication fails (Get Post Status), and one that TikTok has not published.
var Reasons = []string{"file_format_check_failed", "duration_check_failed", "frame_rate_check_failed",
	"picture_size_check_failed", "internal", "video_pull_failed", "photo_pull_failed", "publish_cancelled",
	"auth_removed", "spam_risk_too_many_posts", "spam_risk_user_banned_from_posting", "spam_risk_text", "spam_risk",
	"reached_active_user_cap", "unaudited_client_can_only_post_to_private_accounts", "url_ownership_unverified",
	"moon_in_seventh_house"}
