package linkedin

import (
	"context"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Edit implements platform.Editor.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	call := p.Call(http.MethodPost, "/rest/posts/"+url.PathEscape(post.ID), a.Token.Access)
	call.Header.Set("X-Restli-Method", "PARTIAL_UPDATE")
	call.JSON = map[string]any{"patch": map[string]any{"$set": map[string]string{"commentary": commentary(text)}}}
	return p.Send(ctx, call, nil)
}

// Delete implements platform.Deleter. LinkedIn accepts the deletion of a post that does not exist.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	call := p.Call(http.MethodDelete, "/rest/posts/"+url.PathEscape(post.ID), a.Token.Access)
	call.Header.Set("X-Restli-Method", "DELETE")
	return p.Send(ctx, call, nil)
}
