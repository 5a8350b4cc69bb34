package tiktok

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// refused classifies refusals by the code that every answer has; posts reports whether the call may have made a post.
func refused(posts bool) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		var body struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &body); err != nil || body.Error.Code == "" {
			return nil
		}
		switch code := body.Error.Code; code {
		case "ok":
			return nil
		case "access_token_invalid":
			return platform.TokenExpired()
		case "rate_limit_exceeded":
			return platform.Limited(time.Minute)
		case "internal_error":
			if posts {
				return platform.Lost(nil)
			}
			return platform.Busy()
		case "spam_risk_too_many_posts", "reached_active_user_cap":
			return platform.Full(24 * time.Hour)
		case "unaudited_client_can_only_post_to_private_accounts":
			return platform.Reject(platform.CodeInvalidOption, "TikTok has not audited the application yet: it posts "+
				"privately only.")
		case "url_ownership_unverified":
			return platform.Reject(platform.CodeMediaRefused, "The domain of the media is not verified with TikTok.")
		case "privacy_level_option_mismatch":
			return badPrivacy()
		default:
			return other(code)
		}
	}
}

func other(code string) *platform.Error {
	switch {
	case strings.HasPrefix(code, "scope_"):
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of TikTok asks for.")
	case strings.HasPrefix(code, "spam_risk"):
		return platform.Reject(platform.CodeContentPolicy, "TikTok does not let the account post this.")
	default:
		return platform.Reject(platform.CodeContentRefused, "TikTok refuses the post.")
	}
}

func badPrivacy() *platform.Error {
	return platform.Reject(platform.CodeInvalidOption, "The TikTok account does not allow the privacy.")
}

// failed returns the error of a publication that TikTok has abandoned.
func failed(reason string) *platform.Error {
	cause := fmt.Errorf("tiktok: fail_reason %q", reason)
	switch {
	case reason == "auth_removed":
		return platform.Disconnected().Because(cause)
	case reason == "internal":
		return platform.Again(cause)
	case reason == "spam_risk_too_many_posts":
		return platform.Again(cause).After(24 * time.Hour)
	case reason == "publish_cancelled":
		return platform.Reject(platform.CodeCanceled, "The publication was canceled on TikTok.").Because(cause)
	case strings.HasPrefix(reason, "spam_risk"):
		return platform.Reject(platform.CodeContentPolicy, "TikTok does not let the account post this.").Because(cause)
	default: // such as duration_check_failed and video_pull_failed
		return platform.Reject(platform.CodeMediaRefused, "TikTok could not process the media.").Because(cause)
	}
}
