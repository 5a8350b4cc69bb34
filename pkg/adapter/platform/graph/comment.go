package graph

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Reader reads and hides the comments on the posts of one platform.
type Reader struct {
	Via API
	// Listing is the edge that lists the comments on a post, with the query List.
	Listing string
	List    url.Values
	// Hiding is the edge and Hide the member that hides a comment.
	Hiding, Hide string
}

// Commenter also takes replies, deletes comments, and announces changes.
type Commenter struct {
	Reader
	Replies string // edge that takes replies
	// Flat reports whether the platform has replies to comments on the post only: a reply to a reply is written below
	// the same comment.
	Flat bool
	// Object is what the webhooks are about, and Field the subscribed field of comments.
	Object, Field string
}

// Node is a comment as the Graph API returns it. Each platform has some of the members.
type Node struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Message  string `json:"message"`
	Username string `json:"username"`
	From     struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"from"`
	Timestamp string `json:"timestamp"`
	Created   string `json:"created_time"`
	Hidden    *bool  `json:"hidden"`
	IsHidden  *bool  `json:"is_hidden"`
	// Status is the state of a reply on Threads.
	Status string `json:"hide_status"`
	Mine   bool   `json:"is_reply_owned_by_me"`
	Parent struct {
		ID string `json:"id"`
	} `json:"parent"`
	RepliedTo struct {
		ID string `json:"id"`
	} `json:"replied_to"`
	Replies *Nodes `json:"replies"`
}

// Nodes is a page of comments.
type Nodes struct {
	Data   []Node `json:"data"`
	Paging Paging `json:"paging"`
}

// comment returns the comment of a node on a post.
func (n Node) comment(a platform.Account, postID, parent string) platform.Comment {
	c := platform.Comment{ID: n.ID, ParentID: parent, Text: n.Text + n.Message, Hidden: n.Hidden,
		Author: platform.Author{Handle: n.Username, Name: n.From.Name},
		Own:    n.Mine || n.From.ID == a.ID}
	if c.ParentID == "" {
		c.ParentID = n.Parent.ID + n.RepliedTo.ID
	}
	if c.ParentID == postID {
		c.ParentID = ""
	}
	if c.Author.Handle == "" {
		c.Author.Handle = n.From.Username
	}
	if c.Author.Handle != "" {
		c.Author.Handle = "@" + c.Author.Handle
		c.Own = c.Own || c.Author.Handle == a.Handle
	}
	if n.IsHidden != nil {
		c.Hidden = n.IsHidden
	}
	if n.Status != "" {
		c.Hidden = platform.Shown(n.Status == "HIDDEN" || n.Status == "COVERED")
	}
	if at, err := time.Parse(TimeLayout, n.Timestamp+n.Created); err == nil {
		c.At = at
	}
	return c
}

// Comments implements platform.CommentReader. A page has the replies to its comments.
func (g Reader) Comments(ctx context.Context, a platform.Account, post platform.Published,
	after string) (page platform.CommentPage, err error) {
	if !g.Via.known(post.ID) {
		return page, g.Via.NoPost()
	}
	call := g.Via.Call(http.MethodGet, "/"+post.ID+g.Listing, a.Token.Access)
	call.Query = url.Values{"limit": {"50"}}
	for name, values := range g.List {
		call.Query[name] = values
	}
	if after != "" {
		call.Query.Set("after", after)
	}
	var nodes Nodes
	if err := g.Via.Client.JSON(ctx, call, g.refused(false, platform.CodePostNotFound), &nodes); err != nil {
		return page, err
	}
	for _, n := range nodes.Data {
		page.Comments = append(page.Comments, n.comment(a, post.ID, ""))
		if n.Replies == nil {
			continue
		}
		for _, r := range n.Replies.Data {
			page.Comments = append(page.Comments, r.comment(a, post.ID, n.ID))
		}
		page.Partial = page.Partial || n.Replies.Paging.Next != ""
	}
	page.Next = nodes.Paging.Cursor()
	return page, nil
}

// Reply implements platform.Replier.
func (g Commenter) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	to := r.To.ID
	if g.Flat && r.To.ParentID != "" {
		to = r.To.ParentID
	}
	if !commentNumber(to) {
		return "", platform.CommentGone()
	}
	call := g.Via.Call(http.MethodPost, "/"+to+g.Replies, a.Token.Access)
	call.Form, call.Posts = url.Values{"message": {r.Text}}, true
	var made struct {
		ID string `json:"id"`
	}
	if err := g.Via.Client.JSON(ctx, call, g.refused(true, platform.CodeCommentNotFound), &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", g.Via.Client.Garbled(call, ErrNoID)
	}
	return made.ID, nil
}

// HideComment implements platform.CommentHider.
func (g Reader) HideComment(ctx context.Context, a platform.Account, _ platform.Published, commentID string,
	hidden bool) error {
	if !commentNumber(commentID) {
		return platform.CommentGone()
	}
	call := g.Via.Call(http.MethodPost, "/"+commentID+g.Hiding, a.Token.Access)
	call.Form = url.Values{g.Hide: {strconv.FormatBool(hidden)}}
	return g.Via.Client.JSON(ctx, call, g.refused(false, platform.CodeCommentNotFound), nil)
}

// DeleteComment implements platform.CommentDeleter.
func (g Commenter) DeleteComment(ctx context.Context, a platform.Account, _ platform.Published,
	commentID string) error {
	if !commentNumber(commentID) {
		return nil
	}
	err := g.Via.Client.JSON(ctx, g.Via.Call(http.MethodDelete, "/"+commentID, a.Token.Access),
		g.refused(false, platform.CodeCommentNotFound), nil)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// refused classifies refusals. A node that does not exist has the code absent.
func (g Reader) refused(posts bool, absent platform.Code) wire.Refused {
	refusals := g.Via.Refusals
	refusals.Missing = g.Via.NoPost
	if absent == platform.CodeCommentNotFound {
		// A call without a text has no parameter but its node.
		refusals.Missing, refusals.Lenient = platform.CommentGone, !posts
	}
	return refusals.Refused(posts)
}

// commentNumber reports whether an id is one number, or that of a post and that of a comment.
func commentNumber(id string) bool {
	post, comment, both := strings.Cut(id, "_")
	return Number(post) && (!both || Number(comment))
}
