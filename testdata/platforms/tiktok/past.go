package tiktok

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/content-automation/api/testdata/platforms/control"
)

// past lists the earlier videos of the account.
func (f *Fake) past(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Most   int `json:"max_count"`
		Cursor int `json:"cursor"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Most > 20 ||
		!strings.Contains(r.URL.Query().Get("fields"), "create_time") {
		refuse(w, http.StatusBadRequest, "invalid_params")
		return
	}
	posts, next := f.Past(strconv.Itoa(body.Cursor))
	videos := []any{}
	for _, p := range posts {
		videos = append(videos, map[string]any{"id": p.ID, "video_description": p.Text, "create_time": p.At.Unix(),
			"view_count": 100, "like_count": p.Likes, "comment_count": 3, "share_count": 2})
	}
	cursor, _ := strconv.Atoi(next)
	control.JSON(w, http.StatusOK, map[string]any{"data": map[string]any{"videos": videos, "cursor": cursor,
		"has_more": next != ""}, "error": map[string]string{"code": "ok"}})
}
