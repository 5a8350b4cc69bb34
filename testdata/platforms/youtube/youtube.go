// Package youtube is a fake of the parts of Google's APIs that publish a video on YouTube: the
// authorization server, resumable uploads, covers and statistics. It keeps only hashes of
// files, so that large ones can be uploaded.
package youtube

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// Channel is the channel of the one user.
const Channel = "UC0000000000000000000001"

const granularity = 256 << 10

// Fake implements the APIs in memory.
type Fake struct {
	*control.Control
	OAuth *oauth.Server

	// Withheld is a scope that the owner of the channel does not allow.
	Withheld string
	// More is the number of further channels of the user, and of further playlists of the channel.
	More int
	// Took is the time for which a video is processed. Until then, a Short accepts no cover.
	Took time.Duration
	// Landscape says that videos are not Shorts.
	Landscape bool
	// Stuck says that the processing of videos does not end.
	Stuck bool
	// Rejected and Failed are why YouTube does not show videos once they are processed, such as length and codec.
	Rejected, Failed string
	// NoCovers says that the channel may not have custom covers.
	NoCovers bool
	// NoComments says that the token lacks the right to comments, and CommentsOff that the videos take none.
	NoComments, CommentsOff bool
	// Units are the units that calls about comments have used.
	Units int
	// Quota is the number of videos that the application may insert on a day. Refused is the
	// number of calls refused for that reason.
	Quota, Refused int

	mu       sync.Mutex
	inserts  []time.Time
	sessions map[string]*session
	Covers   map[string]string // sum of the cover, by video
	parts    parts
	scopes   map[string][]string // of the tokens that the owner has allowed; the others have all
}

type session struct {
	notify   string
	length   int64
	kind     string
	snippet  snippet
	status   status
	paid     bool
	received int64
	sum      hash.Hash
	video    string
}

type snippet struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	CategoryID  string   `json:"categoryId"`
	Language    string   `json:"defaultLanguage"`
}

type status struct {
	Privacy   string `json:"privacyStatus"`
	Kids      *bool  `json:"selfDeclaredMadeForKids"`
	Synthetic bool   `json:"containsSyntheticMedia"`
}

type placement struct {
	Paid bool `json:"hasPaidProductPlacement"`
}

// part returns the name that the query of a call with the member adds.
func (p *placement) part() string {
	if p == nil {
		return ""
	}
	return ",paidProductPlacementDetails"
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, seconds int) {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
			refuse(w, http.StatusTooManyRequests, "rateLimitExceeded")
		}),
		OAuth: &oauth.Server{
			ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Divider: " ",
			Scopes: []string{"https://www.googleapis.com/auth/youtube.upload",
				"https://www.googleapis.com/auth/youtube.readonly", "https://www.googleapis.com/auth/yt-analytics.readonly",
				"https://www.googleapis.com/auth/youtube.force-ssl"},
		},
		Took: 90 * time.Second, Quota: 100, sessions: map[string]*session{}, Covers: map[string]string{},
		scopes: map[string][]string{},
	}
}

// Forget ends all incomplete upload sessions.
func (f *Fake) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.sessions)
}

func refuse(w http.ResponseWriter, code int, reason string) {
	control.JSON(w, code, map[string]any{"error": map[string]any{
		"code": code, "message": reason,
		"errors": []any{map[string]any{"reason": reason, "domain": "youtube.video", "message": reason}},
	}})
}

// Handler returns the handler of the APIs.
func (f *Fake) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", f.token)
	mux.HandleFunc("POST /revoke", f.revoke)
	mux.HandleFunc("GET /youtube/v3/channels", f.channels)
	mux.HandleFunc("GET /youtube/v3/videos", f.videos)
	mux.HandleFunc("GET /v2/reports", f.report)
	f.handleComments(mux)
	mux.HandleFunc("POST /upload/youtube/v3/videos", f.start)
	mux.HandleFunc("PUT /upload/youtube/v3/videos", f.upload)
	f.handleParts(mux)
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/youtube/") && !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusUnauthorized, "authError")
			return
		}
		if !f.entitled(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusForbidden, "insufficientPermissions")
			return
		}
		mux.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/o/oauth2/v2/auth", func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("access_type") != "offline" || q.Get("prompt") != "consent" {
			http.Error(w, "there would be no refresh token", http.StatusBadRequest)
			return
		}
		f.OAuth.Authorize(w, r)
	})
	outer.Handle("/", f.Handle(guarded))
	return outer
}

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		control.JSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
		return
	}
	answer := map[string]any{"expires_in": 3600, "token_type": "Bearer", "scope": strings.Join(f.granted(), " ")}
	access, refresh := f.Grant(time.Hour)
	answer["access_token"] = access
	var err error
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		err = f.OAuth.Exchange(r.PostForm, true)
		answer["refresh_token"] = refresh
	case "refresh_token":
		err = f.OAuth.Client(r.PostForm, true)
		if err == nil && !f.TakeRefresh(r.PostForm.Get("refresh_token"), false) {
			err = fmt.Errorf("the refresh token is not known")
		}
	default:
		err = fmt.Errorf("the grant type is not known")
	}
	if err != nil {
		control.JSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant",
			"error_description": err.Error()})
		return
	}
	f.OAuth.Issued(r.PostForm, access, refresh)
	f.mu.Lock()
	f.scopes[access] = f.granted()
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, answer)
}

func (f *Fake) revoke(w http.ResponseWriter, r *http.Request) {
	if !f.TakeRefresh(r.FormValue("token"), true) {
		control.JSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_token"})
		return
	}
	f.Revoke()
	control.JSON(w, http.StatusOK, map[string]any{})
}

func (f *Fake) channels(w http.ResponseWriter, r *http.Request) {
	if q := r.URL.Query(); q.Get("part") == "statistics" && q.Get("id") == Channel {
		control.JSON(w, http.StatusOK, map[string]any{"items": []any{map[string]any{"id": Channel,
			"statistics": map[string]any{"subscriberCount": "1200", "hiddenSubscriberCount": false, "videoCount": "44",
				"viewCount": "90000"}}}})
		return
	}
	if q := r.URL.Query(); q.Get("part") == "contentDetails" && q.Get("id") == Channel {
		control.JSON(w, http.StatusOK, map[string]any{"items": []any{map[string]any{"id": Channel,
			"contentDetails": map[string]any{"relatedPlaylists": map[string]string{"uploads": uploads}}}}})
		return
	}
	if q := r.URL.Query(); q.Get("part") != "snippet" || q.Get("mine") != "true" {
		refuse(w, http.StatusBadRequest, "missingRequiredParameter")
		return
	}
	all := []any{map[string]any{"id": Channel, "snippet": map[string]any{
		"title": "Acme", "customUrl": "@acme",
		"thumbnails": map[string]any{"default": map[string]any{"url": "https://yt3.example.test/a.jpg"}},
	}}}
	for n := range f.More {
		all = append(all, map[string]any{"id": fmt.Sprintf("UC%022d", 1000+n), "snippet": map[string]any{
			"title": fmt.Sprint("Acme ", n), "customUrl": fmt.Sprint("@acme", n)}})
	}
	page(w, r, all)
}

// page answers with a page of a list, of as many items as the call wants and at most 50.
func page(w http.ResponseWriter, r *http.Request, all []any) {
	q := r.URL.Query()
	most, err := strconv.Atoi(q.Get("maxResults"))
	if !q.Has("maxResults") {
		most, err = 5, nil
	}
	at, wrong := strconv.Atoi(q.Get("pageToken"))
	if err != nil || most < 0 || most > 50 || q.Has("pageToken") && (wrong != nil || at > len(all)) {
		refuse(w, http.StatusBadRequest, "invalidPageToken")
		return
	}
	answer := map[string]any{"items": all[at:min(at+most, len(all))]}
	if at+most < len(all) {
		answer["nextPageToken"] = strconv.Itoa(at + most)
	}
	control.JSON(w, http.StatusOK, answer)
}

// processed reports whether the processing of a video has ended.
func (f *Fake) processed(p control.Post) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.Stuck && f.Now().Sub(p.At) >= f.Took
}

// Inserts returns the times at which videos were inserted.
func (f *Fake) Inserts() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.inserts)
}

// insert counts the insert of a video on the day, which begins at midnight in California.
func (f *Fake) insert() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	day := func(t time.Time) string { return t.UTC().Add(-8 * time.Hour).Format(time.DateOnly) }
	used := 0
	for _, t := range f.inserts {
		if day(t) == day(f.Now()) {
			used++
		}
	}
	if used >= f.Quota {
		f.Refused++
		return false
	}
	f.inserts = append(f.inserts, f.Now())
	return true
}

func (f *Fake) videos(w http.ResponseWriter, r *http.Request) {
	items := []any{}
	id := r.URL.Query().Get("id")
	if r.URL.Query().Get("part") == "snippet,statistics" {
		f.past(w, id)
		return
	}
	switch post, ok := f.Find(id); {
	case !ok:
	case r.URL.Query().Get("part") == "statistics":
		items = append(items, map[string]any{"id": id, "statistics": map[string]any{"viewCount": "120",
			"likeCount": "12", "favoriteCount": "0", "commentCount": "3"}})
	case r.URL.Query().Get("part") == "processingDetails,status":
		state, upload := "succeeded", map[string]string{"uploadStatus": "processed"}
		switch {
		case !f.processed(post):
			state, upload = "processing", map[string]string{"uploadStatus": "uploaded"}
		case f.Rejected != "":
			state, upload = "terminated", map[string]string{"uploadStatus": "rejected", "rejectionReason": f.Rejected}
		case f.Failed != "":
			state, upload = "failed", map[string]string{"uploadStatus": "failed", "failureReason": f.Failed}
		}
		items = append(items, map[string]any{"id": id, "status": upload,
			"processingDetails": map[string]any{"processingStatus": state}})
	}
	control.JSON(w, http.StatusOK, map[string]any{"items": items})
}

// start opens a session.
func (f *Fake) start(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Snippet snippet    `json:"snippet"`
		Status  status     `json:"status"`
		Paid    *placement `json:"paidProductPlacementDetails"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	length, err := strconv.ParseInt(r.Header.Get("X-Upload-Content-Length"), 10, 64)
	q := r.URL.Query()
	if err != nil || length <= 0 || length > 256<<30 || q.Get("uploadType") != "resumable" ||
		d.Decode(&body) != nil || q.Get("part") != "id,snippet,status"+body.Paid.part() ||
		q.Get("notifySubscribers") != "true" && q.Get("notifySubscribers") != "false" {
		refuse(w, http.StatusBadRequest, "badRequest")
		return
	}
	// A tag with a space counts as if it were in quotes (Videos, snippet.tags[]).
	tags := strings.Join(body.Snippet.Tags, ",")
	for _, tag := range body.Snippet.Tags {
		tags += strings.Repeat(`"`, 2*min(strings.Count(tag, " "), 1))
	}
	switch s := body.Snippet; {
	case s.Title == "" || utf8.RuneCountInString(s.Title) > 100 || strings.ContainsAny(s.Title, "<>"):
		refuse(w, http.StatusBadRequest, "invalidTitle")
	case len(s.Description) > 5000 || strings.ContainsAny(s.Description, "<>"):
		refuse(w, http.StatusBadRequest, "invalidDescription")
	case utf8.RuneCountInString(tags) > 500 || strings.ContainsAny(tags, "<>"):
		refuse(w, http.StatusBadRequest, "invalidTags")
	case !slices.Contains([]string{"10", "20", "22", "25"}, s.CategoryID) || body.Status.Kids == nil ||
		body.Status.Privacy != "public" && body.Status.Privacy != "unlisted" && body.Status.Privacy != "private":
		refuse(w, http.StatusBadRequest, "invalidVideoMetadata")
	case !strings.HasPrefix(r.Header.Get("X-Upload-Content-Type"), "video/"):
		refuse(w, http.StatusBadRequest, "invalidContentType")
	case !f.insert():
		refuse(w, http.StatusForbidden, "quotaExceeded")
	default:
		id := f.ID()
		f.mu.Lock()
		f.sessions[id] = &session{notify: q.Get("notifySubscribers"), length: length,
			kind: r.Header.Get("X-Upload-Content-Type"), snippet: s, status: body.Status,
			paid: body.Paid != nil && body.Paid.Paid, sum: sha256.New()}
		f.mu.Unlock()
		w.Header().Set("Location", control.Base(r)+"/upload/youtube/v3/videos?uploadType=resumable&upload_id="+id)
		w.WriteHeader(http.StatusOK)
	}
}

var (
	ranges  = regexp.MustCompile(`^bytes (\d+)-(\d+)/(\d+)$`)
	queries = regexp.MustCompile(`^bytes \*/(\d+)$`)
)

// upload accepts a part, or returns the number of bytes received.
func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[r.URL.Query().Get("upload_id")]
	content := r.Header.Get("Content-Range")
	if s == nil {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	if m := queries.FindStringSubmatch(content); m != nil {
		if m[1] != strconv.FormatInt(s.length, 10) || r.ContentLength > 0 {
			http.Error(w, "Bad Request", http.StatusBadRequest)
			return
		}
		s.answer(w)
		return
	}
	if s.video != "" {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Error(w, "Gone", http.StatusGone)
		return
	}
	m := ranges.FindStringSubmatch(content)
	if m == nil {
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return
	}
	from, _ := strconv.ParseInt(m[1], 10, 64)
	to, _ := strconv.ParseInt(m[2], 10, 64)
	all, _ := strconv.ParseInt(m[3], 10, 64)
	n := to - from + 1
	last := to == all-1
	if all != s.length || from != s.received || n <= 0 || r.ContentLength != n || !last && n%granularity != 0 {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return
	}
	got, err := io.CopyN(s.sum, r.Body, n)
	s.received += got
	if err != nil {
		return // the caller has gone
	}
	if last {
		s.video = "yt" + f.ID()[8:]
		f.Publish(control.Post{ID: s.video, Account: Channel,
			Content: fmt.Sprintf("%s | %s | %v | %s %v %v %v | category %s, notifies %s | %x", s.snippet.Title,
				s.snippet.Description, s.snippet.Tags, s.status.Privacy, *s.status.Kids, s.status.Synthetic,
				s.paid,
				s.snippet.CategoryID, s.notify, s.sum.Sum(nil)[:6])})
	}
	s.answer(w)
}

func (s *session) answer(w http.ResponseWriter) {
	if s.video != "" {
		control.JSON(w, http.StatusOK, map[string]any{"kind": "youtube#video", "id": s.video})
		return
	}
	if s.received > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", s.received-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}
