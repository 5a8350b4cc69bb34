package x

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Delete implements platform.Deleter. It deletes all posts of a thread, the last first. X accepts the
// deletion of a post that does not exist.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	for _, id := range post.Posts() {
		if !number(id) {
			return platform.Reject(platform.CodePostNotFound, "X does not have the post.")
		}
		call := p.Call(http.MethodDelete, "/2/tweets/"+id, a.Token.Access)
		if err := p.Send(ctx, call, nil); err != nil {
			return err
		}
	}
	return nil
}
