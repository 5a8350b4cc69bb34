package bluesky

import (
	"context"
	"errors"
	"hash/fnv"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// threadDepth is the depth of replies that are read.
const threadDepth = "6"

// threadPost is a post in a thread. A post that is gone or blocked has no address.
type threadPost struct {
	Post struct {
		URI    string `json:"uri"`
		Author struct {
			DID    string `json:"did"`
			Handle string `json:"handle"`
			Name   string `json:"displayName"`
		} `json:"author"`
		Record struct {
			Text      string    `json:"text"`
			CreatedAt time.Time `json:"createdAt"`
		} `json:"record"`
		Replies int `json:"replyCount"`
	} `json:"post"`
	Replies []threadPost `json:"replies"`
}

// Comments implements platform.CommentReader. The replies to a post are one page, which lacks those below threadDepth.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.Published,
	_ string) (page platform.CommentPage, err error) {
	var answer struct {
		Thread threadPost `json:"thread"`
	}
	err = p.Get(ctx, a.Token.Access, "app.bsky.feed.getPostThread", url.Values{"uri": {post.ID},
		"depth": {threadDepth}, "parentHeight": {"0"}}, &answer)
	if err != nil {
		return page, err
	}
	var add func(of []threadPost, parent string)
	add = func(of []threadPost, parent string) {
		for _, t := range of {
			if t.Post.URI == "" {
				continue
			}
			page.Comments = append(page.Comments, platform.Comment{ID: t.Post.URI, ParentID: parent,
				Author: platform.Author{Handle: "@" + t.Post.Author.Handle, Name: t.Post.Author.Name},
				Text:   t.Post.Record.Text, At: t.Post.Record.CreatedAt, Own: t.Post.Author.DID == a.ID})
			page.Partial = page.Partial || t.Post.Replies > len(t.Replies)
			add(t.Replies, t.Post.URI)
		}
	}
	add(answer.Thread.Replies, "")
	return page, nil
}

// Reply implements platform.Replier. Its record names the hashes of the post and of the comment.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	var answer struct {
		Posts []record `json:"posts"`
	}
	err := p.Get(ctx, a.Token.Access, "app.bsky.feed.getPosts", url.Values{"uris": {r.Post.ID, r.To.ID}}, &answer)
	if err != nil {
		return "", err
	}
	refs := map[string]record{}
	for _, one := range answer.Posts {
		refs[one.URI] = one
	}
	root, parent := refs[r.Post.ID], refs[r.To.ID]
	if root.CID == "" || parent.CID == "" {
		return "", platform.CommentGone()
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Key)) // a hash takes all
	text := map[string]any{"$type": collection, "text": r.Text, "createdAt": r.At.UTC().Format(
		"2006-01-02T15:04:05.000Z"),
		"reply": map[string]record{"root": root, "parent": parent}}
	if facets := (state{}).facets(r.Text); len(facets) > 0 {
		text["facets"] = facets
	}
	call := p.Call(http.MethodPost, "com.atproto.repo.createRecord", a.Token.Access)
	call.Posts = true
	call.JSON = map[string]any{"repo": a.ID, "collection": collection, "record": text,
		"rkey": tid(uint64(r.At.UnixMicro())<<10 | uint64(h.Sum32()&1023))}
	var made record
	if err := p.Send(ctx, call, &made); err != nil {
		return "", err
	}
	if made.URI == "" {
		return "", p.Client.Garbled(call, errors.New("there is no address"))
	}
	return made.URI, nil
}
