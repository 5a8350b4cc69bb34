package threads

import (
	"context"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// Delete implements platform.Deleter. It deletes all posts of a thread, the last first.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	for _, id := range post.Posts() {
		if !graph.Number(id) {
			return platform.Reject(platform.CodePostNotFound, "Threads does not have the post.")
		}
		if err := p.Graph.Delete(ctx, a.Token.Access, id); err != nil {
			return err
		}
	}
	return nil
}
