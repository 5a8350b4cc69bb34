package x

import (
	"net/http"

	"github.com/content-automation/api/testdata/platforms/control"
)

// past lists the earlier posts of the account. X asks money for each.
func (f *Fake) past(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("exclude") != "replies,retweets" || q.Get("max_results") != "20" {
		bad(w)
		return
	}
	posts, next := f.Past(q.Get("pagination_token"))
	data, media := []any{}, []any{}
	for _, p := range posts {
		one := map[string]any{"id": p.ID, "text": p.Text, "created_at": p.At, "public_metrics": map[string]int{
			"impression_count": 100, "like_count": p.Likes, "reply_count": 1, "retweet_count": 2, "quote_count": 1,
			"bookmark_count": 3}}
		if p.Video {
			one["attachments"] = map[string]any{"media_keys": []string{"7_" + p.ID}}
			media = append(media, map[string]string{"media_key": "7_" + p.ID, "type": "video"})
		}
		data = append(data, one)
	}
	f.mu.Lock()
	f.Cost += readPrice * len(posts)
	f.mu.Unlock()
	meta := map[string]any{"result_count": len(data)}
	if next != "" {
		meta["next_token"] = next
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data, "includes": map[string]any{"media": media}, "meta": meta})
}
