// Package graph has what the platforms of Meta share: the refusals of the Graph API, and the end of an owner's access.
package graph

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Refusals classifies the refusals of one platform.
type Refusals struct {
	Label string
	// Rows are the answers of the platform beside those of all platforms of Meta.
	Rows []Row
	// Missing is the error of a call whose node does not exist, or nil if the rows say what that means.
	Missing func() *platform.Error
	// Lenient reports whether a node that does not exist is all that code 100 without a subcode can mean to a call.
	Lenient bool
}

// failure is a refusal in the form of the Graph API.
type failure struct {
	Code      int  `json:"code"`
	Subcode   int  `json:"error_subcode"`
	Transient bool `json:"is_transient"`
}

// read returns the refusal in an answer, or nil.
func read(a wire.Answer) *failure {
	var f struct {
		Error *failure `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &f); err != nil {
		return nil
	}
	return f.Error
}

// Refused classifies refusals by code and subcode; posts reports whether the call may have made a post.
func (r Refusals) Refused(posts bool) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		f := read(a)
		if f == nil {
			return nil
		}
		row := r.Find(f.Code, f.Subcode)
		if r.Missing != nil && (row != nil && row.Missing || r.Lenient && f.Code == 100 && f.Subcode == 0) {
			return r.Missing()
		}
		proven := row != nil && (row.Subcode != 0 || row.Outcome < Refused || row.proves())
		switch {
		case f.Transient && !proven, a.Status >= http.StatusInternalServerError && !proven:
			// Threads has answered a call with status 500 and code 10, and has published the post
			// (tirthpatell/threads-go #30).
			return r.as(Row{Outcome: Passing}, posts, a)
		case row != nil:
			return r.as(*row, posts, a)
		case a.Status == http.StatusTooManyRequests:
			return r.as(Row{Outcome: Limited}, posts, a)
		}
		return platform.Odd()
	}
}

// Code classifies refusals of the exchange of a code for a token. A code that is refused is gone.
func (r Refusals) Code(a wire.Answer) *platform.Error {
	f := read(a)
	var old struct { // of Threads and of the login of Instagram
		Type string `json:"error_type"`
		Code int    `json:"code"`
	}
	_ = json.Unmarshal(a.Body, &old) // another form has no type
	if final(a) && (f != nil && f.Code == 100 || old.Type == "OAuthException" && old.Code == http.StatusBadRequest) {
		return platform.Disconnected()
	}
	return r.Token(a)
}

// Token classifies refusals of a call that prolongs a token. Only an answer with the status 400 or 401 and a code of
// the token ends a connection: whatever an outage or a proxy answers is tried again.
func (r Refusals) Token(a wire.Answer) *platform.Error {
	f := read(a)
	if f == nil && a.OK() {
		return nil
	}
	var row *Row
	if f != nil {
		row = r.Find(f.Code, f.Subcode)
	}
	switch {
	case final(a) && row != nil && row.proves():
		return r.as(*row, false, a)
	case row != nil && (row.Outcome == Limited || row.Outcome == Setup):
		return r.as(*row, false, a)
	case a.Status == http.StatusTooManyRequests:
		return r.as(Row{Outcome: Limited}, false, a)
	}
	return platform.Busy()
}

// final reports whether a token endpoint may refuse a grant with the status of an answer.
func final(a wire.Answer) bool {
	return a.OK() || a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
}

// owner returns the platform whose page asks for the access.
func (r Refusals) owner() string {
	if r.Label == "Instagram" {
		return "Facebook"
	}
	return r.Label
}

// Ends returns when the access to an owner's data ends, which no refresh extends. If Facebook does not
// state it, Ends returns otherwise.
func Ends(ctx context.Context, g API, token platform.Secret, otherwise time.Time) time.Time {
	app, err := g.Client.App(ctx)
	if err != nil {
		return otherwise
	}
	var answer struct {
		Data struct {
			Ends *int64 `json:"data_access_expires_at"` // 0 if it never ends
		} `json:"data"`
	}
	call := wire.Call{Name: "debug_token", Method: http.MethodGet, URL: g.Root + "/debug_token",
		Bearer: platform.Secret(app.ID + "|" + app.Secret.Reveal()), Query: url.Values{"input_token": {token.Reveal()}},
		Secrets: []platform.Secret{token, app.Secret}}
	switch err := g.Client.JSON(ctx, call, Refusals{}.Refused(false), &answer); {
	case err != nil || answer.Data.Ends == nil:
		return otherwise
	case *answer.Data.Ends == 0:
		return time.Time{}
	}
	return time.Unix(*answer.Data.Ends, 0)
}

// Number reports whether an id is a number. An id becomes part of a path, and a number cannot change the path.
func Number(id string) bool {
	for _, r := range id {
		if r < '0' || r > '9' {
			return false
		}
	}
	return id != "" && len(id) <= 32
}
