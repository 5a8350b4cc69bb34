// Package bluesky is a fake of the parts of the AT Protocol that publish on Bluesky: sessions, blobs,
// the processing of videos, and records whose keys the client chooses.
package bluesky

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

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
}

type blob struct {
	mime, sum string
	size      int64
}

type job struct {
	blob string
	made time.Time
}

// Record is a post.
type Record struct {
	Type      string           `json:"$type"`
	Text      string           `json:"text"`
	CreatedAt time.Time        `json:"createdAt"`
	Langs     []string         `json:"langs"`
	Facets    []Facet          `json:"facets"`
	Embed     *embed           `json:"embed"`
	Reply     *map[string]link `json:"reply"`
}

// Facet is a link, a hashtag or a mention in a text.
type Facet struct {
	Index struct {
		Start int `json:"byteStart"`
		End   int `json:"byteEnd"`
	} `json:"index"`
	Features []map[string]string `json:"features"`
}

type link struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

type embed struct {
	Type   string `json:"$type"`
	Images []item `json:"images"`
	Items  []item `json:"items"`
	Video  *given `json:"video"`
	Alt    string `json:"alt"`
	Ratio  *ratio `json:"aspectRatio"`
}

type item struct {
	Type  string `json:"$type"`
	Image given  `json:"image"`
	Alt   string `json:"alt"`
	Ratio *ratio `json:"aspectRatio"`
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
	return f.Handle(mux)
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (f *Fake) session(w http.ResponseWriter) {
	access, refresh := f.Grant(2 * time.Hour)
	control.JSON(w, http.StatusOK, map[string]string{"did": DID, "handle": Handle, "accessJwt": access,
		"refreshJwt": refresh})
}

func (f *Fake) connect(w http.ResponseWriter, r *http.Request) {
	var body struct{ Identifier, Password string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Identifier != Handle ||
		body.Password != Password {
		refuse(w, http.StatusUnauthorized, "AuthenticationRequired")
		return
	}
	f.session(w)
}

// refresh opens the next session. Bluesky accepts a used refresh token for a while.
func (f *Fake) refresh(w http.ResponseWriter, r *http.Request) {
	if !f.TakeRefresh(bearer(r), false) {
		refuse(w, http.StatusBadRequest, "ExpiredToken")
		return
	}
	f.session(w)
}

func (f *Fake) service(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("aud") == "" || q.Get("lxm") == "" || q.Get("exp") == "" {
		invalid(w)
		return
	}
	token := "service-" + f.ID()
	f.mu.Lock()
	f.services[token] = q.Get("aud") + " " + q.Get("lxm")
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]string{"token": token})
}

// serves reports whether a call has a token for another service.
func (f *Fake) serves(r *http.Request, audience, method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.services[bearer(r)] == audience+" "+method
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

var tid = regexp.MustCompile(`^[234567abcdefghij][234567a-z]{12}$`)

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Repo, Collection, Rkey string
		Record                 Record
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || body.Repo != DID || body.Collection != "app.bsky.feed.post" ||
		!tid.MatchString(body.Rkey) {
		invalid(w)
		return
	}
	f.mu.Lock()
	content, ok := f.check(body.Record)
	if _, taken := f.records[body.Rkey]; !ok || taken {
		f.mu.Unlock()
		invalid(w)
		return
	}
	f.records[body.Rkey] = body.Record
	f.mu.Unlock()
	ref := refOf(body.Rkey)
	if reply := body.Record.Reply; reply != nil {
		if c, ok := f.FindComment((*reply)["parent"].URI); ok {
			f.AddComment(control.Comment{ID: ref.URI, Post: c.Post, Parent: c.ID, Text: body.Record.Text, Own: true})
			control.JSON(w, http.StatusOK, ref)
			return
		}
	}
	f.Publish(control.Post{ID: ref.URI, Account: DID, Content: content})
	control.JSON(w, http.StatusOK, ref)
}

func refOf(key string) link {
	return link{"at://" + DID + "/app.bsky.feed.post/" + key, "bafyrei" + key}
}

// check returns the content of a record, and whether the platform takes it. The caller holds mu.
func (f *Fake) check(r Record) (string, bool) {
	content := r.Text
	if r.Type != "app.bsky.feed.post" || r.CreatedAt.IsZero() || uniseg.GraphemeClusterCount(r.Text) > 300 ||
		len(r.Text) > 3000 || len(r.Langs) > 3 {
		return "", false
	}
	for _, facet := range r.Facets {
		start, end := facet.Index.Start, facet.Index.End
		if start < 0 || end <= start || end > len(r.Text) || !utf8.ValidString(r.Text[start:end]) ||
			len(facet.Features) != 1 {
			return "", false
		}
		content += " [" + r.Text[start:end] + "]"
	}
	if r.Reply != nil {
		for _, name := range []string{"root", "parent"} {
			to := (*r.Reply)[name]
			key := to.URI[strings.LastIndexByte(to.URI, '/')+1:]
			if known, ok := f.linkOf(to.URI); ok && known == to {
				continue // a reply to a reader
			}
			if _, ok := f.records[key]; !ok || to != refOf(key) {
				return "", false
			}
		}
		content = "reply " + content
	}
	e := r.Embed
	if e == nil {
		return content, r.Text != ""
	}
	var files []given
	switch e.Type {
	case "app.bsky.embed.video":
		if e.Video == nil || e.Ratio == nil {
			return "", false
		}
		files = []given{*e.Video}
	case "app.bsky.embed.images", "app.bsky.embed.gallery":
		items, most := e.Images, 4
		if e.Type == "app.bsky.embed.gallery" {
			items, most = e.Items, 10
		}
		if len(items) == 0 || len(items) > most {
			return "", false
		}
		for _, i := range items {
			if i.Ratio == nil || most == 10 && i.Type != "app.bsky.embed.gallery#image" {
				return "", false
			}
			files = append(files, i.Image)
			content += " (" + i.Alt + ")"
		}
	}
	for _, g := range files {
		b, ok := f.blobs[g.Ref["$link"]]
		if !ok || g.Type != "blob" || g.MIME != b.mime || g.Size != b.size {
			return "", false
		}
		content += " " + b.sum
	}
	return content, len(files) > 0
}

func (f *Fake) read(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f.mu.Lock()
	record, ok := f.records[q.Get("rkey")]
	f.mu.Unlock()
	if !ok || q.Get("repo") != DID || q.Get("collection") != "app.bsky.feed.post" {
		refuse(w, http.StatusBadRequest, "RecordNotFound")
		return
	}
	ref := refOf(q.Get("rkey"))
	control.JSON(w, http.StatusOK, map[string]any{"uri": ref.URI, "cid": ref.CID, "value": record})
}

// Records returns the records, by their keys.
func (f *Fake) Records() map[string]Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]Record{}
	for key, r := range f.records {
		all[key] = r
	}
	return all
}

// remove deletes a record. One that does not exist is no error.
func (f *Fake) remove(w http.ResponseWriter, r *http.Request) {
	var body map[string]string
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["repo"] != DID ||
		body["collection"] != "app.bsky.feed.post" {
		invalid(w)
		return
	}
	f.mu.Lock()
	delete(f.records, body["rkey"])
	f.mu.Unlock()
	f.Remove(refOf(body["rkey"]).URI)
	control.JSON(w, http.StatusOK, map[string]string{})
}

func (f *Fake) posts(w http.ResponseWriter, r *http.Request) {
	found := []any{}
	for _, uri := range r.URL.Query()["uris"] {
		ref, ok := f.linkOf(uri)
		if !ok {
			continue
		}
		found = append(found, map[string]any{"uri": uri, "cid": ref.CID, "likeCount": 7, "repostCount": 2, "quoteCount": 1,
			"replyCount": 3, "bookmarkCount": 4})
	}
	control.JSON(w, http.StatusOK, map[string]any{"posts": found})
}
