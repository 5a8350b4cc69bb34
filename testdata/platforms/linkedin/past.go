package linkedin

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/content-automation/api/testdata/platforms/control"
)

// share begins the id of an earlier post.
const share = "urn:li:share:"

// past lists the posts of the organisation: the given ones, one that it has passed on, and the earlier ones.
func (f *Fake) past(w http.ResponseWriter, r *http.Request, elements []any) {
	start, _ := strconv.Atoi(r.URL.Query().Get("start"))
	first := len(elements) + 1
	if start == 0 {
		elements = append(elements, map[string]any{"id": share + "1", "commentary": "Of others",
			"createdAt": f.Now().UnixMilli(), "reshareContext": map[string]string{"parent": share + "2"}})
	} else {
		elements = []any{}
	}
	posts, next := f.Past(strconv.Itoa(max(0, start-first)))
	for _, p := range posts {
		e := map[string]any{"id": share + p.ID, "commentary": strings.ReplaceAll(p.Text, "(", `\(`) +
			` {hashtag|\#|shoes}`, "createdAt": p.At.UnixMilli()}
		if p.Video {
			e["content"] = map[string]any{"media": map[string]string{"id": "urn:li:video:" + p.ID}}
		}
		elements = append(elements, e)
	}
	links := []any{}
	if next != "" {
		links = append(links, map[string]string{"rel": "next", "href": "/rest/posts?start=" + next})
	}
	control.JSON(w, http.StatusOK, map[string]any{"elements": elements,
		"paging": map[string]any{"start": start, "count": len(elements), "links": links}})
}

// old reports whether an id is that of an earlier post.
func (f *Fake) old(id string) bool {
	post, ok := strings.CutPrefix(id, share)
	return ok && f.FindPast(post)
}
