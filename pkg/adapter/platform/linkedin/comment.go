package linkedin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	// commentPage is the number of comments of a page, and mostNested bounds the comments whose replies are listed.
	commentPage = 100
	mostNested  = 10
	// commentScope is the right to read the comments on posts of members. LinkedIn grants it to few applications.
	commentScope  = "r_member_social"
	commentPrefix = "urn:li:comment:("
)

// remark is a comment as LinkedIn returns it. It names its author by a URN alone.
type remark struct {
	URN     string `json:"$URN"`
	Actor   string `json:"actor"`
	Message struct {
		Text string `json:"text"`
	} `json:"message"`
	Created struct {
		Time int64 `json:"time"` // Unix milliseconds
	} `json:"created"`
	Summary struct {
		Total int `json:"aggregatedTotalComments"`
	} `json:"commentsSummary"`
}

// Comments implements platform.CommentReader.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.Published,
	after string) (page platform.CommentPage, err error) {
	if !strings.HasPrefix(a.ID, organization) && !slices.Contains(a.Token.Scopes, commentScope) {
		return page, platform.Unsupported("reading comments on posts of members")
	}
	start, _ := strconv.Atoi(after)
	all, more, err := p.remarks(ctx, a, post.ID, start, platform.CodePostNotFound)
	if err != nil {
		return page, err
	}
	add := func(r remark, parent string) {
		page.Comments = append(page.Comments, platform.Comment{ID: r.URN, ParentID: parent, Text: r.Message.Text,
			Author: platform.Author{Handle: r.Actor}, At: time.UnixMilli(r.Created.Time), Own: r.Actor == a.ID})
	}
	nested := 0
	for _, r := range all {
		add(r, "")
		if r.Summary.Total == 0 {
			continue
		}
		if nested++; nested > mostNested {
			page.Partial = true
			continue
		}
		replies, further, err := p.remarks(ctx, a, r.URN, 0, platform.CodeCommentNotFound)
		if err != nil && !platform.Gone(err) {
			return platform.CommentPage{}, err
		}
		for _, one := range replies {
			add(one, r.URN)
		}
		page.Partial = page.Partial || err != nil || further
	}
	if more {
		page.Next = strconv.Itoa(start + len(all))
	}
	return page, nil
}

// remarks returns a page of the comments on a post, or of the replies to a comment, and whether there are more.
func (p *Platform) remarks(ctx context.Context, a platform.Account, urn string, start int,
	absent platform.Code) (all []remark, more bool, err error) {
	var answer struct {
		Elements []remark `json:"elements"`
		Paging   paging   `json:"paging"`
	}
	call := p.Call(http.MethodGet, "/rest/socialActions/"+url.PathEscape(urn)+"/comments", a.Token.Access)
	call.Query = url.Values{"start": {strconv.Itoa(start)}, "count": {strconv.Itoa(commentPage)}}
	err = p.Client.JSON(ctx, call, p.ofComments(absent), &answer)
	return answer.Elements, answer.Paging.more(start, len(answer.Elements), commentPage), err
}

// Reply implements platform.Replier. LinkedIn has replies to comments on the post only: a reply to a reply is written
// below the same comment.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	to := r.To.ID
	if r.To.ParentID != "" {
		to = r.To.ParentID
	}
	thread, _, ok := parse(to)
	if !ok {
		return "", platform.CommentGone()
	}
	call := p.Call(http.MethodPost, "/rest/socialActions/"+url.PathEscape(to)+"/comments", a.Token.Access)
	call.Posts = true
	call.JSON = map[string]any{"actor": a.ID, "object": thread, "parentComment": to,
		"message": map[string]string{"text": r.Text}}
	var made remark
	if err := p.Client.JSON(ctx, call, p.ofComments(platform.CodeCommentNotFound), &made); err != nil {
		return "", err
	}
	if _, _, ok := parse(made.URN); !ok {
		return "", p.Client.Garbled(call, errIncomplete)
	}
	return made.URN, nil
}

// DeleteComment implements platform.CommentDeleter.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.Published,
	commentID string) error {
	thread, id, ok := parse(commentID)
	if !ok {
		return nil
	}
	call := p.Call(http.MethodDelete, "/rest/socialActions/"+url.PathEscape(thread)+"/comments/"+id, a.Token.Access)
	call.Query = url.Values{"actor": {a.ID}}
	err := p.Client.JSON(ctx, call, p.ofComments(platform.CodeCommentNotFound), nil)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// parse returns the post and the number of a comment from its URN.
func parse(urn string) (thread, id string, ok bool) {
	inner, of := strings.CutPrefix(urn, commentPrefix)
	inner, whole := strings.CutSuffix(inner, ")")
	thread, id, both := strings.Cut(inner, ",")
	_, err := strconv.ParseUint(id, 10, 64)
	return thread, id, of && whole && both && err == nil && strings.HasPrefix(thread, "urn:li:")
}

// ofComments classifies the refusals of calls about comments. What does not exist has the code absent.
func (p *Platform) ofComments(absent platform.Code) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		switch {
		case a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") == "":
			return platform.Limited(15 * time.Minute) // a reply ends within an hour
		case a.Status != http.StatusNotFound:
			return p.refused(publishes, true)(a)
		case absent == platform.CodeCommentNotFound:
			return platform.CommentGone()
		}
		return platform.Reject(absent, "LinkedIn does not have the post.")
	}
}
