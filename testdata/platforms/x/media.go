package x

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

type file struct {
	mime     string
	size     int64
	segments map[int]string
	lengths  map[int]int64
	whole    time.Time
	alt      string
}

func (f *Fake) initialize(w http.ResponseWriter, r *http.Request) {
	var body struct {
		MIME     string `json:"media_type"`
		Bytes    int64  `json:"total_bytes"`
		Category string `json:"media_category"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	// The sizes are those of the page on best practices for media.
	kind, _, _ := strings.Cut(body.MIME, "/")
	if err != nil || body.Bytes <= 0 || body.Category != "tweet_"+kind ||
		kind == "image" && body.Bytes > 5_000_000 || kind == "video" && body.Bytes > 512_000_000 {
		bad(w)
		return
	}
	id := f.ID()
	f.mu.Lock()
	f.files[id] = &file{mime: body.MIME, size: body.Bytes, segments: map[int]string{}, lengths: map[int]int64{}}
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]any{"data": map[string]string{"id": id}})
}

func (f *Fake) append(w http.ResponseWriter, r *http.Request) {
	part, _, err := r.FormFile("media")
	if err != nil {
		bad(w)
		return
	}
	defer part.Close()
	n, sum, err := control.Sum(part)
	index, bad1 := strconv.Atoi(r.FormValue("segment_index"))
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.files[r.PathValue("id")]
	if c == nil || err != nil || bad1 != nil || n > 1<<20 || !c.whole.IsZero() {
		bad(w)
		return
	}
	c.segments[index], c.lengths[index] = sum, n
	w.WriteHeader(http.StatusNoContent)
}

// finalize refuses a call without an object of JSON: "Request body must be a JSON object." (trypostit/trypost #202).
func (f *Fake) finalize(w http.ResponseWriter, r *http.Request) {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") ||
		json.NewDecoder(r.Body).Decode(&map[string]any{}) != nil {
		bad(w)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.files[r.PathValue("id")]
	if c == nil {
		bad(w)
		return
	}
	var size int64
	for _, n := range c.lengths {
		size += n
	}
	if size != c.size {
		bad(w)
		return
	}
	if c.whole.IsZero() {
		c.whole = f.Now()
	}
	f.show(w, r.PathValue("id"), c)
}

// show writes the state of a file. The caller holds mu.
func (f *Fake) show(w http.ResponseWriter, id string, c *file) {
	data := map[string]any{"id": id}
	if strings.HasPrefix(c.mime, "video/") {
		data["processing_info"] = map[string]any{"state": "in_progress", "check_after_secs": 10}
		if f.done(c) {
			data["processing_info"] = map[string]any{"state": "succeeded"}
		}
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}

// done reports whether a file is processed. The caller holds mu.
func (f *Fake) done(c *file) bool {
	return !c.whole.IsZero() && (!strings.HasPrefix(c.mime, "video/") || f.Now().Sub(c.whole) >= f.Took)
}

func (f *Fake) status(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.URL.Query().Get("media_id")
	c := f.files[id]
	if c == nil || r.URL.Query().Get("command") != "STATUS" {
		bad(w)
		return
	}
	f.show(w, id, c)
}

func (f *Fake) metadata(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID       string `json:"id"`
		Metadata struct {
			Alt struct {
				Text string `json:"text"`
			} `json:"alt_text"`
		} `json:"metadata"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.files[body.ID]
	if err != nil || c == nil || body.Metadata.Alt.Text == "" {
		bad(w)
		return
	}
	c.alt = body.Metadata.Alt.Text
	control.JSON(w, http.StatusOK, map[string]any{"data": map[string]string{"id": body.ID}})
}
