package threads

import (
	"net/http"

	"github.com/content-automation/api/testdata/platforms/control"
)

// past lists the earlier posts of the account, and one that it has passed on.
func (f *Fake) past(w http.ResponseWriter, r *http.Request) {
	posts, next := f.Past(r.URL.Query().Get("after"))
	data := []any{map[string]string{"id": "1", "media_type": "REPOST_FACADE",
		"timestamp": f.Now().Format(control.GraphTime)}}
	for _, p := range posts {
		kind := "TEXT_POST"
		if p.Video {
			kind = "VIDEO"
		}
		data = append(data, map[string]string{"id": p.ID, "text": p.Text, "media_type": kind,
			"timestamp": p.At.Format(control.GraphTime)})
	}
	control.GraphPage(w, data, next, "https://graph.threads.net")
}
