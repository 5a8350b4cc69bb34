package x

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// use is what a call is for.
type use int

const (
	reads    use = iota // of figures, posts and comments: a refusal says nothing about the right to publish
	prepares            // uploads, which post nothing
	makes               // a post
)

// meaning is what a refusal of X means.
type meaning int

const (
	content   meaning = iota + 1 // X refuses the text, or another part of the post
	malformed                    // X refuses a request, and does not say why
	policy                       // X refuses the post by its rules
	file                         // X refuses the media
	reply                        // X does not permit the reply or the quotation
	duplicate                    // the account has posted an equal text lately
	gone                         // X does not have what was uploaded, or the post that the call names
	pause                        // X takes no posts of the account for a while
	service                      // X refuses the application of the service
	right                        // the token lacks the right to publish
	account                      // X has suspended or locked the account
)

// refusal is an answer of X. X tells most of its reasons in the detail alone: the type of those is about:blank.
type refusal struct {
	status int
	kind   string // end of the type, or empty
	detail string // part of the title, the detail or a message, in lower case, or empty
	meaning
}

// refusals are the answers of X, the first that fits. The pages are those of docs.x.com; a number is that of a public
// report. Only account and right end a connection. A 403 that is not here has an unknown reason.
var refusals = []refusal{
	// The account. "The user used for authentication is suspended" has the type user-suspended (reports of clients);
	// 64 and 326 are the codes of the same answers in version 1.1 of the API.
	{http.StatusForbidden, "user-suspended", "", account},
	{http.StatusForbidden, "", "used for authentication is suspended", account},
	{http.StatusForbidden, "", "your account is suspended", account},
	{http.StatusForbidden, "", "account is temporarily locked", account},
	// The token. client-forbidden: "App not enrolled or lacks required access"
	// (fundamentals/response-codes-and-errors); X asks for "keys and tokens" of another application (TwitterAPI #226,
	// tweepy #2098), so that no token of this one posts. oauth1-permissions: the token may read only.
	// unsupported-authentication: the API's OpenAPI document.
	{http.StatusForbidden, "client-forbidden", "", right},
	{http.StatusForbidden, "oauth1-permissions", "", right},
	{http.StatusForbidden, "unsupported-authentication", "", right},
	{http.StatusForbidden, "app-suspended", "", service}, // reports of clients
	// The post. Details that postiz (x.provider.ts) and other publishers have met, all with the type about:blank.
	{http.StatusForbidden, "", "duplicate", duplicate},                             // iembot #163, x-ruby #24
	{http.StatusForbidden, "", "cashtag", content},                                 // posts/manage-tweets/integrate
	{http.StatusForbidden, "", "video longer than", file},                          // postiz
	{http.StatusForbidden, "", "not permitted to perform this action", content},    // postiz, contentport #49
	{http.StatusForbidden, "", "not permitted to access this feature", content},    // postiz
	{http.StatusForbidden, "", "invalid url", content},                             // postiz
	{http.StatusForbidden, "", "maximum of 4 items", content},                      // postiz
	{http.StatusForbidden, "", "too long", content},                                // 186 of version 1.1
	{http.StatusForbidden, "", "malware", policy},                                  // reports of clients
	{http.StatusForbidden, "", "reply to this conversation is not allowed", reply}, // reports of clients
	{http.StatusForbidden, "", "not allowed to reply", reply},
	{http.StatusForbidden, "", "only reply to or quote", reply},
	{http.StatusForbidden, "", "quoting", reply},
	{http.StatusForbidden, "", "deleted or not visible", reply},
	{http.StatusForbidden, "not-authorized-for-resource", "", reply}, // of a private post: response-codes-and-errors
	// The rate. 226 and 185 of version 1.1: "Please try again later", "User is over daily status update limit".
	{http.StatusForbidden, "", "might be automated", pause},
	{http.StatusForbidden, "", "over daily status update limit", pause},
	{http.StatusForbidden, "", "daily limit", pause},
	// "Malformed request or invalid parameters" (response-codes-and-errors). Uploads live for 24 hours; X answers so to
	// an upload that it no longer has.
	{http.StatusBadRequest, "", "media ids are invalid", gone},
	{http.StatusBadRequest, "invalid-request", "", content},
	{http.StatusBadRequest, "", "", malformed},
	{http.StatusRequestEntityTooLarge, "", "", file},
	{http.StatusNotFound, "resource-not-found", "", gone},
	{http.StatusNotFound, "", "not found", gone}, // the title is "Not Found Error" or "Not Found"
}

// problem is the body of a refusal.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Period string `json:"period"` // of a cap: Daily or Monthly
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// kind returns the end of the type.
func (b problem) kind() string { return b.Type[strings.LastIndexByte(b.Type, '/')+1:] }

// words returns X's explanation: the first message where the detail only says that there is one.
func (b problem) words() string {
	if len(b.Errors) > 0 && b.Errors[0].Message != "" {
		return b.Errors[0].Message
	}
	return b.Detail
}

// problemOf reads a refusal, and returns what it means, or 0.
func problemOf(a wire.Answer) (b problem, m meaning) {
	if json.Unmarshal(a.Body, &b) != nil {
		return problem{}, 0
	}
	text := b.Title + "\n" + b.Detail
	for _, e := range b.Errors {
		text += "\n" + e.Message
	}
	text = strings.ToLower(text)
	for _, r := range refusals {
		if r.status == a.Status && (r.kind == "" || r.kind == b.kind()) && strings.Contains(text, r.detail) {
			return b, r.meaning
		}
	}
	return b, 0
}

// classes makes the classification that wire asks for. Calls with a body of their own prepare or make a post.
func (p *Platform) classes(posts bool) wire.Refused {
	if posts {
		return p.refused(makes)
	}
	return p.refused(prepares)
}

// refused classifies the refusals of X of calls with a use.
func (p *Platform) refused(u use) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		if a.OK() || a.Status >= http.StatusInternalServerError || a.Status == http.StatusUnauthorized {
			return nil
		}
		b, m := problemOf(a)
		switch {
		case a.Status == http.StatusPaymentRequired, b.kind() == "credits":
			return platform.Full(time.Hour)
		case a.Status == http.StatusTooManyRequests, b.kind() == "usage-capped":
			return p.limited(a, b)
		}
		if e := errorOf(m, u, a.Status); e != nil {
			return e.Saying(b.words())
		}
		return nil
	}
}

// errorOf returns the error of a refusal, or nil if its reason is not known.
func errorOf(m meaning, u use, status int) *platform.Error {
	switch {
	case m == account:
		return platform.NeedsReconnect(platform.CodeNeedsReconnect, "X has suspended or locked the account. Log in to "+
			"X, follow what X asks for, then connect the account again.")
	case m == service:
		return platform.Later(platform.CodeNotConfigured, "X has suspended the service's application.")
	case u == reads && m == gone:
		return platform.Reject(platform.CodePostNotFound, "X does not have the post.")
	case u == reads && status == http.StatusForbidden:
		return platform.Reject(platform.CodeMissingPermission, "X does not let the application read this.")
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "X does not let the application post. Connect "+
			"the account again and allow all that the page of X asks for.")
	case m == pause:
		return platform.Limited(time.Hour)
	case m == policy:
		return platform.Reject(platform.CodeContentPolicy, "X does not permit the post.")
	case m == gone && (u == prepares || status == http.StatusBadRequest):
		return platform.Again(nil) // nothing was posted
	case u == prepares && m == malformed:
		return platform.Perhaps(platform.CodeMediaRefused, "X refuses the file.")
	case m == file, u == prepares && m == content:
		return platform.Reject(platform.CodeMediaRefused, "X refuses the file.")
	case m == reply:
		return platform.Reject(platform.CodeContentRefused, "X does not let the account answer or quote the post.")
	case m == gone:
		return platform.Reject(platform.CodeContentRefused, "X does not have the post that is answered or quoted.")
	case m == duplicate:
		// The equal text may be that of another worker. If it is not found, the refusal is final.
		return platform.Perhaps(platform.CodeContentRefused, "X refuses the text: the account has posted an equal one "+
			"lately.")
	case m == content, m == malformed:
		return platform.Reject(platform.CodeContentRefused, "X refuses the post.")
	}
	return nil
}

// limited returns the error of a limit of X, with the time at which X says that it ends.
func (p *Platform) limited(a wire.Answer, b problem) *platform.Error {
	now := p.Client.Now()
	until := func(name string) (time.Duration, bool) {
		at, err := strconv.ParseInt(a.Header.Get(name), 10, 64)
		return min(max(time.Unix(at, 0).Sub(now), time.Second), 24*time.Hour), err == nil
	}
	// The limits of a day, of the account and of the application, have headers of their own.
	for _, whose := range []string{"User", "App"} {
		after, ok := until("X-" + whose + "-Limit-24hour-Reset")
		if ok && a.Header.Get("X-"+whose+"-Limit-24hour-Remaining") == "0" {
			return platform.Full(after)
		}
	}
	if b.kind() == "usage-capped" {
		if b.Period == "Daily" {
			return platform.Full(platform.Midnight(now).AddDate(0, 0, 1).Sub(now))
		}
		return platform.Full(24 * time.Hour) // of a month, unless the operator raises the cap
	}
	if after, ok := until("X-Rate-Limit-Reset"); ok {
		return platform.Limited(after)
	}
	if a.Header.Get("Retry-After") != "" {
		return platform.Limited(0)
	}
	return platform.Limited(15 * time.Minute)
}

// tokenRefused classifies refusals of the token endpoint. X answers invalid_request to a code or a refresh token that
// is not valid: "Value passed for the token was invalid." (node-twitter-api-v2 #496 for codes).
func tokenRefused(a wire.Answer) *platform.Error {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	grant := (a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized) &&
		json.Unmarshal(a.Body, &body) == nil && body.Error == "invalid_request" &&
		strings.HasPrefix(body.Description, "Value passed for the ") && strings.Contains(body.Description, "invalid")
	if grant {
		return platform.Disconnected()
	}
	return wire.OAuthRefused(a)
}
