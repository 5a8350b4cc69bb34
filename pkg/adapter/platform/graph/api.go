package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// ErrNoID is the cause of the error of an answer without the id of what was created.
var ErrNoID = errors.New("there is no id")

// API makes the calls of one platform.
type API struct {
	wire.API
	Refusals Refusals
	known    func(id string) bool
}

// New returns the interface of a platform at an address with a version; known reports whether an id may be that of a
// post.
func New(c *wire.Client, root string, r Refusals, known func(id string) bool) API {
	return API{wire.API{Client: c, Root: root, Refused: r.Refused}, r, known}
}

// NoPost returns the error of a post that does not exist.
func (g API) NoPost() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, g.Refusals.Label+" does not have the post.")
}

// OfPost reads something of a post. The error is that of NoPost if the post does not exist.
func (g API) OfPost(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	gone := g.Refusals
	gone.Missing = g.NoPost
	call := g.Call(http.MethodGet, path, token)
	call.Query = query
	return g.Client.JSON(ctx, call, gone.Refused(false), out)
}

// Delete deletes a post. One that does not exist any more is deleted already.
func (g API) Delete(ctx context.Context, token platform.Secret, id string) error {
	if !g.known(id) {
		return g.NoPost()
	}
	gone := g.Refusals
	gone.Missing, gone.Lenient = g.NoPost, true
	err := g.Client.JSON(ctx, g.Call(http.MethodDelete, "/"+id, token), gone.Refused(false), nil)
	return platform.Except(platform.CodePostNotFound, err)
}

// Places returns pages of places whose name is like the text, without pages that have no place.
func (g API) Places(ctx context.Context, a platform.Account, text string) (all []platform.Found, err error) {
	var answer struct {
		Data []struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Location *struct {
				Street  string `json:"street"`
				City    string `json:"city"`
				Country string `json:"country"`
			} `json:"location"`
		} `json:"data"`
	}
	err = g.Get(ctx, a.Token.Access, "/pages/search", url.Values{"q": {text}, "fields": {"id,name,location"}}, &answer)
	if err != nil {
		return nil, err
	}
	for _, d := range answer.Data {
		if !Number(d.ID) || d.Location == nil {
			continue
		}
		parts := []string{d.Location.Street, d.Location.City, d.Location.Country}
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		all = append(all, platform.Found{ID: d.ID, Name: d.Name, Detail: strings.Join(parts, ", ")})
	}
	return all, nil
}

// Create creates an object, and returns its id. posts reports whether the object is visible.
func (g API) Create(ctx context.Context, token platform.Secret, path string, form url.Values,
	posts bool) (string, error) {
	call := g.Call(http.MethodPost, path, token)
	call.Form, call.Posts = form, posts
	var made struct {
		ID string `json:"id"`
	}
	if err := g.Send(ctx, call, &made); err != nil {
		return "", err
	}
	if !g.known(made.ID) {
		return "", g.Client.Garbled(call, ErrNoID)
	}
	return made.ID, nil
}
