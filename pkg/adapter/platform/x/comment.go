package x

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// hideScope is the right to hide replies.
const hideScope = "tweet.moderate.write"

// mostReplies is how many replies a look reads, the newest ones: as few as X lets an application search for.
const mostReplies = "10"

// commentReads are the ages of a post at which its replies are read. X searches the last seven days.
var commentReads = []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 72 * time.Hour, 160 * time.Hour}

// replyPrice returns what a reply costs.
func replyPrice(text string) int {
	// X charges for what it takes as a link. What other platforms take as one is included, to be on the safe side.
	if len(texts.X.Links(text)) > 0 || len(platform.Links(text)) > 0 {
		return linkPrice
	}
	return postPrice
}

// Comments implements platform.CommentReader. It searches only if the post has replies: X charges for each reply
// and each author that it shows.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.Published,
	_ string) (page platform.CommentPage, err error) {
	m, err := p.Metrics(ctx, a, post)
	if err != nil {
		return page, err
	}
	page.Uses = readPrice
	if *m.Comments == 0 {
		return page, nil
	}
	var list struct {
		Data []struct {
			ID     string    `json:"id"`
			Text   string    `json:"text"`
			Author string    `json:"author_id"`
			At     time.Time `json:"created_at"`
			Refs   []struct {
				Type string `json:"type"`
				ID   string `json:"id"`
			} `json:"referenced_tweets"`
		} `json:"data"`
		Includes struct {
			Users []struct {
				ID       string `json:"id"`
				Username string `json:"username"`
				Name     string `json:"name"`
			} `json:"users"`
		} `json:"includes"`
		Meta struct {
			Next string `json:"next_token"`
		} `json:"meta"`
	}
	err = p.Get(ctx, a.Token.Access, "/2/tweets/search/recent", url.Values{"query": {"conversation_id:" + post.ID},
		"max_results": {mostReplies}, "tweet.fields": {"created_at,author_id,referenced_tweets"},
		"expansions": {"author_id"}, "user.fields": {"username,name"}}, &list)
	if err != nil {
		return platform.CommentPage{}, err
	}
	authors := map[string]platform.Author{}
	for _, u := range list.Includes.Users {
		authors[u.ID] = platform.Author{Handle: "@" + u.Username, Name: u.Name}
	}
	page.Uses += readPrice*len(list.Data) + userPrice*len(list.Includes.Users)
	page.Partial = list.Meta.Next != ""
	for _, d := range list.Data {
		c := platform.Comment{ID: d.ID, Author: authors[d.Author], Text: html.UnescapeString(d.Text), At: d.At,
			Own: d.Author == a.ID}
		for _, r := range d.Refs {
			if r.Type == "replied_to" && r.ID != post.ID {
				c.ParentID = r.ID
			}
		}
		if d.ID != post.ID {
			page.Comments = append(page.Comments, c)
		}
	}
	return page, nil
}

// Reply implements platform.Replier.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !number(r.To.ID) {
		return "", platform.CommentGone()
	}
	call := p.Call(http.MethodPost, "/2/tweets", a.Token.Access)
	call.Posts = true
	call.JSON = map[string]any{"text": r.Text, "reply": map[string]string{"in_reply_to_tweet_id": r.To.ID}}
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err := p.Client.JSON(ctx, call, p.ofComments(true, "X takes replies of applications only to people who have "+
		"mentioned the account or answered it."), &made)
	if err != nil {
		return "", err
	}
	if !number(made.Data.ID) {
		return "", p.Client.Garbled(call, errIncomplete)
	}
	return made.Data.ID, nil
}

// HideComment implements platform.CommentHider.
func (p *Platform) HideComment(ctx context.Context, a platform.Account, _ platform.Published, commentID string,
	hidden bool) error {
	if !number(commentID) {
		return platform.CommentGone()
	}
	if a.Token.Lacks([]string{hideScope}) {
		return platform.NeedsReconnect(platform.CodeMissingPermission, "The account was connected without the right "+
			"to hide replies. Connect it again, and allow all that the page of X asks for.")
	}
	call := p.Call(http.MethodPut, "/2/tweets/"+commentID+"/hidden", a.Token.Access)
	call.JSON = map[string]bool{"hidden": hidden}
	return p.Client.JSON(ctx, call, p.ofComments(false, "X lets the account hide replies to its own posts alone."), nil)
}

// DeleteComment implements platform.CommentDeleter. X accepts the deletion of a post that does not exist.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.Published,
	commentID string) error {
	if !number(commentID) {
		return nil
	}
	err := p.Client.JSON(ctx, p.Call(http.MethodDelete, "/2/tweets/"+commentID, a.Token.Access),
		p.ofComments(false, "X lets the account delete its own replies alone. Hide the reply."), nil)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// ofComments classifies the refusals of calls about replies; posts reports whether the call may have written one, and
// forbidden says what X does not permit.
func (p *Platform) ofComments(posts bool, forbidden string) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		e := p.refused(makes)(a)
		b, m := problemOf(a)
		switch {
		case a.Status == http.StatusNotFound,
			a.Status == http.StatusForbidden && strings.Contains(b.Detail, "deleted or not visible"):
			return platform.CommentGone()
		case m == duplicate && posts:
			return platform.Lost(nil) // the equal text may be the reply itself
		case a.Status == http.StatusForbidden && (m == 0 || m == reply || m == right):
			return platform.Reject(platform.CodeUnsupported, forbidden).Saying(b.words())
		}
		return e
	}
}
