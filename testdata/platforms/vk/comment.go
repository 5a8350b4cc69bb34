package vk

import (
	"net/http"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
)

// createComment writes a comment. VK takes a comment with the same guid once.
func (f *Fake) createComment(w http.ResponseWriter, q url.Values) {
	to := q.Get("reply_to_comment")
	if utf8.RuneCountInString(q.Get("message")) > 4096 {
		refuse(w, 100)
		return
	}
	if to == "" {
		f.Comment(q.Get("message"))
		answer(w, map[string]any{"comment_id": f.Small()})
		return
	}
	c, ok := f.FindComment(to)
	if !ok {
		refuse(w, 211)
		return
	}
	f.mu.Lock()
	id, known := f.guids[q.Get("guid")]
	if !known {
		id = f.Small()
		f.guids[q.Get("guid")] = id
	}
	f.mu.Unlock()
	if !known {
		f.AddComment(control.Comment{ID: strconv.FormatInt(id, 10), Post: c.Post, Parent: c.ID, Text: q.Get("message"),
			Own: true})
	}
	answer(w, map[string]any{"comment_id": id})
}

func (f *Fake) deleteComment(w http.ResponseWriter, q url.Values) {
	if !f.RemoveComment(q.Get("comment_id")) {
		refuse(w, 211)
		return
	}
	answer(w, 1)
}

func (f *Fake) getComments(w http.ResponseWriter, q url.Values) {
	all := f.CommentsOn(q.Get("post_id"))
	node := func(c control.Comment) map[string]any {
		id, _ := strconv.ParseInt(c.ID, 10, 64)
		from := int64(5)
		if c.Own {
			from = -Group
		}
		return map[string]any{"id": id, "from_id": from, "date": c.At.Unix(), "text": c.Text}
	}
	items := []any{}
	for _, c := range all {
		if c.Parent != "" {
			continue
		}
		n, replies := node(c), []any{}
		for _, r := range all {
			if r.Parent == c.ID {
				replies = append(replies, node(r))
			}
		}
		n["thread"] = map[string]any{"count": len(replies), "items": replies}
		items = append(items, n)
	}
	count, err := strconv.Atoi(q.Get("count"))
	offset, _ := strconv.Atoi(q.Get("offset"))
	if err != nil || count < 0 || count > 100 || offset < 0 {
		refuse(w, 100)
		return
	}
	level := len(items)
	items = items[min(offset, level):min(offset+count, level)]
	answer(w, map[string]any{"count": len(all), "current_level_count": level, "items": items,
		"profiles": []any{map[string]any{"id": 5, "first_name": "A", "last_name": "reader", "screen_name": "reader"}},
		"groups":   []any{}})
}
