package tiktok

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

func (f *Fake) initVideo(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Info   info `json:"post_info"`
		Source struct {
			Source string `json:"source"`
			Size   int64  `json:"video_size"`
			Chunk  int64  `json:"chunk_size"`
			Count  int64  `json:"total_chunk_count"`
		} `json:"source_info"`
	}
	if !decode(r, &body) {
		bad(w)
		return
	}
	if !f.check(w, body.Info, 2200, 0) {
		return
	}
	s := body.Source
	single := s.Count == 1 && s.Chunk == s.Size && s.Size <= 64<<20
	several := s.Count > 1 && s.Count <= 1000 && s.Chunk >= f.MinChunk && s.Chunk <= 64<<20 && s.Count == s.Size/s.Chunk
	if s.Source != "FILE_UPLOAD" || s.Size <= 0 || s.Size > 4<<30 || !single && !several || body.Info.Duet == nil ||
		body.Info.Stitch == nil || !*body.Info.Stitch || body.Info.Generated == nil {
		bad(w)
		return
	}
	id := "v_pub_file~v2-1." + f.ID()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pubs[id] = &publication{info: body.Info, size: s.Size, chunk: s.Chunk, count: s.Count, sum: sha256.New(),
		expires: f.Now().Add(time.Hour)}
	answer(w, map[string]string{"publish_id": id, "upload_url": control.Base(r) + "/upload/" + id + "?upload_token=1"})
}

func (f *Fake) initPhotos(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Mode   string `json:"post_mode"`
		Type   string `json:"media_type"`
		Info   info   `json:"post_info"`
		Source struct {
			Source string   `json:"source"`
			Cover  int      `json:"photo_cover_index"`
			Images []string `json:"photo_images"`
		} `json:"source_info"`
	}
	if !decode(r, &body) || body.Mode != "DIRECT_POST" && body.Mode != "MEDIA_UPLOAD" || body.Type != "PHOTO" ||
		body.Source.Source != "PULL_FROM_URL" {
		bad(w)
		return
	}
	inbox := body.Mode == "MEDIA_UPLOAD"
	if scope := map[bool]string{true: "video.upload", false: "video.publish"}[inbox]; !f.may(w, scope) {
		return
	}
	if inbox && (body.Info.Privacy != "" || body.Info.Comment != nil || body.Info.Content != nil) {
		bad(w) // The creator chooses these in TikTok.
		return
	}
	if !inbox && !f.check(w, body.Info, 90, 4000) {
		return
	}
	if i := body.Info; i.Generated != nil || i.Duet != nil || i.Stitch != nil || i.Cover != nil {
		bad(w) // These fields are for videos.
		return
	}
	images := body.Source.Images
	if len(images) < 1 || len(images) > 35 || body.Source.Cover >= len(images) || body.Source.Cover < 0 {
		bad(w)
		return
	}
	if slices.ContainsFunc(images, func(u string) bool {
		return !control.Public(u) ||
			strings.Contains(u, "unverified")
	}) {
		refuse(w, http.StatusForbidden, "url_ownership_unverified")
		return
	}
	id := "p_pub_url~v2." + f.ID()
	p := &publication{info: body.Info, photos: images, inbox: inbox}
	f.mu.Lock()
	f.pubs[id] = p
	shown := strings.Join(images, " ")
	if at := body.Source.Cover; at > 0 {
		shown += fmt.Sprintf(" first %d", at)
	}
	if m := body.Info.Music; m != nil && *m {
		shown += " with music"
	}
	f.finish(p, shown)
	f.mu.Unlock()
	answer(w, map[string]string{"publish_id": id})
}

// initInbox opens a video for the inbox, of which nothing is described.
func (f *Fake) initInbox(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Source struct {
			Source string `json:"source"`
			Size   int64  `json:"video_size"`
			Chunk  int64  `json:"chunk_size"`
			Count  int64  `json:"total_chunk_count"`
		} `json:"source_info"`
	}
	if !decode(r, &body) || body.Source.Source != "FILE_UPLOAD" || body.Source.Size <= 0 {
		bad(w)
		return
	}
	id := "v_inbox_file~v2." + f.ID()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pubs[id] = &publication{inbox: true, size: body.Source.Size, chunk: body.Source.Chunk, count: body.Source.Count,
		sum: sha256.New(), expires: f.Now().Add(time.Hour)}
	answer(w, map[string]string{"publish_id": id, "upload_url": control.Base(r) + "/upload/" + id + "?upload_token=1"})
}

func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	status := f.take(r)
	_, _ = io.Copy(io.Discard, r.Body) // Read the rest of a refused body.
	w.WriteHeader(status)
}

func (f *Fake) take(r *http.Request) int {
	p := f.pubs[r.PathValue("id")]
	m := ranges.FindStringSubmatch(r.Header.Get("Content-Range"))
	if p == nil || f.Now().After(p.expires) || !p.complete.IsZero() {
		return http.StatusForbidden
	}
	if m == nil || r.Header.Get("Content-Type") != "video/mp4" || r.Header.Get("Authorization") != "" {
		return http.StatusBadRequest
	}
	from, _ := strconv.ParseInt(m[1], 10, 64)
	to, _ := strconv.ParseInt(m[2], 10, 64)
	n := to - from + 1
	last := to == p.size-1
	switch {
	case from != p.received:
		return http.StatusRequestedRangeNotSatisfiable
	case m[3] != strconv.FormatInt(p.size, 10), r.ContentLength != n, !last && n != p.chunk, last &&
		(n < min(p.chunk, p.size) || n >= 2*p.chunk && p.count > 1):
		return http.StatusBadRequest
	}
	// A chunk that has not arrived completely does not count.
	before, err := p.sum.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
	if err != nil {
		return http.StatusInternalServerError
	}
	if _, err := io.CopyN(p.sum, r.Body, n); err != nil {
		if p.sum.(interface{ UnmarshalBinary([]byte) error }).UnmarshalBinary(before) != nil {
			return http.StatusInternalServerError
		}
		return http.StatusBadRequest
	}
	p.received += n
	if !last {
		return http.StatusPartialContent
	}
	f.finish(p, fmt.Sprintf("%x", p.sum.Sum(nil)[:6]))
	return http.StatusCreated
}
