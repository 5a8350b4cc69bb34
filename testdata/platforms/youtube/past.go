package youtube

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// uploads is the playlist of all uploads of the channel.
const uploads = "UU0000000000000000000001"

// listPast lists the earlier videos of the channel.
func (f *Fake) listPast(w http.ResponseWriter, page string) {
	posts, next := f.Past(page)
	items := []any{}
	for _, p := range posts {
		items = append(items, map[string]any{"contentDetails": map[string]string{"videoId": p.ID}})
	}
	answer := map[string]any{"items": items}
	if next != "" {
		answer["nextPageToken"] = next
	}
	control.JSON(w, http.StatusOK, answer)
}

// past returns earlier videos by their ids.
func (f *Fake) past(w http.ResponseWriter, ids string) {
	items := []any{}
	for page := ""; ; {
		posts, next := f.Past(page)
		for _, p := range posts {
			if slices.Contains(strings.Split(ids, ","), p.ID) {
				items = append(items, map[string]any{"id": p.ID, "snippet": map[string]string{"title": p.Text,
					"publishedAt": p.At.Format(time.RFC3339)}, "statistics": map[string]string{"viewCount": "100",
					"likeCount": strconv.Itoa(p.Likes), "commentCount": "3"}})
			}
		}
		if page = next; page == "" {
			break
		}
	}
	control.JSON(w, http.StatusOK, map[string]any{"items": items})
}
