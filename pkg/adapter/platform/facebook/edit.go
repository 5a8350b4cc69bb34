package facebook

import (
	"context"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// Edit implements platform.Editor.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	name := "message"
	if graph.Number(post.ID) {
		name = "description" // of a video
	} else if !isPost(post.ID) {
		return noPost()
	}
	call := p.Call(http.MethodPost, "/"+post.ID, a.Token.Access)
	call.Form = url.Values{name: {text}}
	return p.Send(ctx, call, nil)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	if !known(post.ID) {
		return noPost()
	}
	return p.api.Delete(ctx, a.Token.Access, post.ID)
}
