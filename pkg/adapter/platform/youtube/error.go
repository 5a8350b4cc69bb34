package youtube

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// reasonOf returns the reason of a refusal, or an empty text.
func reasonOf(a wire.Answer) string {
	var body struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || len(body.Error.Errors) == 0 {
		return ""
	}
	return body.Error.Errors[0].Reason
}

// refused classifies a refusal by its reason.
func (p *Platform) refused(a wire.Answer) *platform.Error {
	if a.OK() {
		return nil
	}
	reason := reasonOf(a)
	switch reason {
	case "uploadLimitExceeded":
		return platform.Full(24 * time.Hour)
	case "quotaExceeded", "dailyLimitExceeded":
		// The quota of the operator's application starts again once a day.
		return platform.Full(6 * time.Hour)
	case "rateLimitExceeded", "userRateLimitExceeded":
		return platform.Limited(0)
	case "authError":
		return platform.TokenExpired()
	case "insufficientPermissions":
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of Google asks for.")
	case "youtubeSignupRequired", "accountClosed", "accountSuspended", "channelClosed", "channelSuspended", "forbidden":
		return platform.Disconnected()
	case "videoNotFound":
		return platform.Reject(platform.CodePostNotFound, "YouTube does not have the video.")
	case "invalidTitle", "invalidDescription", "invalidTags", "invalidVideoMetadata", "invalidFilename",
		"invalidPublishAt":
		return platform.Reject(platform.CodeContentRefused, "YouTube refuses the title, the description or the tags.")
	}
	switch {
	case strings.HasPrefix(reason, "invalid"), strings.HasPrefix(reason, "media"):
		return platform.Reject(platform.CodeContentRefused, "YouTube refuses the video.")
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return platform.Again(nil)
	default:
		return nil
	}
}
