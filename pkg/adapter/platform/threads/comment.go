package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

var (
	_ platform.Replier      = (*Platform)(nil)
	_ platform.CommentHider = (*Platform)(nil)
)

func (p *Platform) comments() graph.Comments {
	return graph.Comments{API: p.API, Edge: "/conversation",
		Hiding: "/manage_reply", Hide: "hide",
		List: url.Values{"fields": {"id,text,timestamp,username,hide_status,replied_to,is_reply_owned_by_me"}}}
}

// Comments implements platform.CommentReader. The conversation has the replies to replies, too.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.Published,
	after string) (platform.CommentPage, error) {
	if !graph.Number(post.ID) {
		return platform.CommentPage{}, platform.Reject(platform.CodePostNotFound, "Threads does not have the post.")
	}
	return p.comments().Read(ctx, a, post.ID, after)
}

// Reply implements platform.Replier. A container is filled, which nobody sees, and then published.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !graph.Number(r.To.ID) {
		return "", platform.CommentGone()
	}
	gone := refusals
	gone.Codes = map[int]func() *platform.Error{missing: platform.CommentGone}
	var made struct {
		ID string `json:"id"`
	}
	fill := p.API.Call(http.MethodPost, "/"+a.ID+"/threads", a.Token.Access)
	fill.Form = url.Values{"media_type": {"TEXT"}, "text": {r.Text}, "reply_to_id": {r.To.ID}}
	if err := p.Client.JSON(ctx, fill, gone.Refused(false), &made); err != nil {
		return "", err
	}
	if !graph.Number(made.ID) {
		return "", p.Client.Garbled(fill, graph.ErrNoID)
	}
	publish := p.API.Call(http.MethodPost, "/"+a.ID+"/threads_publish", a.Token.Access)
	publish.Form, publish.Posts = url.Values{"creation_id": {made.ID}}, true
	made.ID = ""
	err := p.Client.JSON(ctx, publish, refusals.Refused(true), &made)
	var e *platform.Error
	if errors.As(err, &e) && e.Kind == platform.Restart {
		return "", platform.Busy().Because(err) // nothing was published
	}
	if err == nil && made.ID == "" {
		err = p.Client.Garbled(publish, graph.ErrNoID)
	}
	return made.ID, err
}

// HideComment implements platform.CommentHider.
func (p *Platform) HideComment(ctx context.Context, a platform.Account, _ platform.Published, commentID string,
	hidden bool) error {
	return p.comments().SetHidden(ctx, a, commentID, hidden)
}
