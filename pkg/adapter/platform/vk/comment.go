package vk

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// commentPage is the number of comments of a page.
const commentPage = 100

// threadItems is the most replies that VK shows below each comment of a page.
const threadItems = 10

// wallComment is a comment on a wall.
type wallComment struct {
	ID      int64  `json:"id"`
	From    int64  `json:"from_id"`
	Date    int64  `json:"date"`
	Text    string `json:"text"`
	Deleted bool   `json:"deleted"`
	Thread  struct {
		Count int           `json:"count"`
		Items []wallComment `json:"items"`
	} `json:"thread"`
}

// person is a user or a community.
type person struct {
	ID     int64  `json:"id"`
	First  string `json:"first_name"`
	Last   string `json:"last_name"`
	Name   string `json:"name"`
	Screen string `json:"screen_name"`
}

// Comments implements platform.CommentReader.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.Published,
	after string) (page platform.CommentPage, err error) {
	if a.Token.Refresh == "" {
		return page, platform.Unsupported("reading comments with the token of a community")
	}
	offset, _ := strconv.Atoi(after)
	var answer struct {
		Count    int           `json:"current_level_count"`
		Items    []wallComment `json:"items"`
		Profiles []person      `json:"profiles"`
		Groups   []person      `json:"groups"`
	}
	err = p.call(ctx, a, "wall.getComments", url.Values{"owner_id": {a.ID}, "post_id": {post.ID}, "sort": {"desc"},
		"count": {strconv.Itoa(commentPage)}, "offset": {strconv.Itoa(offset)}, "extended": {"1"},
		"thread_items_count": {strconv.Itoa(threadItems)}, "fields": {"screen_name"}}, false, &answer)
	if err != nil {
		return page, err
	}
	authors := map[int64]platform.Author{}
	for _, u := range answer.Profiles {
		authors[u.ID] = u.author()
	}
	for _, g := range answer.Groups {
		authors[-g.ID] = g.author()
	}
	add := func(c wallComment, parent string) {
		if c.Deleted {
			return
		}
		page.Comments = append(page.Comments, platform.Comment{ID: strconv.FormatInt(c.ID, 10), ParentID: parent,
			Author: authors[c.From], Text: c.Text, At: time.Unix(c.Date, 0),
			Own: strconv.FormatInt(c.From, 10) == a.ID})
	}
	for _, c := range answer.Items {
		add(c, "")
		for _, r := range c.Thread.Items {
			add(r, strconv.FormatInt(c.ID, 10))
		}
		page.Partial = page.Partial || c.Thread.Count > len(c.Thread.Items)
	}
	if next := offset + len(answer.Items); len(answer.Items) == commentPage && next < answer.Count {
		page.Next = strconv.Itoa(next)
	}
	return page, nil
}

func (u person) author() platform.Author {
	a := platform.Author{Name: strings.TrimSpace(u.Name + u.First + " " + u.Last)}
	if u.Screen != "" {
		a.Handle = "@" + u.Screen
	}
	return a
}

// Reply implements platform.Replier. VK takes a comment with the same guid once.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	var made struct {
		ID int64 `json:"comment_id"`
	}
	err := p.call(ctx, a, "wall.createComment", url.Values{"owner_id": {a.ID}, "post_id": {r.Post.ID},
		"from_group": {community(a)}, "message": {r.Text}, "reply_to_comment": {r.To.ID}, "guid": {r.Key}}, true, &made)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(made.ID, 10), nil
}

// DeleteComment implements platform.CommentDeleter.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.Published,
	commentID string) error {
	var done int
	err := p.call(ctx, a, "wall.deleteComment", url.Values{"owner_id": {a.ID}, "comment_id": {commentID}}, false, &done)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// taken is the answer to a webhook that VK does not send again.
const taken = "ok"

// Announced implements platform.Announcer. Each community has a confirmation of its own.
func (p *Platform) Announced(ctx context.Context, h platform.Hook) (all []platform.Announced, answer string,
	err error) {
	app, err := p.Client.App(ctx)
	if err != nil {
		return nil, "", err
	}
	var body struct {
		Type   string `json:"type"`
		Group  int64  `json:"group_id"`
		Secret string `json:"secret"`
		Object struct {
			Post int64 `json:"post_id"`
		} `json:"object"`
	}
	if h.Method != http.MethodPost || json.Unmarshal(h.Body, &body) != nil ||
		!platform.SameSecret(body.Secret, app.HookToken) {
		return nil, "", platform.ErrForged
	}
	switch body.Type {
	case "confirmation":
		for _, c := range strings.Fields(app.Confirmations) {
			if group, text, ok := strings.Cut(c, "="); ok && group == strconv.FormatInt(body.Group, 10) {
				return nil, text, nil
			}
		}
		return nil, "", platform.ErrForged
	case "wall_reply_new", "wall_reply_edit", "wall_reply_delete", "wall_reply_restore":
		return []platform.Announced{{Account: strconv.FormatInt(-body.Group, 10),
			Post: strconv.FormatInt(body.Object.Post, 10)}}, taken, nil
	}
	return nil, taken, nil
}
