package youtube

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// commentScope is the right to read and write comments.
const commentScope = "https://www.googleapis.com/auth/youtube.force-ssl"

// The quota of calls, in units.
const (
	readUnits  = 1
	writeUnits = 50
)

// mostThreads bounds the threads of a page whose replies are listed by calls of their own.
const mostThreads = 10

// heldComments is the list of comments that other readers do not see. Its pages follow those of the published comments.
const heldComments = "heldForReview"

// remark is a comment as YouTube returns it.
type remark struct {
	ID      string `json:"id"`
	Snippet struct {
		Author  string `json:"authorDisplayName"`
		Channel struct {
			ID string `json:"value"`
		} `json:"authorChannelId"`
		Text     string    `json:"textDisplay"`
		Original string    `json:"textOriginal"`
		At       time.Time `json:"publishedAt"`
		Status   string    `json:"moderationStatus"` // absent for most published comments
	} `json:"snippet"`
}

func (r remark) comment(a platform.Account, parent string, hidden bool) platform.Comment {
	s := r.Snippet
	c := platform.Comment{ID: r.ID, ParentID: parent, Text: s.Original, At: s.At, Own: s.Channel.ID == a.ID}
	c.Text = cmp.Or(c.Text, s.Text)
	if strings.HasPrefix(s.Author, "@") {
		c.Author.Handle = s.Author
	} else {
		c.Author.Name = s.Author
	}
	if s.Status != "" {
		hidden = s.Status != "published"
	}
	c.Hidden = platform.Shown(hidden)
	return c
}

// mayComment returns the error of an account that was connected without the right to comments.
func mayComment(a platform.Account) error {
	if a.Token.Lacks([]string{commentScope}) {
		return platform.NeedsReconnect(platform.CodeMissingPermission, "The account was connected without the right "+
			"to comments. Connect it again, and allow all that the page of Google asks for.")
	}
	return nil
}

// Comments implements platform.CommentReader. The pages of the published comments come first, then those that are held
// for review.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	after string) (page platform.CommentPage, err error) {
	if err := mayComment(a); err != nil {
		return page, err
	}
	token, hidden := strings.CutPrefix(after, heldComments+":")
	var answer struct {
		Items []struct {
			ID      string `json:"id"`
			Snippet struct {
				Top     remark `json:"topLevelComment"`
				Replies int    `json:"totalReplyCount"`
			} `json:"snippet"`
			Replies struct {
				Comments []remark `json:"comments"`
			} `json:"replies"`
		} `json:"items"`
		Next string `json:"nextPageToken"`
	}
	call := p.commentCall(http.MethodGet, "commentThreads", a, url.Values{"part": {"snippet,replies"},
		"videoId": {post.ID}, "maxResults": {"100"}, "order": {"time"}, "textFormat": {"plainText"}})
	if hidden {
		call.Query.Set("moderationStatus", heldComments)
	}
	if token != "" {
		call.Query.Set("pageToken", token)
	}
	if err := p.Client.JSON(ctx, call, p.OfComments(false), &answer); err != nil {
		return page, err
	}
	page.Uses = readUnits
	listed := 0
	for _, t := range answer.Items {
		page.Comments = append(page.Comments, t.Snippet.Top.comment(a, "", hidden))
		replies := t.Replies.Comments
		if !hidden && t.Snippet.Replies > len(replies) {
			if listed++; listed > mostThreads {
				page.Partial = true
			} else {
				var more bool
				if replies, more, err = p.replies(ctx, a, t.ID); err != nil {
					return platform.CommentPage{}, err
				}
				page.Uses += readUnits
				page.Partial = page.Partial || more
			}
		}
		for _, r := range replies {
			page.Comments = append(page.Comments, r.comment(a, t.ID, hidden))
		}
	}
	switch page.Next = answer.Next; {
	case hidden && page.Next != "":
		page.Next = heldComments + ":" + page.Next
	case !hidden && page.Next == "":
		page.Next = heldComments + ":"
	}
	return page, nil
}

// replies returns the replies to a comment, and reports whether there are more.
func (p *Platform) replies(ctx context.Context, a platform.Account, parent string) ([]remark, bool, error) {
	var answer struct {
		Items []remark `json:"items"`
		Next  string   `json:"nextPageToken"`
	}
	call := p.commentCall(http.MethodGet, "comments", a, url.Values{"part": {"snippet"}, "parentId": {parent},
		"maxResults": {"100"}, "textFormat": {"plainText"}})
	err := p.Client.JSON(ctx, call, p.OfComments(false), &answer)
	if platform.Gone(err) {
		return nil, true, nil // it was deleted between the two calls
	}
	return answer.Items, answer.Next != "", err
}

// Reply implements platform.Replier. YouTube has replies to comments on the video only: a reply to a reply is written
// below the same comment.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if err := mayComment(a); err != nil {
		return "", err
	}
	to := r.To.ID
	if r.To.ParentID != "" {
		to = r.To.ParentID
	}
	call := p.commentCall(http.MethodPost, "comments", a, url.Values{"part": {"snippet"}})
	call.JSON, call.Posts = map[string]any{"snippet": map[string]string{"parentId": to, "textOriginal": r.Text}}, true
	var made remark
	if err := p.Client.JSON(ctx, call, p.OfComments(true), &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", p.Client.GarbledError(call, errors.New("there is no id"))
	}
	return made.ID, nil
}

// HideComment implements platform.CommentHider. A hidden comment is held for review.
func (p *Platform) HideComment(ctx context.Context, a platform.Account, _ platform.PublishedPost, commentID string,
	hidden bool) error {
	status := "published"
	if hidden {
		status = heldComments
	}
	return p.moderate(ctx, a, commentID, status)
}

func (p *Platform) moderate(ctx context.Context, a platform.Account, commentID, status string) error {
	if err := mayComment(a); err != nil {
		return err
	}
	call := p.commentCall(http.MethodPost, "comments/setModerationStatus", a, url.Values{"id": {commentID},
		"moderationStatus": {status}})
	return p.Client.JSON(ctx, call, p.OfComments(false), nil)
}

// DeleteComment implements platform.CommentDeleter. YouTube lets a channel delete its own comments. A comment of others
// is rejected: it is on the video no more.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.PublishedPost,
	commentID string) error {
	if err := mayComment(a); err != nil {
		return err
	}
	call := p.commentCall(http.MethodDelete, "comments", a, url.Values{"id": {commentID}})
	err := p.Client.JSON(ctx, call, p.OfComments(false), nil)
	if platform.CodeOf(err) == codeForeign {
		err = p.moderate(ctx, a, commentID, "rejected")
	}
	return platform.Except(platform.CodeCommentNotFound, err)
}

func (p *Platform) commentCall(method, path string, a platform.Account, query url.Values) wire.Call {
	call := p.Call(method, "/youtube/v3/"+path, a.Token.Access)
	call.Query = query
	return call
}

// codeForeign is the code of a call that YouTube permits to the author of a comment alone.
const codeForeign platform.Code = "foreign_comment"

// OfComments classifies the refusals of calls about comments; posts reports whether the call may have written one.
func (p *Platform) OfComments(posts bool) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		if a.OK() {
			return nil
		}
		switch reasonOf(a) {
		case "commentNotFound", "parentCommentNotFound":
			return platform.CommentGone()
		case "commentsDisabled":
			return platform.Reject(platform.CodeUnsupported, "The video takes no comments. Allow them on YouTube.")
		case "forbidden":
			return platform.Reject(codeForeign, "YouTube lets the account do this to its own comments alone.")
		case "commentTextTooLong", "commentTextRequired", "invalidCommentMetadata", "operationNotSupported",
			"parentCommentIsPrivate":
			return platform.Reject(platform.CodeContentRefused, "YouTube does not take the reply.")
		case "ineligibleAccount":
			return platform.Reject(platform.CodeUnsupported, "The Google account has no channel that may comment.")
		case "banWithoutReject":
			return platform.Reject(platform.CodeUnsupported, "YouTube does not take the change of the comment.")
		case "insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT":
			return unentitled() // to comments: the account publishes all the same
		case "processingFailure":
			return p.garbledError(posts)
		case "":
			if a.Status == http.StatusNotFound || a.Status == http.StatusGone {
				return p.garbledError(posts) // YouTube explains that something does not exist, and a proxy does not
			}
		}
		return p.classifyCall(a)
	}
}

// garbledError is the error of a call that YouTube may have executed.
func (p *Platform) garbledError(posts bool) *platform.Error {
	if posts {
		return platform.Lost(nil)
	}
	return platform.Busy()
}
