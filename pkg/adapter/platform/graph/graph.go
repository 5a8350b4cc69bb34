// Package graph has what the platforms of Meta share: the refusals of the Graph API, and the end of an owner's access.
package graph

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Refusals classifies the refusals of one platform.
type Refusals struct {
	Label string
	// Subcodes and Codes have the refusals that the platform treats in its own way.
	Subcodes, Codes map[int]func() *platform.Error
	// Unsure are the subcodes of passing failures. Published are the subcodes and codes of refusals
	// after which the post may exist.
	Unsure, Published []int
}

// Refused classifies refusals by code and subcode; posts reports whether the call may have made a post.
func (r Refusals) Refused(posts bool) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		var f struct {
			Error *struct {
				Code      int  `json:"code"`
				Subcode   int  `json:"error_subcode"`
				Transient bool `json:"is_transient"`
			} `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &f); err != nil || f.Error == nil {
			return nil
		}
		code, subcode := f.Error.Code, f.Error.Subcode
		if named, ok := r.Subcodes[subcode]; ok {
			return named()
		}
		unsure := f.Error.Transient || code == 1 || code == 2 || slices.Contains(r.Unsure, subcode)
		named, known := r.Codes[code]
		switch {
		case posts && (unsure || slices.Contains(r.Published, subcode) || slices.Contains(r.Published, code)):
			// Meta has published posts in spite of these errors.
			return platform.Lost(nil)
		case unsure:
			return platform.Busy()
		case known:
			return named()
		case code == 190, code == 102:
			return platform.Disconnected()
		case code == 10, code >= 200 && code <= 299:
			return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all "+
				"that the page of "+r.owner()+" asks for.")
		case code == 4, code == 17, code == 32, code == 613:
			return platform.Limited(5 * time.Minute)
		case code == 9, code == 25:
			return platform.Full(time.Hour)
		default:
			return platform.Reject(platform.CodeContentRefused, r.Label+" refuses the post.")
		}
	}
}

// Token classifies refusals of the token endpoint. The owner has to connect again if the code or the token is invalid.
func (r Refusals) Token(a wire.Answer) *platform.Error {
	e := r.Refused(false)(a)
	if e != nil && e.Kind == platform.BadContent {
		return platform.Disconnected()
	}
	return e
}

// owner returns the platform whose page asks for the access.
func (r Refusals) owner() string {
	if r.Label == "Instagram" {
		return "Facebook"
	}
	return r.Label
}

// Media returns a refusal of media with a message.
func Media(message string) func() *platform.Error {
	return func() *platform.Error { return platform.Reject(platform.CodeMediaRefused, message) }
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

// Pages returns the pages of a login and those of its business portfolios, which the first list lacks.
func Pages[T any](ctx context.Context, g API, token platform.Secret, fields string) ([]T, error) {
	var own struct {
		Data []T `json:"data"`
	}
	err := g.Get(ctx, token, "/me/accounts", url.Values{"fields": {fields}, "limit": {"100"}}, &own)
	if err != nil {
		return nil, err
	}
	var portfolios struct {
		Data []struct {
			Owned struct {
				Data []T `json:"data"`
			} `json:"owned_pages"`
		} `json:"data"`
	}
	err = g.Get(ctx, token, "/me/businesses", url.Values{"fields": {"owned_pages.limit(100){" + fields + "}"},
		"limit": {"100"}}, &portfolios)
	if platform.Untold(err) {
		return own.Data, nil // the owner has no portfolios
	}
	for _, b := range portfolios.Data {
		own.Data = append(own.Data, b.Owned.Data...)
	}
	return own.Data, err
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
