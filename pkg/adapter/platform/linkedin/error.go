package linkedin

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

// meaning is what a refusal of LinkedIn means.
type meaning int

const (
	content   meaning = iota + 1 // LinkedIn refuses the post
	invalid                      // LinkedIn refuses a request, perhaps for what is in the post
	file                         // LinkedIn could not process a file
	waits                        // a file is not ready yet
	restart                      // what was uploaded is gone
	duplicate                    // the author has an equal post
	right                        // the token, or its member for the organisation, lacks the right
	absent                       // LinkedIn does not have what the call names
)

// refusal is an answer of LinkedIn. Its code is that of the answer or that of its first input error.
type refusal struct {
	status  int
	code    string // or empty
	message string // part of the message, or empty
	meaning
}

// refusals are the answers of LinkedIn, the first that fits. "Posts API", "Images API", "Videos API" and "Error
// handling" are pages of learn.microsoft.com/linkedin; a number is that of a public report. Only right ends a
// connection, and only of a call that publishes. A 401 is that of the token: it is refreshed once.
var refusals = []refusal{
	// ACCESS_DENIED has three forms. "Not enough permissions to access: posts.CREATE" names a scope that is missing
	// (Error handling; linkedin-api-python-client #47); with a URN in place of the call, it is about that post (Data
	// restrictions). "…while processing fields [/author]": the member may not post for the author (reports of
	// publishers); other fields are parts of the post.
	{http.StatusForbidden, "", "Not enough permissions to access urn:", content},
	{http.StatusForbidden, "", "Not enough permissions to access: ", right},
	{http.StatusForbidden, "", "[/author]", right},
	{http.StatusForbidden, "", "processing fields [/", content},
	{http.StatusForbidden, "ACCESS_DENIED", "", right}, // Posts API
	// Linkedin-RSS #5, composio #2710: "Content is a duplicate of urn:li:share:…".
	{http.StatusUnprocessableEntity, "DUPLICATE_POST", "", duplicate},
	{http.StatusUnprocessableEntity, "", "duplicate of urn:li:", duplicate},
	{http.StatusBadRequest, "MEDIA_ASSET_PROCESSING_FAILED", "", file}, // Videos API, Posts API
	{http.StatusBadRequest, "MEDIA_ASSET_WAITING_UPLOAD", "", waits},
	{http.StatusBadRequest, "EXPIRED_UPLOAD_URL", "", restart},
	// Posts API: INVALID_URN_TYPE, INVALID_URN_ID, MISSING_FIELD, FIELD_LENGTH_TOO_LONG, INVALID_VALUE_FOR_FIELD, ….
	{http.StatusBadRequest, "INVALID_", "", content},
	{http.StatusBadRequest, "MISSING_FIELD", "", content},
	{http.StatusBadRequest, "FIELD_LENGTH", "", content},
	{http.StatusBadRequest, "", "", invalid},
	{http.StatusUnprocessableEntity, "", "", invalid},
	{http.StatusRequestEntityTooLarge, "", "", file},
	{http.StatusNotFound, "", "", absent},
	{http.StatusGone, "", "", absent},
}

// problem is the body of a refusal.
type problem struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Details struct {
		Inputs []struct {
			Code        string `json:"code"`
			Description string `json:"description"`
		} `json:"inputErrors"`
	} `json:"errorDetails"`
}

// problemOf reads a refusal, and returns what it means, or 0. LinkedIn names some codes in the message alone.
func problemOf(a wire.Answer) (b problem, m meaning) {
	if json.Unmarshal(a.Body, &b) != nil {
		return problem{}, 0
	}
	codes := []string{b.Code, b.Message}
	for _, in := range b.Details.Inputs {
		codes = append(codes, in.Code)
	}
	text := strings.Join(codes, "\n")
	for _, r := range refusals {
		if r.status == a.Status && strings.Contains(text, r.code) && strings.Contains(b.Message, r.message) &&
			(r.meaning != absent || b.Status == a.Status) { // a proxy does not know what LinkedIn has
			return b, r.meaning
		}
	}
	return b, 0
}

// words returns LinkedIn's explanation. Its messages begin with the names of its own errors.
func (b problem) words() string {
	said := exceptions().ReplaceAllString(b.Message, "")
	if said == "" && len(b.Details.Inputs) > 0 {
		said = b.Details.Inputs[0].Description
	}
	return said
}

// exceptions are the names of errors at the beginning of a message.
var exceptions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:com\.linkedin\.[\w.]+: )+`) })

// use is what a call is for.
type use int

const (
	reads     use = iota // figures and earlier posts
	publishes            // uploads, and the call that makes the post
)

// classes makes the classification that wire asks for.
func (p *Platform) classes(posts bool) wire.Refused { return p.refused(publishes, posts) }

// refused classifies the refusals of LinkedIn of calls with a use; posts reports whether the call may have made a post.
func (p *Platform) refused(u use, posts bool) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		b, m := problemOf(a)
		switch {
		case a.OK() || a.Status >= http.StatusInternalServerError:
			return nil
		case a.Status == http.StatusUnauthorized:
			return platform.TokenExpired()
		case a.Status == http.StatusTooManyRequests:
			return p.limited(a, b)
		case a.Status == http.StatusUpgradeRequired:
			return platform.Later(platform.CodePlatformUnavailable, "LinkedIn has ended the version of its interface.")
		}
		e := errorOf(m, u, posts, b)
		if u == reads && a.Status == http.StatusForbidden {
			e = denied()
		}
		if e != nil {
			e.Saying(b.words())
		}
		return e
	}
}

// errorOf returns the error of a refusal, or nil if its reason is not known.
func errorOf(m meaning, u use, posts bool, b problem) *platform.Error {
	switch {
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of LinkedIn asks for. For an organisation, have a role that may post.")
	case m == absent && u == reads:
		return platform.Reject(platform.CodePostNotFound, "LinkedIn does not have the post.")
	case m == duplicate:
		return platform.Reject(platform.CodeContentRefused, "LinkedIn refuses the post: an equal one exists already, "+
			twin(b.Message)+".")
	case m == waits:
		return platform.Later(platform.CodePlatformUnavailable, "LinkedIn has not processed a file "+
			"yet.").After(processing)
	case m == restart, m == absent && !posts:
		return platform.Again(nil)
	case m == file:
		return platform.Reject(platform.CodeMediaRefused, "LinkedIn could not process the file.")
	case m == invalid && u == publishes && !posts:
		return platform.Perhaps(platform.CodeMediaRefused, "LinkedIn refuses the file.")
	case m == invalid && !posts:
		return platform.Odd()
	case m == content && u == publishes && !posts:
		return platform.Reject(platform.CodeMediaRefused, "LinkedIn refuses the file.")
	case m == content, m == invalid:
		return platform.Reject(platform.CodeContentRefused, "LinkedIn refuses the post.")
	}
	return nil
}

// denied returns the error of figures for which the token lacks the right. The account publishes nevertheless.
func denied() *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "LinkedIn does not let the application read this.")
}

// limited returns the error of a limit. Those of LinkedIn are of a day, which ends at midnight UTC (Rate limits).
func (p *Platform) limited(a wire.Answer, b problem) *platform.Error {
	if a.Header.Get("Retry-After") != "" {
		return platform.Limited(0).Saying(b.words())
	}
	now := p.Client.Now()
	return platform.Full(platform.Midnight(now).AddDate(0, 0, 1).Sub(now)).Saying(b.words())
}

// urns are the URNs of posts.
var urns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`urn:li:(?:share|ugcPost|activity):([0-9]{1,20})`)
})

// twin returns the URN of the equal post that a refusal names, or words for it.
func twin(message string) string {
	if urn := urns().FindString(message); urn != "" {
		return urn
	}
	return "which LinkedIn does not name"
}

// bornAt returns the time of a post from its URN: the number of LinkedIn's posts has the milliseconds above its lowest
// 22 bits.
func bornAt(urn string) time.Time {
	var n uint64
	if found := urns().FindStringSubmatch(urn); found != nil {
		n, _ = strconv.ParseUint(found[1], 10, 64) // 0 is long ago
	}
	return time.UnixMilli(int64(n >> 22))
}

// tokenRefused classifies refusals of the token endpoint. LinkedIn answers invalid_request to codes and refresh tokens
// that are not valid (Authorization code flow, Refresh tokens with OAuth 2.0).
func tokenRefused(a wire.Answer) *platform.Error {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	final := a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
	if json.Unmarshal(a.Body, &body) != nil || !final {
		return wire.OAuthRefused(a)
	}
	said := strings.ToLower(body.Description)
	switch {
	case strings.Contains(said, "is missing"):
		return platform.Busy() // a fault of the service
	case body.Error == "invalid_request" && (strings.Contains(said, "authorization code") ||
		strings.Contains(said, "authorization grant") || strings.Contains(said, "refresh token")):
		return platform.Disconnected()
	case body.Error == "invalid_client_id", body.Error == "invalid_client_secret", body.Error == "invalid_client":
		return platform.Later(platform.CodeNotConfigured, "The platform refuses the service's application.")
	}
	return wire.OAuthRefused(a)
}
