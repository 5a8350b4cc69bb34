package pinterest

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

// meaning is what a refusal of Pinterest means.
type meaning int

const (
	content meaning = iota + 1 // Pinterest refuses the pin
	other                      // Pinterest refuses a call, perhaps for what is in the pin
	again                      // Pinterest could not read a file, or had a fault
	pause                      // Pinterest takes no pins of the account for a while
	service                    // Pinterest does not let the service's application make pins
	right                      // the token lacks the right to make pins
	absent                     // Pinterest does not have what the call names
)

// refusal is an answer of Pinterest. A status or a code of 0 stands for any.
type refusal struct {
	status, code int
	message      string // part of the message, in lower case, or empty
	meaning
}

// refusals are the answers of Pinterest, the first that fits. Pinterest documents the statuses alone (openapi.yaml,
// v5.x); the codes and messages are those that publishers have met. Only right ends a connection, and only of a call
// that publishes. A 401 is that of the token: it is refreshed once.
var refusals = []refusal{
	{http.StatusUnauthorized, 3, "standard access", service}, // reports of publishers
	{http.StatusUnauthorized, 3, "consumer type", service},
	// 29 and 3: "Apps with Trial access may not create Pins in production".
	{http.StatusForbidden, 0, "trial access", service},
	{http.StatusForbidden, 0, "standard access", service},
	{http.StatusForbidden, 0, "consumer type", service},
	// 29: "Your token does not have sufficient permissions to perform this operation."
	{http.StatusForbidden, 0, "token does not have", right},
	{http.StatusForbidden, 0, "required scope", right},
	{http.StatusForbidden, 0, "insufficient scope", right},
	{http.StatusForbidden, 0, "missing scope", right},
	// postiz (pinterest.provider.ts): "… block (Pins) we have in place to combat spam …", which ends.
	{http.StatusForbidden, 0, "spam", pause},
	{http.StatusBadRequest, 0, "combat spam", pause},
	{http.StatusForbidden, 0, "", other}, // "Not authorized to access board or Pin." (openapi.yaml)
	// Pinterest reaches these addresses later (postiz; the code of the first is 1 or 235).
	{http.StatusBadRequest, 0, "unable to reach the url", again},
	{http.StatusBadRequest, 0, "could not fetch the image", again},
	{0, 0, "something went wrong on our end", again},
	{http.StatusConflict, 0, "", again},     // "Could not get exclusive access to the board …" (openapi.yaml)
	{http.StatusBadRequest, 1, "", content}, // "Invalid request", with the member
	{http.StatusBadRequest, 0, "", other},
	{http.StatusRequestEntityTooLarge, 0, "", content},
	{http.StatusNotFound, 0, "not found", absent}, // 40 "Board not found.", 50 "Pin not found."
}

// problem is the body of a refusal.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// problemOf reads a refusal, and returns what it means, or 0.
func problemOf(a wire.Answer) (b problem, m meaning) {
	if json.Unmarshal(a.Body, &b) != nil || b.Message == "" {
		return problem{}, 0
	}
	text := strings.ToLower(b.Message)
	for _, r := range refusals {
		if (r.status == 0 || r.status == a.Status) && (r.code == 0 || r.code == b.Code) &&
			strings.Contains(text, r.message) {
			return b, r.meaning
		}
	}
	return b, 0
}

// use is what a call is for.
type use int

const (
	reads    use = iota // of figures, boards and pins
	prepares            // uploads
	makes               // a pin
)

// classes makes the classification that wire asks for.
func classes(posts bool) wire.Refused {
	if posts {
		return refused(makes)
	}
	return refused(prepares)
}

// refused classifies the refusals of Pinterest of calls with a use.
func refused(u use) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		_, m := problemOf(a)
		switch {
		case a.OK():
			return nil
		case a.Status == http.StatusTooManyRequests:
			return limited(a)
		case a.Status >= http.StatusInternalServerError && u == makes:
			return nil // the pin may exist
		}
		return errorOf(m, u, a.Status)
	}
}

// errorOf returns the error of a refusal, or nil if its reason is not known.
func errorOf(m meaning, u use, status int) *platform.Error {
	switch {
	case m == again:
		return platform.Busy()
	case m == service && u != reads:
		return platform.Reject(platform.CodeNotConfigured, "Pinterest has given the service's application no access "+
			"to make pins yet.")
	case u == reads && m == absent:
		return platform.Reject(platform.CodePostNotFound, "Pinterest does not have the pin or the board.")
	case u == reads && status == http.StatusForbidden:
		return platform.Reject(platform.CodeMissingPermission, "Pinterest does not let the application read this.")
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of Pinterest asks for.")
	case m == pause:
		return platform.Limited(time.Hour)
	case m == absent && u == prepares:
		return platform.Again(nil) // the upload is gone
	case m == absent:
		return platform.Reject(platform.CodeContentRefused, "Pinterest does not have the board or its section.")
	case m == other && u == prepares:
		return platform.Perhaps(platform.CodeMediaRefused, "Pinterest refuses the file.")
	case m == content && u == prepares:
		return platform.Reject(platform.CodeMediaRefused, "Pinterest refuses the file.")
	case m == content, m == other:
		return platform.Reject(platform.CodeContentRefused, "Pinterest refuses the pin.")
	}
	return nil
}

// limited returns the error of a limit. Pinterest states the seconds until its end (Rate limits).
func limited(a wire.Answer) *platform.Error {
	if n, err := strconv.Atoi(a.Header.Get("X-RateLimit-Reset")); err == nil && n > 0 &&
		a.Header.Get("Retry-After") == "" {
		return platform.Limited(min(time.Duration(n)*time.Second, 24*time.Hour))
	}
	return platform.Limited(0)
}

// grants are the words of messages about a code or a refresh token that is not valid.
var grants = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(token|grant|code|expired|revoked|authenticat\w+|authori[sz]\w+)\b`)
})

// tokenRefused classifies refusals of the token endpoint, which differ from those of RFC 6749: a code or a refresh
// token that is not valid has the status 400, and an application the status 401.
func tokenRefused(a wire.Answer) *platform.Error {
	if a.OK() {
		return nil
	}
	var body struct {
		problem
		Error string `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Message == "" && body.Error == "" {
		return wire.OAuthRefused(a)
	}
	text := strings.ToLower(body.Message)
	switch {
	case body.Error != "" || a.Status != http.StatusBadRequest && a.Status != http.StatusUnauthorized:
		return wire.OAuthRefused(a)
	case a.Status == http.StatusUnauthorized && !strings.Contains(text, "token"):
		return platform.Later(platform.CodeNotConfigured, "The platform refuses the service's application.")
	case strings.Contains(text, "missing") || strings.Contains(text, "grant_type"):
		return platform.Busy() // a fault of the service
	case grants().MatchString(text):
		return platform.Disconnected()
	}
	return platform.Busy()
}
