package bluesky

import (
	"net/http"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

type blob struct {
	mime, sum string
	size      int64
}

type job struct {
	blob string
	made time.Time
}

type ratio struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

type given struct {
	Type string            `json:"$type"`
	Ref  map[string]string `json:"ref"`
	MIME string            `json:"mimeType"`
	Size int64             `json:"size"`
}

func (f *Fake) limits(w http.ResponseWriter, r *http.Request) {
	if !f.serves(r, "did:web:video.bsky.app", "app.bsky.video.getUploadLimits") {
		refuse(w, http.StatusUnauthorized, "AuthMissing")
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"canUpload": !f.Unconfirmed, "remainingDailyVideos": 25})
}

func (f *Fake) keep(r *http.Request, mime string) (string, blob, bool) {
	n, sum, err := control.Sum(r.Body)
	if err != nil || n == 0 || n != r.ContentLength || r.Header.Get("Content-Type") != mime {
		return "", blob{}, false
	}
	b := blob{mime, sum, n}
	id := "bafkrei" + sum
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blobs[id] = b
	return id, b, true
}

func (b blob) show(id string) given {
	return given{"blob", map[string]string{"$link": id}, b.mime, b.size}
}

// AddBlob adds a blob, such as one of a video that was processed before.
func (f *Fake) AddBlob(id, mime string, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blobs[id] = blob{mime, id, size}
}

// Uploads returns how often a video was uploaded.
func (f *Fake) Uploads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.uploads
}

func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	id, b, ok := f.keep(r, "image/jpeg")
	if !ok || b.size > 2_000_000 {
		invalid(w)
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"blob": b.show(id)})
}

func (f *Fake) video(w http.ResponseWriter, r *http.Request) {
	if !f.serves(r, "did:web:"+host, "com.atproto.repo.uploadBlob") || r.URL.Query().Get("did") != DID {
		refuse(w, http.StatusUnauthorized, "AuthMissing")
		return
	}
	id, _, ok := f.keep(r, "video/mp4")
	if !ok || r.URL.Query().Get("name") == "" {
		invalid(w)
		return
	}
	f.mu.Lock()
	name := "job-" + id
	_, known := f.jobs[name]
	if !known {
		f.jobs[name] = job{id, f.Now()}
	}
	f.mu.Unlock()
	if known {
		control.JSON(w, http.StatusConflict, map[string]string{"error": "already_exists", "jobId": name,
			"state": "JOB_STATE_COMPLETED"})
		return
	}
	control.JSON(w, http.StatusOK, map[string]string{"jobId": name, "state": "JOB_STATE_CREATED", "did": DID})
}

func (f *Fake) job(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := r.URL.Query().Get("jobId")
	j, ok := f.jobs[name]
	if !ok {
		invalid(w)
		return
	}
	status := map[string]any{"jobId": name, "state": "JOB_STATE_ENCODING"}
	if f.Now().Sub(j.made) >= f.Took {
		status["state"], status["blob"] = "JOB_STATE_COMPLETED", f.blobs[j.blob].show(j.blob)
	}
	control.JSON(w, http.StatusOK, map[string]any{"jobStatus": status})
}
