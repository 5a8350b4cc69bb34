// Package rutube is a fake of Rutube's API: a login, and videos that it reads from their
// addresses. A video counts as a post when it is no longer hidden.
package rutube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The login of the only account.
const (
	Username = "acme"
	Password = "correct horse"
)

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	// Took is the time for which a video is processed.
	Took time.Duration

	mu     sync.Mutex
	videos map[string]*video
	// Fails makes the next video fail.
	Fails bool
}

type video struct {
	address, title, description string
	category                    int
	hidden, fails               bool
	made                        time.Time
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, seconds int) {
			w.Header().Set("Retry-After", fmt.Sprint(seconds))
			refuse(w, http.StatusTooManyRequests, "too many requests")
		}),
		Took: 70 * time.Second, videos: map[string]*video{},
	}
}

func refuse(w http.ResponseWriter, status int, detail string) {
	control.JSON(w, status, map[string]string{"detail": detail})
}

// Hidden returns the number of hidden videos.
func (f *Fake) Hidden() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.videos {
		if v.hidden {
			n++
		}
	}
	return n
}

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	videos := http.NewServeMux()
	videos.HandleFunc("POST /api/video/{$}", f.create)
	videos.HandleFunc("GET /api/video/{id}/{$}", f.read)
	videos.HandleFunc("PATCH /api/video/{id}/{$}", f.change)
	videos.HandleFunc("DELETE /api/video/{id}/{$}", f.remove)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/accounts/token_auth/", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("username") != Username || r.FormValue("password") != Password {
			refuse(w, http.StatusBadRequest, "wrong name or password")
			return
		}
		access, _ := f.Grant(0)
		control.JSON(w, http.StatusOK, map[string]string{"token": access})
	})
	mux.HandleFunc("/api/video/", func(w http.ResponseWriter, r *http.Request) {
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Token "); !ok || !f.Good(token) {
			refuse(w, http.StatusUnauthorized, "invalid token")
			return
		}
		videos.ServeHTTP(w, r)
	})
	return f.Handle(mux)
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		URL         string `json:"url"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Hidden      *bool  `json:"is_hidden"`
		Category    int    `json:"category_id"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || !control.Public(body.URL) || body.Title == "" ||
		utf8.RuneCountInString(body.Title) > 100 ||
		utf8.RuneCountInString(body.Description) > 5000 || body.Hidden == nil || body.Category < 1 ||
		body.Category > 99 {
		refuse(w, http.StatusBadRequest, "bad request")
		return
	}
	id := fmt.Sprintf("%032s", f.ID())
	f.mu.Lock()
	f.videos[id] = &video{address: body.URL, title: body.Title, description: body.Description, category: body.Category,
		hidden: *body.Hidden, fails: f.Fails, made: f.Now()}
	f.Fails = false
	f.mu.Unlock()
	if !*body.Hidden {
		f.show(id)
	}
	control.JSON(w, http.StatusOK, map[string]string{"video_id": id})
}

func (f *Fake) show(id string) {
	f.mu.Lock()
	v := *f.videos[id]
	f.mu.Unlock()
	f.Publish(control.Post{ID: id, Account: Username, Content: v.content()})
}

// content describes a video.
func (v video) content() string {
	return fmt.Sprintf("%s | %s | %d | %s", v.title, v.description, v.category, v.address)
}

func (f *Fake) read(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.videos[r.PathValue("id")]
	if v == nil {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	answer := map[string]any{"id": r.PathValue("id"), "is_hidden": v.hidden, "is_deleted": false, "hits": 40,
		"status": "ready", "action_reason": map[string]any{"id": 0, "name": "moderation"}}
	switch age := f.Now().Sub(v.made); {
	case age < f.Took/2:
		answer["status"], answer["is_deleted"], answer["action_reason"] = "processing", true,
			map[string]any{"id": 5, "name": "downloading_video"}
	case age < f.Took:
		answer["status"], answer["action_reason"] = "processing", nil
	case v.fails:
		answer["status"], answer["action_reason"] = "error", nil
	}
	control.JSON(w, http.StatusOK, answer)
}

func (f *Fake) change(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Hidden      *bool   `json:"is_hidden"`
		Description *string `json:"description"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&body)
	id := r.PathValue("id")
	f.mu.Lock()
	v := f.videos[id]
	if err == nil && v == nil {
		f.mu.Unlock()
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	if err != nil || (body.Hidden == nil) == (body.Description == nil) {
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, "bad request")
		return
	}
	shown := body.Hidden != nil && v.hidden && !*body.Hidden
	if body.Hidden != nil {
		v.hidden = *body.Hidden
	} else {
		v.description = *body.Description
	}
	now := *v
	f.mu.Unlock()
	if shown {
		f.show(id)
	} else {
		f.Rewrite(id, now.content())
	}
	control.JSON(w, http.StatusOK, map[string]any{"id": id, "is_hidden": now.hidden})
}

func (f *Fake) remove(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	f.mu.Lock()
	_, ok := f.videos[id]
	delete(f.videos, id)
	f.mu.Unlock()
	if f.Remove(id); !ok {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
