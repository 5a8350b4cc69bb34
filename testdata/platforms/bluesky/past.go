package bluesky

import (
	"net/http"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// past lists the earlier posts of the account, and a post that it has passed on.
func (f *Fake) past(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("actor") != DID || q.Get("filter") != "posts_no_replies" {
		invalid(w)
		return
	}
	posts, next := f.Past(q.Get("cursor"))
	feed := []any{map[string]any{"reason": map[string]string{"$type": "app.bsky.feed.defs#reasonRepost"},
		"post": map[string]any{"uri": "at://did:plc:reader/app.bsky.feed.post/1"}}}
	for _, p := range posts {
		embed := map[string]any{}
		if p.Video {
			embed["$type"] = "app.bsky.embed.video#view"
		}
		feed = append(feed, map[string]any{"post": map[string]any{"uri": "at://" + DID + "/app.bsky.feed.post/" + p.ID,
			"record": map[string]any{"text": p.Text, "createdAt": p.At.Format(time.RFC3339)}, "embed": embed,
			"likeCount": p.Likes, "repostCount": 2, "quoteCount": 1, "replyCount": 3, "bookmarkCount": 4}})
	}
	answer := map[string]any{"feed": feed}
	if next != "" {
		answer["cursor"] = next
	}
	control.JSON(w, http.StatusOK, answer)
}
