package vk

import (
	"net/http"
	"net/url"
	"strconv"
)

// past lists the earlier posts of the community.
func (f *Fake) past(w http.ResponseWriter, q url.Values) {
	if q.Get("owner_id") != "-"+strconv.Itoa(Group) || q.Get("filter") != "owner" {
		refuse(w, 100)
		return
	}
	posts, next := f.Past(q.Get("offset"))
	count := func(n int) map[string]int { return map[string]int{"count": n} }
	items := []any{}
	for _, p := range posts {
		id, _ := strconv.Atoi(p.ID)
		attached := []any{}
		if p.Video {
			attached = append(attached, map[string]string{"type": "video"})
		}
		items = append(items, map[string]any{"id": id, "date": p.At.Unix(), "text": p.Text, "attachments": attached,
			"views": count(100), "likes": count(p.Likes), "comments": count(3), "reposts": count(2)})
	}
	all, _ := strconv.Atoi(q.Get("offset"))
	if all += len(items); next != "" {
		all++
	}
	answer(w, map[string]any{"count": all, "items": items})
}
