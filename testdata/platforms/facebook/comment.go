package facebook

import (
	"net/http"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/meta"
)

// comments lists the comments on a post and the replies to them in one list.
func (f *Fake) comments(w http.ResponseWriter, r *http.Request) {
	post, q := r.PathValue("post"), r.URL.Query()
	if _, ok := f.Find(post); !ok {
		absent(w)
		return
	}
	if q.Get("filter") != "stream" {
		bad(w)
		return
	}
	data := []any{}
	for _, c := range f.CommentsOn(post) {
		n := map[string]any{"id": c.ID, "message": c.Text, "is_hidden": c.Hidden,
			"created_time": c.At.UTC().Format("2006-01-02T15:04:05-0700")}
		if c.Own {
			n["from"] = map[string]string{"id": Page, "name": "Acme"}
		} else if c.Name != "" {
			n["from"] = map[string]string{"id": "77", "name": c.Name}
		}
		if c.Parent != "" {
			n["parent"] = map[string]string{"id": c.Parent}
		}
		data = append(data, n)
	}
	meta.List(w, r, data)
}

// search finds the pages of places.
func search(w http.ResponseWriter, r *http.Request) {
	if !control.Search(w, r) {
		bad(w)
	}
}
