package graph

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Outcome is what an answer means for the call that got it.
type Outcome int

// The outcomes. Those before Refused say that the call may succeed later.
const (
	// Passing is a failure of the platform. The call is made again. If it posts, the post is looked for, because Meta
	// has published posts in spite of such answers.
	Passing Outcome = iota + 1
	// Wait means that something is not ready. The same call is made again, and has had no effect.
	Wait
	// Limited means that the platform takes no more calls for a while.
	Limited
	// Spent means that the account may not do more for a while.
	Spent
	// Renew means that what was prepared is gone and nothing was posted. It is prepared again.
	Renew
	// Setup means that the operator's application is wrong. The account stays valid.
	Setup
	// Refused means that the platform refuses the content.
	Refused
	// Unclear means that the platform refuses the call, and that the refusal may be wrong. A call that posts nothing is
	// made again some times before it is final. After a call that posts, the post is looked for.
	Unclear
	// Ended means that the token or the right to publish has ended.
	Ended
)

var outcomeNames = map[Outcome]string{Passing: "again, or look for the post", Wait: "again", Limited: "again later",
	Spent: "wait for the quota", Renew: "prepare again", Setup: "again, and tell the operator", Refused: "refused",
	Unclear: "again, or look for the post, then refused", Ended: "connect again"}

// String returns what happens, in words.
func (o Outcome) String() string { return outcomeNames[o] }

// Row is an answer of the Graph API and its meaning.
type Row struct {
	// Code is the code of the answer, or the first one of the codes up to To. It is 0 if the subcode says all.
	Code, To int
	// Subcode is the subcode, or 0 for any that no other row has.
	Subcode int
	// Bare reports whether the row has answers without a subcode only.
	Bare    bool
	Outcome Outcome
	// As is the code that callers see, where the outcome does not say it.
	As      platform.Code
	Message string // where the outcome has no sentence of its own; %s stands for the name of the platform
	After   time.Duration
	// Missing reports whether the answer says that a node does not exist.
	Missing bool
	Source  string
}

// proves reports whether a row ends an account because of its token.
func (w *Row) proves() bool { return w.Outcome == Ended && w.As == platform.CodeNeedsReconnect }

// has reports how exactly a row matches an answer: 0 if it does not.
func (w *Row) has(code, subcode int) int {
	within := code >= w.Code && code <= max(w.Code, w.To)
	switch {
	case w.Subcode != 0 && w.Subcode == subcode && w.Code != 0 && within:
		return 3
	case w.Subcode != 0 && w.Subcode == subcode && w.Code == 0:
		return 2
	case w.Subcode == 0 && within && (!w.Bare || subcode == 0):
		return 1
	}
	return 0
}

// Find returns the row of an answer, or nil if there is none.
func (r Refusals) Find(code, subcode int) (found *Row) {
	best := 0
	for _, rows := range [][]Row{r.Rows, Common} {
		for i := range rows {
			if n := rows[i].has(code, subcode); n > best {
				found, best = &rows[i], n
			}
		}
	}
	return found
}

// Ending returns the rows that end an account.
func (r Refusals) Ending() (all []Row) {
	for _, rows := range [][]Row{r.Rows, Common} {
		for _, row := range rows {
			if row.Outcome == Ended {
				all = append(all, row)
			}
		}
	}
	return all
}

// as returns the error of an answer with a meaning.
func (r Refusals) as(row Row, posts bool, a wire.Answer) *platform.Error {
	say := func(e *platform.Error) *platform.Error {
		if row.Message != "" {
			e.Message = strings.ReplaceAll(row.Message, "%s", r.Label)
		}
		if row.As != "" {
			e.Code = row.As
		}
		return e
	}
	switch row.Outcome {
	case Wait:
		return say(platform.Busy().After(row.After))
	case Limited:
		return say(platform.Limited(regained(a)))
	case Spent:
		return say(platform.Full(row.After))
	case Renew:
		return say(platform.Again(nil))
	case Setup:
		return say(platform.Later(platform.CodeNotConfigured, "The platform refuses the service's application."))
	case Refused:
		return say(platform.Reject(platform.CodeContentRefused, r.Label+" refuses the post."))
	case Unclear:
		return say(platform.Odd())
	case Ended:
		if row.As == platform.CodeMissingPermission {
			return say(platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow "+
				"all "+
				"that the page of "+r.owner()+" asks for."))
		}
		return say(platform.Disconnected())
	}
	if posts {
		return platform.Lost(nil)
	}
	return say(platform.Busy())
}

const (
	// limited is the time to wait after too many calls if the platform names none.
	limited = 5 * time.Minute
	// window is the time over which Meta counts calls.
	window = time.Hour
	// mostLimited bounds the time that the platform names.
	mostLimited = 24 * time.Hour
)

// regained returns how long the platform takes no calls: the time in its headers, or else what its use of the window
// says. It returns 0 if the header Retry-After has a date, which the client reads.
func regained(a wire.Answer) time.Duration {
	var most time.Duration
	var cases map[string][]struct {
		Minutes float64 `json:"estimated_time_to_regain_access"`
	}
	if json.Unmarshal([]byte(a.Header.Get("X-Business-Use-Case-Usage")), &cases) == nil {
		for _, uses := range cases {
			for _, use := range uses {
				most = max(most, time.Duration(min(use.Minutes, mostLimited.Minutes())*float64(time.Minute)))
			}
		}
	}
	after := a.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(after, 10, 64); err == nil {
		most = max(most, time.Duration(min(seconds, int64(mostLimited/time.Second)))*time.Second)
	} else if after != "" && most == 0 {
		return 0
	}
	if most > 0 {
		return most
	}
	for _, name := range []string{"X-App-Usage", "X-Page-Usage"} {
		var use struct { // in percent
			Calls float64 `json:"call_count"`
			Time  float64 `json:"total_time"`
			CPU   float64 `json:"total_cputime"`
		}
		if json.Unmarshal([]byte(a.Header.Get(name)), &use) == nil {
			if top := max(use.Calls, use.Time, use.CPU); top > 100 {
				most = max(most, time.Duration(float64(window)*(top-100)/top))
			}
		}
	}
	return max(most, limited)
}
