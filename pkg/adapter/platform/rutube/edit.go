package rutube

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// known refuses the id of a post that Rutube cannot have made.
func known(post platform.Placed) error {
	if !videoID().MatchString(post.ID) {
		return platform.Reject(platform.CodePostNotFound, "Rutube does not have the video.")
	}
	return nil
}

// Edit implements platform.Editor. The text of a post is the description of its video; the title stays.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	if err := known(post); err != nil {
		return err
	}
	return p.call(ctx, a, http.MethodPatch, post.ID+"/", map[string]any{"description": text}, false, nil)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	if err := known(post); err != nil {
		return err
	}
	err := p.call(ctx, a, http.MethodDelete, post.ID+"/", nil, false, nil)
	return platform.Except(platform.CodePostNotFound, err)
}
