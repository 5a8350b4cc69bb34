package threads

import (
	"context"
	"errors"
	"net/http"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

var _ platform.Deleter = (*Platform)(nil)

// missing is the code of a post that does not exist.
const missing = 100

// Delete implements platform.Deleter. It deletes all posts of a thread, the last first.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	for _, id := range post.Posts() {
		if err := p.delete(ctx, a, id); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes one post. One that does not exist any more is deleted already.
func (p *Platform) delete(ctx context.Context, a platform.Account, id string) error {
	notFound := func() *platform.Error {
		return platform.Reject(platform.CodePostNotFound, "Threads does not have the post.")
	}
	if !graph.Number(id) {
		return notFound()
	}
	gone := refusals
	gone.Codes = map[int]func() *platform.Error{missing: notFound}
	err := p.Client.JSON(ctx, p.API.Call(http.MethodDelete, "/"+id, a.Token.Access), gone.Refused(false), nil)
	var refused *platform.Error
	if errors.As(err, &refused) && refused.Code == platform.CodePostNotFound {
		return nil
	}
	return err
}
