package rutube

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Rutube answers in the form of the Django REST framework (django-rest-framework.org, Exceptions): {"detail": "…"}, or
// a list of texts for each member. It has no codes: the status and, for 403, the text tell the outcome.
var (
	// invalid are the texts of a token that is not valid: Invalid token., User inactive or deleted., Authentication
	// credentials were not provided., Invalid token header., and their translations.
	invalid = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\btoken\b|credentials|inactive or deleted|учетные данные|токен`)
	})
	// throttled is the text of too many calls: Request was throttled. Expected available in 30 seconds.
	throttled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)available in (\d+) second`) })
)

// said returns the detail of an answer in Rutube's own form, and reports whether it is in that form, and not that of a
// proxy: it has a detail, or lists of texts.
func said(a wire.Answer) (detail string, own bool) {
	var body map[string]any
	if json.Unmarshal(a.Body, &body) != nil {
		return "", false
	}
	if detail, own = body["detail"].(string); own {
		return detail, true
	}
	for _, member := range body {
		if _, own = member.([]any); !own {
			return "", false
		}
	}
	return "", own
}

// refused classifies refusals.
func refused(a wire.Answer) *platform.Error {
	switch detail, own := said(a); {
	case a.OK() || a.Status >= 500:
		return nil
	case a.Status == http.StatusTooManyRequests:
		return limited(detail)
	case !own && a.Status != http.StatusRequestEntityTooLarge:
		return platform.Odd()
	case a.Status == http.StatusUnauthorized && detail != "",
		a.Status == http.StatusForbidden && invalid().MatchString(detail):
		return platform.Disconnected()
	}
	switch a.Status {
	case http.StatusNotFound, http.StatusGone:
		return platform.Reject(platform.CodePostNotFound, "Rutube does not have the video.")
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return platform.Reject(platform.CodeContentRefused, "Rutube refuses the video.")
	case http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return platform.Reject(platform.CodeMediaRefused, "Rutube refuses the file.")
	}
	return platform.Odd()
}

// refusedLogin classifies refusals of the login. Only Rutube's own answers concern the name and the password.
func refusedLogin(a wire.Answer) *platform.Error {
	switch detail, own := said(a); {
	case a.OK() || a.Status >= 500:
		return nil
	case a.Status == http.StatusTooManyRequests:
		return limited(detail)
	case own && (a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized ||
		a.Status == http.StatusForbidden):
		return platform.NeedsReconnect(platform.CodeNeedsReconnect, "Rutube refuses the user name or the password. "+
			needsPassword)
	}
	return platform.Busy()
}

func limited(said string) *platform.Error {
	var after int
	if m := throttled().FindStringSubmatch(said); m != nil {
		after, _ = strconv.Atoi(m[1]) // the digits of a number that is too large stand for no time
	}
	return platform.Limited(time.Duration(min(after, 24*60*60)) * time.Second)
}

// state reports whether a video can be shown, or why it never will. The states and the reasons are those of the old
// documents (github.com/rutube/php-api-client): ready and error are the last states, and a video that is downloaded
// counts as deleted until then.
func (f film) state() (ready bool, err error) {
	switch reason := f.reason(); {
	case f.Status == "error", f.Deleted && reason != "downloading_video":
		words := strings.ReplaceAll(reason, "_", " ")
		return false, platform.Reject(platform.CodeMediaRefused, "Rutube could not process the video.").Saying(words)
	case f.Status == "ready", reason == "moderation":
		return true, nil
	}
	return false, nil
}
