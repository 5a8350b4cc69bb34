package threads

import (
	"net/http"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/meta"
)

// conversation lists the replies to a post and the replies to them in one list.
func (f *Fake) conversation(w http.ResponseWriter, r *http.Request) {
	post := r.PathValue("media")
	if _, ok := f.Find(post); !ok {
		absent(w)
		return
	}
	data := []any{}
	for _, c := range f.CommentsOn(post) {
		n := map[string]any{"id": c.ID, "text": c.Text, "username": c.Handle, "hide_status": "NOT_HUSHED",
			"timestamp": c.At.UTC().Format("2006-01-02T15:04:05-0700"), "is_reply_owned_by_me": c.Own,
			"replied_to": map[string]string{"id": post}}
		if c.Parent != "" {
			n["replied_to"] = map[string]string{"id": c.Parent}
		}
		if c.Hidden {
			n["hide_status"] = "HIDDEN"
		}
		data = append(data, n)
	}
	meta.List(w, r, data)
}

func (f *Fake) hide(w http.ResponseWriter, r *http.Request) {
	if hide := r.FormValue("hide"); hide != "true" && hide != "false" || !f.HideComment(r.PathValue("comment"),
		hide == "true") {
		absent(w)
		return
	}
	control.JSON(w, http.StatusOK, map[string]bool{"success": true})
}
