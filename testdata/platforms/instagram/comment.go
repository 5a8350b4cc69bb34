package instagram

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/meta"
)

// node returns a comment as the Graph API does.
func commentNode(c control.Comment) map[string]any {
	n := map[string]any{"id": c.ID, "text": c.Text, "hidden": c.Hidden, "username": c.Handle,
		"timestamp": c.At.UTC().Format("2006-01-02T15:04:05-0700"), "from": map[string]string{"id": "1", "username": c.Handle}}
	if c.Own {
		n["username"], n["from"] = "acme", map[string]string{"id": User, "username": "acme"}
	}
	return n
}

// comments lists the comments on a post, each with the replies to it.
func (f *Fake) comments(w http.ResponseWriter, r *http.Request) {
	post := r.PathValue("media")
	if _, ok := f.Find(post); !ok || !strings.HasPrefix(r.URL.Query().Get("fields"), "id,text,timestamp,username,hidden") {
		bad(w, 33)
		return
	}
	all := f.CommentsOn(post)
	data := []any{}
	for _, c := range all {
		if c.Parent != "" {
			continue
		}
		n, replies := commentNode(c), []any{}
		for _, r := range all {
			if r.Parent == c.ID {
				replies = append(replies, commentNode(r))
			}
		}
		if len(replies) > 0 {
			n["replies"] = map[string]any{"data": replies}
		}
		data = append(data, n)
	}
	meta.List(w, r, data)
}

// reply writes a reply to a comment on a post. Replies take none.
func (f *Fake) reply(w http.ResponseWriter, r *http.Request) {
	c, ok := f.FindComment(r.PathValue("comment"))
	text := r.FormValue("message")
	if !ok || c.Parent != "" || text == "" || utf8.RuneCountInString(text) > 300 {
		bad(w, 33)
		return
	}
	c = f.AddComment(control.Comment{Post: c.Post, Parent: c.ID, Text: text, Own: true})
	control.JSON(w, http.StatusOK, map[string]string{"id": c.ID})
}

func (f *Fake) hide(w http.ResponseWriter, r *http.Request) {
	if hide := r.FormValue("hide"); hide != "true" && hide != "false" || !f.HideComment(r.PathValue("comment"),
		hide == "true") {
		bad(w, 33)
		return
	}
	control.JSON(w, http.StatusOK, map[string]bool{"success": true})
}

func (f *Fake) removeComment(w http.ResponseWriter, r *http.Request) {
	if !f.RemoveComment(r.PathValue("comment")) {
		bad(w, 33)
		return
	}
	control.JSON(w, http.StatusOK, map[string]bool{"success": true})
}
