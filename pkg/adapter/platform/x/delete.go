package x

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/adapter/platform"
)

var _ platform.Deleter = (*Platform)(nil)

// Delete implements platform.Deleter. It deletes the first post of a thread. X accepts the deletion of
// a post that does not exist.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	if !number(post.ID) {
		return platform.Reject(platform.CodePostNotFound, "X does not have the post.")
	}
	return p.Client.JSON(ctx, p.call(http.MethodDelete, "/2/tweets/"+post.ID, a.Token.Access), p.refused(false), nil)
}
