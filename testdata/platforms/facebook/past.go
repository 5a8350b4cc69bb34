package facebook

import (
	"net/http"
	"strings"

	"github.com/content-automation/api/testdata/platforms/control"
)

// posts lists the posts of the page, newest first: those that were made through the fake, one that the page has passed
// on, and the earlier ones.
func (f *Fake) posts(w http.ResponseWriter, r *http.Request) {
	after := r.URL.Query().Get("after")
	data := []any{}
	if after == "" {
		data = append(f.made("message", false), map[string]string{"id": Page + "_1", "message": "Of others",
			"status_type": "shared_story", "created_time": f.Now().Format(control.GraphTime)})
	}
	posts, next := f.Past(after)
	for _, p := range posts {
		media := "photo"
		if p.Video {
			media = "video"
		}
		data = append(data, map[string]any{"id": Page + "_" + p.ID, "message": p.Text,
			"created_time": p.At.Format(control.GraphTime), "status_type": "mobile_status_update",
			"attachments": map[string]any{"data": []any{map[string]string{"media_type": media}}}})
	}
	control.GraphPage(w, data, next, "https://graph.facebook.com")
}

// old reports whether an id is that of an earlier post.
func (f *Fake) old(id string) bool {
	post, ok := strings.CutPrefix(id, Page+"_")
	return ok && f.FindPast(post)
}
