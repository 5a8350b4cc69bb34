// Package heygen is a fake of HeyGen's API of version 3: videos of speaking avatars and
// pictures, as in the provider's API reference. It checks requests more strictly than the
// provider. The videos are real files at signed addresses that expire.
package heygen

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/strict"
)

// Name is the provider's name in faults.
const Name = "heygen"

// AddressTime is the time for which the address of a file is valid.
const AddressTime = time.Hour

// Config configures a fake.
type Config struct {
	Control *control.Control
	Media   fs.FS // has avatar-16x9.mp4 and avatar-9x16.mp4
	Now     func() time.Time
	Took    time.Duration // the time that a video takes; 0 means control.JobTime
	Key     string        // the only accepted key; empty accepts any
}

type fake struct {
	Config
	jobs   *control.Jobs[video]
	secret []byte // signs addresses

	mu    sync.Mutex
	known []string // ids of all videos, the newest first
}

// New makes a fake. It has the operations control.Submit, control.Status and
// control.Media.
func New(cfg Config) http.Handler {
	f := &fake{Config: cfg, jobs: control.NewJobs[video](cfg.Now, cfg.Took), secret: []byte(rand.Text())}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v3/videos", f.authorized(cfg.Control.Handle(Name, control.Submit, f.create)))
	mux.HandleFunc("GET /v3/videos", f.authorized(cfg.Control.Handle(Name, control.Status, f.list)))
	mux.HandleFunc("GET /v3/videos/{video_id}", f.authorized(cfg.Control.Handle(Name, control.Status, f.details)))
	mux.HandleFunc("GET /files/{name}", cfg.Control.Handle(Name, control.Media, f.file))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "Not found.", "")
	})
	return mux
}

// create serves POST /v3/videos.
func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var v video
	sent, err := strict.JSON(r, &v)
	if err == nil {
		err = strict.Query(r.URL.Query())
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_parameter", err.Error(), "")
		return
	}
	if e := v.check(); e != nil {
		refuse(w, e.status, e.code, e.message, e.param)
		return
	}
	id := "v_" + strings.ToLower(rand.Text())
	f.jobs.Start(id, v, control.JobFails(r.Context()))
	f.mu.Lock()
	f.known = slices.Insert(f.known, 0, id)
	f.mu.Unlock()
	f.Control.Accept(control.Acceptance{
		Provider: Name, Operation: control.Submit, ID: id, Model: *v.Type,
		Prompt: or(v.Script, or(v.AudioURL, "")), Input: sent,
	})
	answer(w, map[string]any{"video_id": id, "status": "waiting"})
}

// list serves GET /v3/videos: the newest videos whose titles contain a text.
func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(or(ptr(q.Get("limit")), "10"))
	if err == nil {
		err = strict.Query(q, "title", "limit")
	}
	if err != nil || limit < 1 || limit > 100 {
		refuse(w, http.StatusBadRequest, "invalid_parameter", "The query is not valid.", "limit")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found := []any{}
	for _, id := range f.known {
		job, _, _, _ := f.jobs.Find(id)
		if title := or(job.Work.Title, ""); strings.Contains(title, q.Get("title")) && len(found) < limit {
			found = append(found, map[string]any{"id": id, "title": title, "status": "processing"})
		}
	}
	answer(w, found)
}

func ptr(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// details serves GET /v3/videos/{video_id}.
func (f *fake) details(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("video_id")
	job, phase, _, found := f.jobs.Find(id)
	if !found {
		refuse(w, http.StatusNotFound, "video_not_found", "Video not found.", "")
		return
	}
	status := map[control.Phase]string{
		control.Waiting: "pending", control.Working: "processing", control.Succeeded: "completed",
		control.Failed: "failed",
	}[phase]
	data := map[string]any{"id": id, "title": job.Work.Title, "status": status, "created_at": job.Began.Unix()}
	switch phase {
	case control.Succeeded:
		data["completed_at"] = job.Ends.Unix()
		data["video_url"] = f.sign(r, job.Work.fileName())
		data["duration"] = 3.0
	case control.Failed:
		data["failure_code"] = "rendering_failed"
		data["failure_message"] = "Avatar rendering timed out"
	}
	answer(w, data)
}

func (f *fake) authorized(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("X-Api-Key"); key == "" || f.Key != "" && key != f.Key {
			refuse(w, http.StatusUnauthorized, "unauthorized",
				"Invalid or expired API key. Verify your x-api-key header.", "")
			return
		}
		h(w, r)
	}
}

func answer(w http.ResponseWriter, data any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // the caller may have gone
}

// refuse writes an error in the provider's form.
func refuse(w http.ResponseWriter, status int, code, message, param string) {
	e := map[string]any{"code": code, "message": message, "param": nil,
		"doc_url": fmt.Sprintf("https://developers.heygen.com/docs/error-codes#%s", strings.ReplaceAll(code, "_", "-"))}
	if param != "" {
		e["param"] = param
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e}) // the caller may have gone
}
