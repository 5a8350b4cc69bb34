package tiktok

import (
	"net/http"
	"strconv"
	"strings"
)

// Address returns the address of a post, or "" if it has none. Addresses of photos and videos
// differ.
func (f *Fake) Address(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pubs {
		switch {
		case p.post != id:
		case p.photos != nil:
			return "https://www.tiktok.com/@acme/photo/" + id
		default:
			return "https://www.tiktok.com/@acme/video/" + id
		}
	}
	return ""
}

func (f *Fake) status(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID string `json:"publish_id"`
	}
	if !decode(r, &body) {
		bad(w)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pubs[body.ID]
	if p == nil {
		refuse(w, http.StatusBadRequest, "invalid_publish_id")
		return
	}
	state := map[string]any{"status": "PROCESSING_UPLOAD", "uploaded_bytes": p.received,
		"publicaly_available_post_id": []any{}}
	switch age := f.Now().Sub(p.complete); {
	case p.complete.IsZero():
	case age < f.Took && p.photos != nil:
		state["status"] = "PROCESSING_DOWNLOAD"
	case age < f.Took:
	case p.reason != "":
		state["status"], state["fail_reason"] = "FAILED", p.reason
	default:
		state["status"] = "PUBLISH_COMPLETE"
		if n, err := strconv.ParseInt(p.post, 10, 64); err == nil && age >= f.Moderated &&
			p.info.Privacy == "PUBLIC_TO_EVERYONE" {
			state["publicaly_available_post_id"] = []int64{n}
		}
	}
	answer(w, state)
}

func (f *Fake) query(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Filters struct {
			IDs []string `json:"video_ids"`
		} `json:"filters"`
	}
	if !decode(r, &body) || len(body.Filters.IDs) != 1 || !strings.Contains(r.URL.Query().Get("fields"), "view_count") {
		bad(w)
		return
	}
	videos := []any{}
	if p, ok := f.Find(body.Filters.IDs[0]); ok {
		videos = append(videos, map[string]any{"id": p.ID, "view_count": 90, "like_count": 9, "comment_count": 2,
			"share_count": 1})
	}
	answer(w, map[string]any{"videos": videos})
}
