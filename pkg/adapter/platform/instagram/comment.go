package instagram

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

const commentFields = "id,text,timestamp,username,hidden,from"

func (p *Platform) comments() graph.Comments {
	return graph.Comments{API: p.API, Edge: "/comments", Replies: "/replies",
		Hide: "hide", List: url.Values{"fields": {commentFields + ",replies.limit(50){" + commentFields + "}"}}}
}

// Comments implements platform.CommentReader.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.Published,
	after string) (platform.CommentPage, error) {
	if !graph.Number(post.ID) {
		return platform.CommentPage{}, platform.Reject(platform.CodePostNotFound, "Instagram does not have the post.")
	}
	return p.comments().Read(ctx, a, post.ID, after)
}

// Reply implements platform.Replier. Instagram has replies to comments on the post only: a reply to a reply is written
// below the same comment.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	to := r.To.ID
	if r.To.ParentID != "" {
		to = r.To.ParentID
	}
	return p.comments().Write(ctx, a, to, r.Text)
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
	return graph.Announced(ctx, p.Client, h, "instagram", "comments")
}
