package wire

import (
	"context"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// API makes the calls of one platform. Adapters embed it.
type API struct {
	Client *Client
	Root   string      // address before the paths
	Header http.Header // of every call, or nil
	// Refused classifies the refusals of a call; posts reports whether the call may have made a post.
	Refused func(posts bool) Refused
}

// Call returns a call.
func (g API) Call(method, path string, token platform.Secret) Call {
	return Call{Name: method + " " + path, Method: method, URL: g.Root + path, Header: g.Header.Clone(), Bearer: token}
}

// Send makes a call and decodes its answer into out, unless out is nil.
func (g API) Send(ctx context.Context, call Call, out any) error {
	return g.Client.JSON(ctx, call, g.Refused(call.Posts), out)
}

// Get makes a call that changes nothing.
func (g API) Get(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	call := g.Call(http.MethodGet, path, token)
	call.Query = query
	return g.Send(ctx, call, out)
}
