package instagram

import (
	"net/http"

	"github.com/content-automation/api/testdata/platforms/control"
)

// past lists the earlier posts of the account.
func (f *Fake) past(w http.ResponseWriter, r *http.Request) {
	posts, next := f.Past(r.URL.Query().Get("after"))
	data := []any{}
	for _, p := range posts {
		kind := "IMAGE"
		if p.Video {
			kind = "VIDEO"
		}
		data = append(data, map[string]string{"id": p.ID, "caption": p.Text, "media_type": kind,
			"timestamp": p.At.Format(control.GraphTime)})
	}
	control.GraphPage(w, data, next, "https://graph.facebook.com")
}
