package threads

import (
	"net/http"

	"github.com/content-automation/api/testdata/platforms/control"
)

// past lists the earlier posts of the account, and one that it has passed on.
func (f *Fake) past(w http.ResponseWriter, r *http.Request) {
	posts, next := f.Past(r.URL.Query().Get("after"))
	data := []any{map[string]string{"id": "1", "media_type": "REPOST_FACADE",
		"timestamp": f.Now().Format("2006-01-02T15:04:05-0700")}}
	for _, p := range posts {
		kind := "TEXT_POST"
		if p.Video {
			kind = "VIDEO"
		}
		data = append(data, map[string]string{"id": p.ID, "text": p.Text, "media_type": kind,
			"timestamp": p.At.Format("2006-01-02T15:04:05-0700")})
	}
	paging := map[string]any{"cursors": map[string]string{"before": "0", "after": next}}
	if next != "" {
		paging["next"] = "https://graph.threads.net/" + next
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data, "paging": paging})
}
