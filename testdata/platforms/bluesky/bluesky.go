// Package bluesky is a fake of the parts of the AT Protocol that publish on Bluesky: sessions, blobs,
// the processing of videos, and records whose keys the client chooses.
package bluesky

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The login of the only account.
const (
	Handle   = "acme.bsky.social"
	Password = "abcd-efgh-2345-wxyz"
	DID      = "did:plc:acme000000000000000000000"
	// Friend is an account that posts may mention.
	Friend    = "friend.bsky.social"
	friendDID = "did:plc:friend0000000000000000000"
	host      = "pds.example.test"
)

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	// Took is the time for which a video is processed.
	Took time.Duration
	// Unconfirmed says that the e-mail address of the account is not confirmed.
	Unconfirmed bool

	mu       sync.Mutex
	blobs    map[string]blob
	jobs     map[string]job
	services map[string]string // audience and method by token
	records  map[string]Record // by key
	uploads  int               // of videos
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	f := &Fake{Took: 25 * time.Second, blobs: map[string]blob{}, jobs: map[string]job{},
		services: map[string]string{}, records: map[string]Record{}}
	f.Control = control.New(now, func(w http.ResponseWriter, seconds int) {
		w.Header().Set("RateLimit-Reset", fmt.Sprint(now().Unix()+int64(seconds)))
		refuse(w, http.StatusTooManyRequests, "RateLimitExceeded")
	})
	return f
}

func refuse(w http.ResponseWriter, status int, name string) {
	control.JSON(w, status, map[string]string{"error": name, "message": "refused"})
}

func invalid(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, "InvalidRequest") }

// wrong refuses a record as the servers do, with the place and the bound.
func wrong(w http.ResponseWriter, problem string) {
	control.JSON(w, http.StatusBadRequest, map[string]string{"error": "InvalidRequest",
		"message": "Invalid app.bsky.feed.post record: " + problem})
}

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /xrpc/app.bsky.actor.getProfile", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, map[string]any{"did": DID, "displayName": "Acme",
			"followersCount": 80, "postsCount": 9, "avatar": "https://cdn.example.test/a.jpg"})
	})
	api.HandleFunc("GET /xrpc/com.atproto.server.getSession", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, map[string]any{"did": DID, "didDoc": map[string]any{"service": []any{
			map[string]string{"id": "#atproto_pds", "serviceEndpoint": "https://" + host}}}})
	})
	api.HandleFunc("GET /xrpc/com.atproto.server.getServiceAuth", f.service)
	api.HandleFunc("GET /xrpc/com.atproto.identity.resolveHandle", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("handle") != Friend {
			invalid(w)
			return
		}
		control.JSON(w, http.StatusOK, map[string]string{"did": friendDID})
	})
	api.HandleFunc("POST /xrpc/com.atproto.repo.uploadBlob", f.upload)
	api.HandleFunc("POST /xrpc/com.atproto.repo.createRecord", f.create)
	api.HandleFunc("POST /xrpc/com.atproto.repo.deleteRecord", f.remove)
	api.HandleFunc("GET /xrpc/com.atproto.repo.getRecord", f.read)
	api.HandleFunc("GET /xrpc/app.bsky.feed.getPosts", f.posts)
	api.HandleFunc("GET /xrpc/app.bsky.feed.getAuthorFeed", f.past)
	api.HandleFunc("GET /xrpc/app.bsky.feed.getPostThread", f.thread)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /xrpc/com.atproto.server.createSession", f.connect)
	mux.HandleFunc("POST /xrpc/com.atproto.server.refreshSession", f.refresh)
	mux.HandleFunc("POST /xrpc/com.atproto.server.deleteSession", func(w http.ResponseWriter, r *http.Request) {
		if token := bearer(r); !f.TakeRefresh(token, true) {
			refuse(w, http.StatusBadRequest, "ExpiredToken")
			return
		}
		f.Revoke()
	})
	mux.HandleFunc("GET /xrpc/app.bsky.video.getUploadLimits", f.limits)
	mux.HandleFunc("POST /xrpc/app.bsky.video.uploadVideo", f.video)
	mux.HandleFunc("GET /xrpc/app.bsky.video.getJobStatus", f.job)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			refuse(w, http.StatusBadRequest, "ExpiredToken")
			return
		}
		api.ServeHTTP(w, r)
	})
	handler := f.Handle(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/app.bsky.video.uploadVideo") {
			f.mu.Lock()
			f.uploads++
			f.mu.Unlock()
		}
		handler.ServeHTTP(w, r)
	})
}

var tid = regexp.MustCompile(`^[234567abcdefghij][234567a-z]{12}$`)
