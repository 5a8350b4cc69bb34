package facebook

import (
	"context"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

var (
	_ platform.Replier        = (*Platform)(nil)
	_ platform.CommentHider   = (*Platform)(nil)
	_ platform.CommentDeleter = (*Platform)(nil)
	_ platform.Announcer      = (*Platform)(nil)
)

func (p *Platform) comments() graph.Comments {
	return graph.Comments{API: p.api, Edge: "/comments", Replies: "/comments",
		Hide: "is_hidden", List: url.Values{"filter": {"stream"}, "order": {"reverse_chronological"},
			"fields": {"id,message,created_time,from{id,name},parent{id},is_hidden"}}}
}

// Comments implements platform.CommentReader. Facebook names the author only where the person permits it.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.Published,
	after string) (platform.CommentPage, error) {
	if !isPost(post.ID) && !graph.Number(post.ID) {
		return platform.CommentPage{}, platform.Reject(platform.CodePostNotFound, "Facebook does not have the post.")
	}
	return p.comments().Read(ctx, a, post.ID, after)
}

// Reply implements platform.Replier.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	return p.comments().Write(ctx, a, r.To.ID, r.Text)
}

// HideComment implements platform.CommentHider.
func (p *Platform) HideComment(ctx context.Context, a platform.Account, _ platform.Published, commentID string,
	hidden bool) error {
	return p.comments().SetHidden(ctx, a, commentID, hidden)
}

// DeleteComment implements platform.CommentDeleter.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.Published,
	commentID string) error {
	return p.comments().Delete(ctx, a, commentID)
}

// Announced implements platform.Announcer.
func (p *Platform) Announced(ctx context.Context, h platform.Hook) ([]platform.Announced, string, error) {
	return graph.Announced(ctx, p.Client, h, "page", "feed")
}
