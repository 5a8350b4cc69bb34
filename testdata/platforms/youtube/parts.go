package youtube

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Playlist is the one playlist of the channel.
const Playlist = "PLacme0001"

// parts are what was added to videos.
type parts struct {
	// listed has the videos of the playlist, and tracks the sum of the captions of each video.
	listed, tracks map[string]string
	// opened are the sessions of captions, by their id.
	opened map[string]string
}

func (f *Fake) handleParts(mux *http.ServeMux) {
	f.parts = parts{map[string]string{}, map[string]string{}, map[string]string{}}
	mux.HandleFunc("POST /upload/youtube/v3/thumbnails/set", f.cover)
	mux.HandleFunc("GET /youtube/v3/playlists", f.playlists)
	mux.HandleFunc("GET /youtube/v3/playlistItems", f.items)
	mux.HandleFunc("POST /youtube/v3/playlistItems", f.list)
	mux.HandleFunc("POST /upload/youtube/v3/captions", f.openCaptions)
	mux.HandleFunc("PUT /upload/youtube/v3/captions", f.putCaptions)
}

// show adds a part to the content of a video.
func (f *Fake) show(video, part string) {
	p, _ := f.Find(video)
	f.Rewrite(video, p.Content+" "+part)
}

func (f *Fake) playlists(w http.ResponseWriter, r *http.Request) {
	if q := r.URL.Query(); q.Get("part") != "snippet" || q.Get("mine") != "true" {
		refuse(w, http.StatusBadRequest, "missingRequiredParameter")
		return
	}
	all := []any{map[string]any{"id": Playlist, "snippet": map[string]string{"title": "Shoes of 2027"}},
		map[string]any{"id": "PLacme0002", "snippet": map[string]string{"title": "Songs"}}}
	for n := range f.More {
		all = append(all, map[string]any{"id": fmt.Sprint("PLmore", n), "snippet": map[string]string{
			"title": fmt.Sprint("List ", n)}})
	}
	page(w, r, all)
}

func (f *Fake) items(w http.ResponseWriter, r *http.Request) {
	q, items := r.URL.Query(), []any{}
	if q.Get("playlistId") == uploads {
		f.listPast(w, q.Get("pageToken"))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.Get("playlistId") != Playlist {
		refuse(w, http.StatusNotFound, "playlistNotFound")
		return
	}
	if f.parts.listed[q.Get("videoId")] != "" {
		items = append(items, map[string]string{"id": "item"})
	}
	control.JSON(w, http.StatusOK, map[string]any{"items": items})
}

// list adds a video to the playlist. A video that is added twice is there twice.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Snippet struct {
			Playlist string `json:"playlistId"`
			Resource struct {
				Kind  string `json:"kind"`
				Video string `json:"videoId"`
			} `json:"resourceId"`
		} `json:"snippet"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	video := body.Snippet.Resource.Video
	if _, ok := f.Find(video); err != nil || !ok || body.Snippet.Resource.Kind != "youtube#video" {
		refuse(w, http.StatusBadRequest, "invalidPlaylistItem")
		return
	}
	if body.Snippet.Playlist != Playlist {
		refuse(w, http.StatusNotFound, "playlistNotFound")
		return
	}
	f.mu.Lock()
	f.parts.listed[video] = Playlist
	f.mu.Unlock()
	f.show(video, "listed in "+Playlist)
	control.JSON(w, http.StatusOK, map[string]string{"id": "item"})
}

func (f *Fake) openCaptions(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Snippet struct {
			Video    string  `json:"videoId"`
			Language string  `json:"language"`
			Name     *string `json:"name"`
		} `json:"snippet"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	video := body.Snippet.Video
	_, ok := f.Find(video)
	f.mu.Lock()
	exists := f.parts.tracks[video] != ""
	id := fmt.Sprint(len(f.parts.opened) + 1)
	f.parts.opened[id] = video + " " + body.Snippet.Language
	f.mu.Unlock()
	switch {
	case err != nil || !ok || body.Snippet.Language == "" || body.Snippet.Name == nil ||
		r.Header.Get("X-Upload-Content-Type") != "text/vtt":
		refuse(w, http.StatusBadRequest, "invalidMetadata")
	case exists:
		refuse(w, http.StatusConflict, "captionExists")
	default:
		w.Header().Set("Location", control.Base(r)+"/upload/youtube/v3/captions?upload_id="+id)
	}
}

func (f *Fake) putCaptions(w http.ResponseWriter, r *http.Request) {
	_, sum, err := control.Sum(r.Body)
	f.mu.Lock()
	video, language, ok := strings.Cut(f.parts.opened[r.URL.Query().Get("upload_id")], " ")
	if ok && err == nil {
		f.parts.tracks[video] = sum
	}
	f.mu.Unlock()
	if !ok || err != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		refuse(w, http.StatusBadRequest, "invalidMetadata")
		return
	}
	f.show(video, "captions "+language+" "+sum)
	control.JSON(w, http.StatusOK, map[string]string{"id": "track"})
}

// cover sets the cover of a video.
func (f *Fake) cover(w http.ResponseWriter, r *http.Request) {
	n, sum, err := control.Sum(r.Body)
	post, ok := f.Find(r.URL.Query().Get("videoId"))
	if ok && (f.NoCovers || !f.Landscape && !f.processed(post)) {
		refuse(w, http.StatusForbidden, "forbidden")
		return
	}
	if err != nil || !ok || n == 0 || n > 2<<20 || !strings.HasPrefix(r.Header.Get("Content-Type"), "image/") {
		refuse(w, http.StatusBadRequest, "invalidImage")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Covers[r.URL.Query().Get("videoId")] = sum
	control.JSON(w, http.StatusOK, map[string]any{"kind": "youtube#thumbnailSetResponse"})
}
