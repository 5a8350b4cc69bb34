package threads

import (
	"context"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// Reply implements platform.Replier. A container is filled, which nobody sees, and then published.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !graph.Number(r.To.ID) {
		return "", platform.CommentGone()
	}
	gone := refusals
	gone.Codes = map[int]func() *platform.Error{graph.Missing: platform.CommentGone}
	var made struct {
		ID string `json:"id"`
	}
	fill := p.Call(http.MethodPost, "/"+a.ID+"/threads", a.Token.Access)
	fill.Form = url.Values{"media_type": {"TEXT"}, "text": {r.Text}, "reply_to_id": {r.To.ID}}
	if err := p.Client.JSON(ctx, fill, gone.Refused(false), &made); err != nil {
		return "", err
	}
	if !graph.Number(made.ID) {
		return "", p.Client.Garbled(fill, graph.ErrNoID)
	}
	publish := p.Call(http.MethodPost, "/"+a.ID+"/threads_publish", a.Token.Access)
	publish.Form, publish.Posts = url.Values{"creation_id": {made.ID}}, true
	made.ID = ""
	err := p.Send(ctx, publish, &made)
	if platform.KindOf(err) == platform.Restart {
		return "", platform.Busy().Because(err) // nothing was published
	}
	if err == nil && made.ID == "" {
		err = p.Client.Garbled(publish, graph.ErrNoID)
	}
	return made.ID, err
}
