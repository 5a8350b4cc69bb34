package registry

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

var (
	_ platform.Replier        = (*SandboxPlatform)(nil)
	_ platform.CommentHider   = (*SandboxPlatform)(nil)
	_ platform.CommentDeleter = (*SandboxPlatform)(nil)
)

// readers have written the comments on each post.
var readers = []struct{ handle, name, text string }{
	{"@sandbox_reader", "A reader", "Does it come in other colors?"},
	{"@sandbox_fan", "A fan", "Love it! 👏"},
}

// Comments implements platform.CommentReader. Each post has two comments, which depend on the post alone.
func (p *SandboxPlatform) Comments(ctx context.Context, _ platform.Account, post platform.Published,
	_ string) (page platform.CommentPage, err error) {
	if err := ended(ctx); err != nil {
		return page, err
	}
	if !p.caps.Comments.Reads {
		return page, platform.Unsupported("reading comments")
	}
	at, _, err := parsePost(post.ID)
	if err != nil {
		return page, err
	}
	for i, r := range readers {
		page.Comments = append(page.Comments, platform.Comment{ID: post.ID + "-" + string(rune('1'+i)),
			Author: platform.Author{Handle: r.handle, Name: r.name}, Text: r.text,
			At: at.Add(time.Duration(i+1) * time.Second)})
	}
	return page, nil
}

// Reply implements platform.Replier. The same reply always has the same id.
func (p *SandboxPlatform) Reply(ctx context.Context, _ platform.Account, r platform.Reply) (string, error) {
	if err := ended(ctx); err != nil {
		return "", err
	}
	if !p.caps.Comments.Replies {
		return "", platform.Unsupported("replies")
	}
	return seed(r.Key), nil
}

// HideComment implements platform.CommentHider.
func (p *SandboxPlatform) HideComment(ctx context.Context, _ platform.Account, _ platform.Published, _ string,
	_ bool) error {
	if err := ended(ctx); err != nil || p.caps.Comments.Hides {
		return err
	}
	return platform.Unsupported("the hiding of comments")
}

// DeleteComment implements platform.CommentDeleter.
func (p *SandboxPlatform) DeleteComment(ctx context.Context, _ platform.Account, _ platform.Published, _ string) error {
	if err := ended(ctx); err != nil || p.caps.Comments.Deletes {
		return err
	}
	return platform.Unsupported("the deletion of comments")
}
