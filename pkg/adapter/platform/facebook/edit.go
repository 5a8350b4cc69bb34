package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

var (
	_ platform.Editor  = (*Platform)(nil)
	_ platform.Deleter = (*Platform)(nil)
)

// missing is the code of a node that does not exist, or belongs to another page.
const missing = 100

// Edit implements platform.Editor.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	name := "message"
	if graph.Number(post.ID) {
		name = "description" // of a video
	} else if !isPost(post.ID) {
		return platform.Reject(platform.CodePostNotFound, "Facebook does not have the post.")
	}
	call := p.api.Call(http.MethodPost, "/"+post.ID, a.Token.Access)
	call.Form = url.Values{name: {text}}
	return p.Client.JSON(ctx, call, refusals.Refused(false), nil)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	if !isPost(post.ID) && !graph.Number(post.ID) {
		return platform.Reject(platform.CodePostNotFound, "Facebook does not have the post.")
	}
	gone := refusals
	gone.Codes = map[int]func() *platform.Error{missing: func() *platform.Error {
		return platform.Reject(platform.CodePostNotFound, "Facebook does not have the post.")
	}}
	err := p.Client.JSON(ctx, p.api.Call(http.MethodDelete, "/"+post.ID, a.Token.Access), gone.Refused(false), nil)
	var refused *platform.Error
	if errors.As(err, &refused) && refused.Code == platform.CodePostNotFound {
		return nil
	}
	return err
}
