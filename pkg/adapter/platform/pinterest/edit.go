package pinterest

import (
	"context"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Edit implements platform.Editor. It replaces the description of a pin.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	call := p.Call(http.MethodPatch, "/pins/"+url.PathEscape(post.ID), a.Token.Access)
	call.JSON = map[string]string{"description": text}
	return p.Send(ctx, call, nil)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	call := p.Call(http.MethodDelete, "/pins/"+url.PathEscape(post.ID), a.Token.Access)
	err := p.Client.JSON(ctx, call, func(answer wire.Answer) *platform.Error {
		if answer.Status == http.StatusNotFound {
			return platform.Reject(platform.CodePostNotFound, "Pinterest does not have the pin.")
		}
		return refused(answer)
	}, nil)
	return platform.Except(platform.CodePostNotFound, err)
}
