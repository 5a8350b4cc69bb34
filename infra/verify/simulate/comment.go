package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/engagement"
)

var (
	_ platform.Replier        = stage{}
	_ platform.CommentHider   = stage{}
	_ platform.CommentDeleter = stage{}
)

// commenting describes a platform whose comments are read three times.
var commenting = platform.Commenting{Reads: true, Replies: true, Hides: true, Deletes: true,
	Text: platform.Text{Max: 8000}, ReadAt: []time.Duration{20 * time.Second, 2 * time.Minute, 10 * time.Minute}}

// remark adds comments of readers to a new post.
func (p *published) remark(w *world) {
	for n := range w.random.IntN(3) {
		p.comments = append(p.comments, platform.Comment{ID: fmt.Sprint(p.id, "-", n), Text: "Is it red?",
			Author: platform.Author{Handle: "@reader"}, At: time.Now()})
	}
}

// on returns the post that has an id, or nil.
func (w *world) on(id string) *published {
	for _, p := range w.posts {
		if p.id == id {
			return p
		}
	}
	return nil
}

// remarked calls a function with a comment and its post, unless the comment does not exist.
func (w *world) remarked(post, id string, do func(p *published, i int)) error {
	if p := w.on(post); p != nil {
		if i := slices.IndexFunc(p.comments, func(c platform.Comment) bool { return c.ID == id }); i >= 0 {
			do(p, i)
			return nil
		}
	}
	return platform.CommentGone()
}

// Comments implements platform.CommentReader.
func (s stage) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	_ string) (page platform.CommentPage, err error) {
	err = s.pass(ctx, "Comments", a, post.ID, platform.Busy(), func(w *world) error {
		p := w.on(post.ID)
		if p == nil {
			return platform.Reject(platform.CodePostNotFound, "Simulated.")
		}
		page.Comments = slices.Clone(p.comments)
		return nil
	})
	return page, err
}

// Reply implements platform.Replier.
func (s stage) Reply(ctx context.Context, a platform.Account, r platform.Reply) (id string, err error) {
	err = s.pass(ctx, "Reply", a, r.Key, platform.Lost(nil), func(w *world) error {
		return w.remarked(r.Post.ID, r.To.ID, func(p *published, _ int) {
			w.replies[r.Key]++
			id = fmt.Sprint(p.id, "-own-", len(w.replies), "-", w.replies[r.Key])
			p.comments = append(p.comments, platform.Comment{ID: id, ParentID: r.To.ID, Text: r.Text, At: time.Now(),
				Own: true})
		})
	})
	return id, err
}

// HideComment implements platform.CommentHider.
func (s stage) HideComment(ctx context.Context, a platform.Account, post platform.PublishedPost, id string,
	hidden bool) error {
	return s.pass(ctx, "HideComment", a, id, platform.Lost(nil), func(w *world) error {
		return w.remarked(post.ID, id, func(p *published, i int) { p.comments[i].Hidden = platform.Shown(hidden) })
	})
}

// DeleteComment implements platform.CommentDeleter.
func (s stage) DeleteComment(ctx context.Context, a platform.Account, post platform.PublishedPost, id string) error {
	err := s.pass(ctx, "DeleteComment", a, id, platform.Lost(nil), func(w *world) error {
		return w.remarked(post.ID, id, func(p *published, i int) { p.comments = slices.Delete(p.comments, i, i+1) })
	})
	if platform.Gone(err) {
		return nil
	}
	return err
}

// discuss publishes a post, waits for comments and answers some.
func (c *caller) discuss() {
	var one struct{ ID string }
	body := object{"factory_id": c.factory, "kind": "post", "source": "provided",
		"caption": fmt.Sprint("Any questions? ", c.calls)}
	if c.call(http.MethodPost, "/v1/content-items", body, &one) != http.StatusAccepted {
		return
	}
	path := "/v1/content-items/" + one.ID
	c.items = append(c.items, path)
	<-time.After(between(c.random, time.Second, 30*time.Second))
	c.call(http.MethodPost, "/v1/approvals/"+one.ID+"/approve", nil, nil)
	c.call(http.MethodPost, path+"/publish", object{"social_account_ids": c.accounts[:1]}, nil)
	for range 10 {
		<-time.After(between(c.random, time.Second, time.Minute))
		if c.random.IntN(4) > 0 {
			c.answer()
		}
	}
}

// answer replies to a comment, hides it, shows it or deletes it, if there is one.
func (c *caller) answer() {
	var all []struct {
		ID    string
		State string
	}
	c.call(http.MethodGet, "/v1/comments", nil, &all)
	if len(all) == 0 {
		return
	}
	one := all[c.random.IntN(len(all))]
	path := "/v1/comments/" + one.ID
	switch c.random.IntN(6) {
	case 0:
		c.call(http.MethodDelete, path, nil, nil)
	case 1:
		c.call(http.MethodPatch, path, object{"state": "hidden"}, nil)
	case 2:
		c.call(http.MethodPatch, path, object{"state": "visible"}, nil)
	default:
		c.call(http.MethodPost, path+"/replies", object{"text": fmt.Sprint("Yes ", c.calls)}, nil)
	}
}

// checkComments checks that no reply was written twice, that each reply and each change has ended, and that the
// platform has what they report.
func (w *world) checkComments(fail func(format string, args ...any)) {
	for key, times := range w.replies {
		if times > 1 {
			fail("the reply %s was written %d times", key, times)
		}
	}
	for _, it := range w.items() {
		if textOf(it, "kind") != engagement.Kind {
			continue
		}
		var r engagement.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		if r.Change != nil && r.Change.State == engagement.Pending {
			fail("the change of %s has not ended", r.ID)
		}
		if r.Reply == nil {
			continue
		}
		switch times := w.replies[fmt.Sprint(r.ID, "-", r.Replies)]; {
		case r.Reply.State == engagement.Pending:
			fail("the reply to %s has not ended", r.ID)
		case r.Reply.State == engagement.Done && times != 1:
			fail("the reply to %s is reported, and was written %d times", r.ID, times)
		case r.Reply.State == engagement.Failed && times > 0 &&
			r.Reply.Failure.Code != string(platform.CodeOutcomeUnknown):
			fail("the reply to %s failed with %s, and was written", r.ID, r.Reply.Failure.Code)
		}
	}
}
