package platform

import (
	"context"
	"strings"
	"time"
)

// Commenting describes what an application can do with the comments on posts. The zero value stands for a platform
// whose comments cannot be read.
type Commenting struct {
	// Reads, Replies, Hides and Deletes report whether the platform is a CommentReader, a Replier, a CommentHider and a
	// CommentDeleter.
	Reads, Replies, Hides, Deletes bool
	// Text bounds a reply.
	Text Text
	// ReadAt are the ages of a post at which its comments are read, or nil for the usual ones. A platform that charges
	// for each comment that it shows has few.
	ReadAt []time.Duration
	// Uses are what the calls use of the budgets of the platform, as Reads counts them.
	Uses CommentUses
}

// RisingReads are the ages of a post at which its comments are read on platforms that bound the calls of a day: at
// rising intervals on the first day, then daily.
var RisingReads = func() []time.Duration {
	at := []time.Duration{10 * time.Minute, 30 * time.Minute}
	for hours := time.Hour; hours < 24*time.Hour; hours *= 2 {
		at = append(at, hours)
	}
	for day := 1; day <= 30; day++ {
		at = append(at, time.Duration(day)*24*time.Hour)
	}
	return at
}()

// CommentUses are what calls about comments use of the budgets of a platform. The zero value uses nothing. A page of
// comments has its use itself.
type CommentUses struct {
	Reply        func(text string) int // nil if a reply uses nothing
	Hide, Delete int                   // at most
}

// OfReply returns what a reply with a text uses, which is nothing without the function Reply.
func (u CommentUses) OfReply(text string) int {
	if u.Reply == nil {
		return 0
	}
	return u.Reply(text)
}

// Comment is a comment on a published post.
type Comment struct {
	ID       string
	ParentID string // comment that it replies to, or empty
	Author   Author
	Text     string
	At       time.Time
	// Own reports whether the account itself has written it.
	Own bool
	// Hidden reports whether other readers do not see it. It is nil if the platform does not say.
	Hidden *bool
}

// Author is the author of a comment.
type Author struct {
	Handle, Name string
}

// CommentPage is a part of the comments on a post, with the cursor of the next part.
type CommentPage struct {
	Comments []Comment
	Next     string // continues the list, or is empty at its end
	// Partial reports that the page lacks comments, such as the later ones of many replies.
	Partial bool
	// Uses is what the calls for the page have used of the budgets of the platform.
	Uses int
}

// CommentReader is a platform that lists the comments on a post, with the replies to them.
type CommentReader interface {
	// Comments returns a page of comments. The argument after is the Next of the page before, or empty. The error is of
	// any kind except Unknown and Restart.
	Comments(ctx context.Context, a Account, p PublishedPost, after string) (CommentPage, error)
}

// Reply is a reply to a comment.
type Reply struct {
	// Key is unique to the reply, and the same at every attempt.
	Key  string
	Post PublishedPost
	To   Comment
	Text string
	// At is the start of the first attempt.
	At time.Time
	// Handle is what an attempt leaves to the next one if its error is Retry, such as what a platform still prepares.
	// The caller stores it between attempts. It may be nil for an attempt that stands alone.
	Handle *Handle
}

// Replier is a platform that takes replies to comments.
type Replier interface {
	CommentReader
	// Reply writes a reply, and returns its id. The error is of any kind except Restart. An error of any kind except
	// Unknown means that the call had no effect.
	Reply(ctx context.Context, a Account, r Reply) (id string, err error)
}

// CommentHider is a platform that hides comments from other readers.
type CommentHider interface {
	// HideComment hides a comment, or shows it again. It may be repeated. The error is of any kind except Restart.
	HideComment(ctx context.Context, a Account, p PublishedPost, commentID string, hidden bool) error
}

// CommentDeleter is a platform that deletes comments on own posts.
type CommentDeleter interface {
	// DeleteComment deletes a comment. It may be repeated: a comment that does not exist any more is no error. The
	// error is of any kind except Restart.
	DeleteComment(ctx context.Context, a Account, p PublishedPost, commentID string) error
}

// mostReplyPages bounds the pages that FindReply reads.
const mostReplyPages = 10

// FindReply looks for a reply whose answer was lost among the comments on its post, and returns its id. It returns an
// empty id if the reply is not visible, which does not prove that it will never be.
func FindReply(ctx context.Context, c CommentReader, a Account, r Reply) (string, error) {
	after := ""
	for range mostReplyPages {
		page, err := c.Comments(ctx, a, r.Post, after)
		if err != nil {
			return "", err
		}
		for _, one := range page.Comments {
			// A reply to a reply belongs to the first comment on most platforms. The clock of the platform may differ
			// by some seconds.
			below := one.ParentID != "" && (one.ParentID == r.To.ID || one.ParentID == r.To.ParentID)
			if one.Own && below && strings.TrimSpace(one.Text) == strings.TrimSpace(r.Text) &&
				!one.At.Before(r.At.Add(-time.Minute)) {
				return one.ID, nil
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	return "", nil
}

// CodeCommentNotFound is the code of a comment that does not exist any more.
const CodeCommentNotFound Code = "comment_not_found"

// CommentGone returns the error of a comment that does not exist any more.
func CommentGone() *Error {
	return Reject(CodeCommentNotFound, "The comment does not exist on the platform any more.")
}

// Gone reports whether an error says that a comment does not exist any more.
func Gone(err error) bool { return CodeOf(err) == CodeCommentNotFound }

// Shown returns the member Hidden of a comment.
func Shown(hidden bool) *bool { return &hidden }
