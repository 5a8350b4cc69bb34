package youtube

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// reasonOf returns the reason of a refusal, or an empty text. Newer answers have it in their details as well, in
// capitals.
func reasonOf(a wire.Answer) string {
	type reasons []struct {
		Reason string `json:"reason"`
	}
	var body struct {
		Error struct {
			Errors  reasons `json:"errors"`
			Details reasons `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return ""
	}
	for _, r := range append(body.Error.Errors, body.Error.Details...) {
		if r.Reason != "" {
			return r.Reason
		}
	}
	return ""
}

// refusal is the call that YouTube has refused.
type refusal struct {
	now time.Time
	// publishes says that the call uploads a video. The refusal of another call, such as one that reads figures, says
	// nothing about the right to publish.
	publishes bool
}

// The reasons are those of developers.google.com/youtube/v3/docs/errors and of the pages of the methods, and of
// developers.google.com/webmaster-tools/v1/errors (the global errors of Google's APIs). Others are named.
var reasons = map[string]func(refusal) *platform.Error{
	// "If you get a 400 error with the reason uploadLimitExceeded, try again in 24 hours" (YouTube Data API, revision
	// history; gitlab.gnome.org/GNOME/shotwell #5019).
	"uploadLimitExceeded": func(refusal) *platform.Error { return platform.Full(24 * time.Hour) },
	// The quota of the operator's project starts again at midnight, Pacific time (Quota and Compliance Audits).
	"quotaExceeded": untilMidnight, "dailyLimitExceeded": untilMidnight, "dailyLimitExceededUnreg": untilMidnight,
	// Global errors: too many calls at once.
	"rateLimitExceeded": limited, "userRateLimitExceeded": limited, "RATE_LIMIT_EXCEEDED": limited,
	"concurrentLimitExceeded": limited, "servingLimitExceeded": limited, "limitExceeded": limited,
	// Global errors: failures inside Google, whatever the status.
	"backendError": busy, "internalError": busy, "notReady": busy, "backendNotConnected": busy,
	// General errors, forbidden: the account or the channel of the token. tokland/youtube-upload #288: no channel.
	"youtubeSignupRequired": ofPublisher(platform.Disconnected), "accountClosed": ofPublisher(platform.Disconnected),
	"accountSuspended": ofPublisher(platform.Disconnected), "channelClosed": ofPublisher(platform.Disconnected),
	"channelSuspended":                  ofPublisher(platform.Disconnected),
	"authenticatedUserAccountClosed":    ofPublisher(platform.Disconnected),
	"authenticatedUserAccountSuspended": ofPublisher(platform.Disconnected),
	"authenticatedUserNotChannel":       ofPublisher(platform.Disconnected),
	"accountDelegationForbidden":        ofPublisher(platform.Disconnected),
	// Global errors: the right was not granted.
	"insufficientPermissions":         ofPublisher(unentitled),
	"ACCESS_TOKEN_SCOPE_INSUFFICIENT": ofPublisher(unentitled),
	// Global errors: the operator's project is wrong, and the accounts stay valid.
	"accessNotConfigured": application, "SERVICE_DISABLED": application, "keyInvalid": application,
	"keyExpired": application, "ipRefererBlocked": application, "projectNotLinked": application,
	// videos, playlists and playlistItems.
	"videoNotFound":                         missing,
	"playlistNotFound":                      refused("YouTube does not have the playlist."),
	"playlistContainsMaximumNumberOfVideos": refused("The playlist is full."),
	"playlistItemsNotAccessible":            denied, "playlistForbidden": denied,
	"invalidTitle": wrongText, "invalidDescription": wrongText, "invalidTags": wrongText,
	"invalidVideoMetadata": wrongText, "invalidFilename": wrongText, "invalidPublishAt": wrongText,
	"defaultLanguageNotSet": wrongText,
	// videos.insert and videos.update: the account may not set these values.
	"forbiddenPrivacySetting": option, "forbiddenLicenseSetting": option, "forbiddenEmbedSetting": option,
	"forbiddenDefaultBroadcastPrivacySetting": option, "invalidCategoryId": option,
	"invalidDefaultBroadcastPrivacySetting": option,
	"uploadTooLarge":                        refused("The video is too large for YouTube."),
}

// refused classifies the refusals of all calls but those of a session.
func (p *Platform) refused(a wire.Answer) *platform.Error {
	return p.classify(a, refusal{now: p.Client.Now()})
}

// uploadRefused classifies the refusals of the calls that upload a video. A forbidden upload (reason forbidden) proves
// nothing about the account: it was a limit in tokland/youtube-upload #166, and the channel in postiz #1913.
func (p *Platform) uploadRefused(a wire.Answer) *platform.Error {
	return p.classify(a, refusal{now: p.Client.Now(), publishes: true})
}

// sessionRefused classifies the refusals of a session. One that is gone is told without a reason
// (developers.google.com/youtube/v3/guides/using_resumable_upload_protocol, Errors).
func (p *Platform) sessionRefused(a wire.Answer) *platform.Error {
	e := p.uploadRefused(a)
	gone := a.Status == http.StatusNotFound || a.Status == http.StatusGone
	if gone && (e == nil || reasonOf(a) == "" || e.Kind == platform.Unclear) {
		return platform.Again(nil)
	}
	return e
}

func (p *Platform) classify(a wire.Answer, of refusal) *platform.Error {
	if a.OK() || a.Status == http.StatusPermanentRedirect {
		return nil
	}
	reason := reasonOf(a)
	if means, ok := reasons[reason]; ok && a.Status < 500 {
		return means(of)
	}
	switch {
	case a.Status >= 500, a.Status == http.StatusTooManyRequests, a.Status == http.StatusUnauthorized,
		a.Status == http.StatusRequestTimeout:
		return nil // the status tells it
	case strings.HasPrefix(reason, "invalid"), strings.HasPrefix(reason, "media"):
		return platform.Reject(platform.CodeContentRefused, "YouTube refuses the video.")
	}
	return platform.Odd()
}

func limited(refusal) *platform.Error { return platform.Limited(0) }
func busy(refusal) *platform.Error    { return platform.Busy() }

// untilMidnight is the meaning of a quota that starts again at midnight, Pacific time.
func untilMidnight(of refusal) *platform.Error {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		zone = time.FixedZone("PST", -8*60*60)
	}
	y, m, d := of.now.In(zone).Date()
	return platform.Full(time.Date(y, m, d+1, 0, 0, 0, 0, zone).Sub(of.now))
}

// ofPublisher is the meaning of a refusal that ends the account if the call uploads a video.
func ofPublisher(e func() *platform.Error) func(refusal) *platform.Error {
	return func(of refusal) *platform.Error {
		if of.publishes {
			return e()
		}
		return denied(of)
	}
}

func unentitled() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that the "+
		"page of Google asks for.")
}

func denied(refusal) *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "YouTube does not let the account do this. Connect the "+
		"account "+
		"again and allow all that the page of Google asks for.")
}

func application(refusal) *platform.Error {
	return platform.Later(platform.CodeNotConfigured, "Google refuses the service's application.")
}

func missing(refusal) *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "YouTube does not have the video.")
}

func wrongText(refusal) *platform.Error {
	return platform.Reject(platform.CodeContentRefused, "YouTube refuses the title, the description or the tags.")
}

func option(refusal) *platform.Error {
	return platform.Reject(platform.CodeInvalidOption, "YouTube does not let the account choose this value of an "+
		"option.")
}

func refused(message string) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return platform.Reject(platform.CodeContentRefused, message) }
}
