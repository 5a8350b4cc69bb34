package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// missing is the code of a node that does not exist.
const missing = 100

// Comments makes the calls of comments of one platform.
type Comments struct {
	API
	// Edge is the edge that lists the comments on a post, with the query List, and Replies the edge that takes replies.
	Edge, Replies string
	List          url.Values
	// Hiding is the edge and Hide the member that hides a comment.
	Hiding, Hide string
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
	Paging struct {
		Next    string `json:"next"`
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
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
	if at, err := time.Parse("2006-01-02T15:04:05-0700", n.Timestamp+n.Created); err == nil {
		c.At = at
	}
	return c
}

// Read returns a page of the comments on a post, with the replies to them.
func (g Comments) Read(ctx context.Context, a platform.Account, postID,
	after string) (page platform.CommentPage, err error) {
	call := g.Call(http.MethodGet, "/"+postID+g.Edge, a.Token.Access)
	call.Query = url.Values{"limit": {"50"}}
	for name, values := range g.List {
		call.Query[name] = values
	}
	if after != "" {
		call.Query.Set("after", after)
	}
	var nodes Nodes
	if err := g.Client.JSON(ctx, call, g.refused(false, platform.CodePostNotFound), &nodes); err != nil {
		return page, err
	}
	for _, n := range nodes.Data {
		page.Comments = append(page.Comments, n.comment(a, postID, ""))
		if n.Replies == nil {
			continue
		}
		for _, r := range n.Replies.Data {
			page.Comments = append(page.Comments, r.comment(a, postID, n.ID))
		}
		page.Partial = page.Partial || n.Replies.Paging.Next != ""
	}
	if nodes.Paging.Next != "" {
		page.Next = nodes.Paging.Cursors.After
	}
	return page, nil
}

// Write writes a reply to a comment, and returns its id.
func (g Comments) Write(ctx context.Context, a platform.Account, commentID, text string) (string, error) {
	if !commentNumber(commentID) {
		return "", platform.CommentGone()
	}
	call := g.Call(http.MethodPost, "/"+commentID+g.Replies, a.Token.Access)
	call.Form, call.Posts = url.Values{"message": {text}}, true
	var made struct {
		ID string `json:"id"`
	}
	if err := g.Client.JSON(ctx, call, g.refused(true, platform.CodeCommentNotFound), &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", g.Client.Garbled(call, errors.New("there is no id"))
	}
	return made.ID, nil
}

// SetHidden hides a comment, or shows it again.
func (g Comments) SetHidden(ctx context.Context, a platform.Account, commentID string, hidden bool) error {
	if !commentNumber(commentID) {
		return platform.CommentGone()
	}
	value := "false"
	if hidden {
		value = "true"
	}
	call := g.Call(http.MethodPost, "/"+commentID+g.Hiding, a.Token.Access)
	call.Form = url.Values{g.Hide: {value}}
	return g.Client.JSON(ctx, call, g.refused(false, platform.CodeCommentNotFound), nil)
}

// Delete deletes a comment.
func (g Comments) Delete(ctx context.Context, a platform.Account, commentID string) error {
	if !commentNumber(commentID) {
		return nil
	}
	err := g.Client.JSON(ctx, g.Call(http.MethodDelete, "/"+commentID, a.Token.Access),
		g.refused(false, platform.CodeCommentNotFound), nil)
	if platform.Gone(err) {
		return nil
	}
	return err
}

// refused classifies refusals. A node that does not exist has the code absent.
func (g Comments) refused(posts bool, absent platform.Code) wire.Refused {
	refusals := g.Refusals
	refusals.Codes = map[int]func() *platform.Error{}
	for code, e := range g.Refusals.Codes {
		refusals.Codes[code] = e
	}
	refusals.Codes[missing] = func() *platform.Error {
		if absent == platform.CodeCommentNotFound {
			return platform.CommentGone()
		}
		return platform.Reject(absent, refusals.Label+" does not have the post.")
	}
	return refusals.Refused(posts)
}

// commentNumber reports whether an id is one number, or that of a post and that of a comment.
func commentNumber(id string) bool {
	post, comment, both := strings.Cut(id, "_")
	return Number(post) && (!both || Number(comment))
}
