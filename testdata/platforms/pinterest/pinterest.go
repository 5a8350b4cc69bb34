// Package pinterest is a fake of the parts of Pinterest's API that publish pins.
package pinterest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// Board is the board of the one user.
const Board = "549755885175"

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	OAuth *oauth.Server
	// Took is the time for which a video is processed.
	Took time.Duration

	mu     sync.Mutex
	videos map[string]*video
	pins   map[string]pin
	// Rights are the scopes of the tokens, or nil for those that are requested.
	Rights []string
	// Boards and Sections are those of the login beside Board and its first section.
	Boards, Sections []Named
	// Unreachable makes the next pin fail because Pinterest cannot reach the image.
	Unreachable bool
}

// Named is a board or a section.
type Named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type video struct {
	sum  string
	made time.Time
}

type pin struct {
	Board       string `json:"board_id"`
	Section     string `json:"board_section_id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Link        string `json:"link"`
	Alt         string `json:"alt_text"`
	Source      struct {
		Type  string `json:"source_type"`
		URL   string `json:"url"`
		Media string `json:"media_id"`
		Cover string `json:"cover_image_url"`
		Frame *int64 `json:"cover_image_key_frame_time"`
		Items []struct {
			URL string `json:"url"`
		} `json:"items"`
	} `json:"media_source"`
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, seconds int) {
			w.Header().Set("Retry-After", fmt.Sprint(seconds))
			refuse(w, http.StatusTooManyRequests, 8, "You have exceeded your rate limit.")
		}),
		OAuth: &oauth.Server{ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Divider: ",",
			Scopes: []string{"boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read"}},
		Took: 25 * time.Second, videos: map[string]*video{}, pins: map[string]pin{},
	}
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	control.JSON(w, status, map[string]any{"code": code, "message": message})
}

func bad(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, 1, "Invalid request.") }

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	// The scopes are those of the operations in Pinterest's OpenAPI document.
	const view, change = "boards:read pins:read", "boards:read boards:write pins:read pins:write"
	handle := func(pattern, scopes string, h http.HandlerFunc) {
		api.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			for _, scope := range strings.Fields(scopes) {
				if !slices.Contains(f.rights(), scope) {
					_, _ = io.Copy(io.Discard, r.Body)
					refuse(w, http.StatusForbidden, 29,
						"Your token does not have sufficient permissions to perform this operation.")
					return
				}
			}
			h(w, r)
		})
	}
	handle("GET /v5/user_account", "user_accounts:read", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, map[string]any{"username": "acme", "profile_image": "https://i.example.test/a.jpg",
			"follower_count": 310, "pin_count": 12})
	})
	handle("GET /v5/user_account/analytics", "user_accounts:read", f.account)
	handle("GET /v5/boards", "boards:read", func(w http.ResponseWriter, r *http.Request) {
		page(w, r, append([]Named{{Board, "Shoes"}}, f.Boards...))
	})
	handle("GET /v5/boards/"+Board+"/sections", "boards:read", func(w http.ResponseWriter, r *http.Request) {
		page(w, r, append([]Named{{"51", "Running"}}, f.Sections...))
	})
	handle("POST /v5/media", "pins:read pins:write", f.register)
	handle("GET /v5/media/{id}", "pins:read", f.media)
	handle("POST /v5/pins", change, f.create)
	handle("PATCH /v5/pins/{id}", change, f.edit)
	handle("DELETE /v5/pins/{id}", change, func(w http.ResponseWriter, r *http.Request) {
		if !f.Remove(r.PathValue("id")) {
			refuse(w, http.StatusNotFound, 50, "Pin not found.")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	handle("GET /v5/boards/"+Board+"/pins", view, f.list)
	handle("GET /v5/pins/{id}/analytics", view, f.analytics)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v5/oauth/token", f.token)
	mux.HandleFunc("POST /upload/{id}", f.upload)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusUnauthorized, 2, "Authentication failed.")
			return
		}
		api.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/oauth/{$}", f.OAuth.Authorize)
	outer.Handle("/", f.Handle(mux))
	return outer
}

// rights returns the scopes of the tokens.
func (f *Fake) rights() []string {
	if f.Rights != nil {
		return f.Rights
	}
	return f.OAuth.Scopes
}

// sizeOf returns the page size of a call, which is from 1 to 250, and 25 if the call has none.
func sizeOf(r *http.Request) (int, bool) {
	asked := r.URL.Query().Get("page_size")
	if asked == "" {
		return 25, true
	}
	n, err := strconv.Atoi(asked)
	return n, err == nil && n >= 1 && n <= 250
}

// page writes the page of a list that begins at the bookmark.
func page(w http.ResponseWriter, r *http.Request, all []Named) {
	size, ok := sizeOf(r)
	from, err := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("bookmark"), "page-"))
	if r.URL.Query().Get("bookmark") == "" {
		from, err = 0, nil
	}
	if !ok || err != nil || from < 0 || from > len(all) {
		bad(w)
		return
	}
	end := min(from+min(size, mostOnPage), len(all))
	answer := map[string]any{"items": all[from:end], "bookmark": nil}
	if end < len(all) {
		answer["bookmark"] = "page-" + strconv.Itoa(end)
	}
	control.JSON(w, http.StatusOK, answer)
}

// mostOnPage bounds the pages of the fake, because those of a platform may be shorter than a call asks for.
const mostOnPage = 100

func (f *Fake) edit(w http.ResponseWriter, r *http.Request) {
	var body map[string]string
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["description"] == "" ||
		utf8.RuneCountInString(body["description"]) > 800 {
		bad(w)
		return
	}
	if !f.Rewrite(r.PathValue("id"), body["description"]) {
		refuse(w, http.StatusNotFound, 50, "Pin not found.")
		return
	}
	control.JSON(w, http.StatusOK, map[string]string{"id": r.PathValue("id")})
}

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id != oauth.ClientID || secret != oauth.ClientSecret || r.FormValue("client_secret") != "" {
		refuse(w, http.StatusUnauthorized, 2, "Authentication failed.")
		return
	}
	var err error
	switch r.FormValue("grant_type") {
	case "authorization_code":
		r.PostForm.Set("client_id", id)
		if err = f.OAuth.Exchange(r.PostForm, false); r.FormValue("continuous_refresh") != "true" {
			err = fmt.Errorf("the old refresh tokens")
		}
	case "refresh_token":
		if !f.TakeRefresh(r.FormValue("refresh_token"), true) {
			err = fmt.Errorf("the token is not known")
		}
	default:
		err = fmt.Errorf("the grant type %q", r.FormValue("grant_type"))
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, 1, "The code or the refresh token is invalid or has expired.")
		return
	}
	access, refresh := f.Grant(30 * 24 * time.Hour)
	control.JSON(w, http.StatusOK, map[string]any{"access_token": access, "refresh_token": refresh,
		"expires_in": 30 * 24 * 3600, "scope": strings.Join(f.OAuth.Scopes, " ")})
}

func (f *Fake) register(w http.ResponseWriter, r *http.Request) {
	var body map[string]string
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["media_type"] != "video" {
		bad(w)
		return
	}
	id := f.ID()
	f.mu.Lock()
	f.videos[id] = &video{}
	f.mu.Unlock()
	control.JSON(w, http.StatusCreated, map[string]any{"media_id": id, "upload_url": control.Base(r) + "/upload/" + id,
		"upload_parameters": map[string]string{"key": "uploads/" + id, "policy": "p"}})
}

func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	part, _, err := r.FormFile("file")
	if err != nil || r.FormValue("key") != "uploads/"+r.PathValue("id") || r.FormValue("policy") != "p" {
		http.Error(w, "<Error/>", http.StatusForbidden)
		return
	}
	defer part.Close()
	_, sum, err := control.Sum(part)
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.videos[r.PathValue("id")]
	if v == nil || err != nil {
		http.Error(w, "<Error/>", http.StatusForbidden)
		return
	}
	v.sum, v.made = sum, f.Now()
	w.WriteHeader(http.StatusNoContent)
}

// images and films are the files that Pinterest takes (help.pinterest.com, Review pin specs: 20 MB; videos of 4 seconds
// to 15 minutes, of 1:2 to 1.91:1, and 2 GB).
var (
	images = control.Bounds{MIMEs: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 20 << 20}
	films  = control.Bounds{Narrowest: control.Ratio{Width: 1, Height: 2}, Widest: control.Ratio{Width: 191, Height: 100},
		MinLength: 4 * time.Second, MaxLength: 15 * time.Minute, MaxBytes: 2 << 30}
)

// state returns the state of a video. The caller holds mu.
func (f *Fake) state(v *video) string {
	switch {
	case v.sum == "":
		return "registered"
	case f.Now().Sub(v.made) < f.Took:
		return "processing"
	case !films.Takes(f.Seen(control.Uploaded)):
		return "failed"
	default:
		return "succeeded"
	}
}

func (f *Fake) media(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.videos[r.PathValue("id")]
	if v == nil {
		refuse(w, http.StatusNotFound, 40, "Not found.")
		return
	}
	control.JSON(w, http.StatusOK, map[string]string{"media_id": r.PathValue("id"), "status": f.state(v)})
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	var p pin
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&p)
	f.mu.Lock()
	content, ok := f.content(p)
	unreachable := f.Unreachable
	f.Unreachable = false
	f.mu.Unlock()
	if unreachable {
		refuse(w, http.StatusBadRequest, 1, "Unable to reach the URL. Please check the URL is correct and try again.")
		return
	}
	for member, one := range map[string]struct {
		text string
		most int
	}{"title": {p.Title, 100}, "description": {p.Description, 800}, "alt_text": {p.Alt, 500}, "link": {p.Link, 2048}} {
		if utf8.RuneCountInString(one.text) > one.most {
			refuse(w, http.StatusBadRequest, 1, fmt.Sprintf("Invalid request: '%s' is longer than %d.", member, one.most))
			return
		}
	}
	switch {
	case err == nil && p.Board != Board && !f.known(f.Boards, p.Board):
		refuse(w, http.StatusNotFound, 40, "Board not found.")
		return
	case p.Section != "" && p.Section != "51" && !f.known(f.Sections, p.Section):
		refuse(w, http.StatusNotFound, 2031, "Board section not found.")
		return
	case err != nil || !ok || p.Link != "" && !control.Web(p.Link):
		bad(w)
		return
	}
	id := f.ID()
	f.Publish(control.Post{ID: id, Account: Board, Content: content})
	f.mu.Lock()
	f.pins[id] = p
	f.mu.Unlock()
	control.JSON(w, http.StatusCreated, map[string]string{"id": id})
}

func (f *Fake) known(all []Named, id string) bool {
	return slices.ContainsFunc(all, func(one Named) bool { return one.ID == id })
}

// content returns the content of a pin, and whether its media are complete. The caller holds mu.
func (f *Fake) content(p pin) (string, bool) {
	content, s, ok := p.Title+" "+p.Description+" "+p.Link+" "+p.Alt, p.Source, true
	if p.Section != "" {
		content += " in section " + p.Section
	}
	switch s.Type {
	case "image_url":
		return content + " " + s.URL, control.Public(s.URL) && images.Takes(f.Seen(s.URL))
	case "multiple_image_urls":
		for _, i := range s.Items {
			content += " " + i.URL
			ok = ok && control.Public(i.URL) && images.Takes(f.Seen(i.URL))
		}
		return content, ok && len(s.Items) >= 2 && len(s.Items) <= 5
	case "video_id":
		v := f.videos[s.Media]
		if v == nil || f.state(v) != "succeeded" || (s.Cover == "") == (s.Frame == nil) ||
			s.Frame != nil && (*s.Frame < 0 || *s.Frame > 15*60) { // in seconds, of a video of 15 minutes at most
			return "", false
		}
		return content + " " + v.sum + s.Cover, s.Cover == "" || control.Public(s.Cover)
	}
	return "", false
}

// list lists the pins of the board, newest first, a pin of others among them, and then the earlier ones.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	items, bookmark := []any{}, r.URL.Query().Get("bookmark")
	if _, ok := sizeOf(r); !ok {
		bad(w)
		return
	}
	if bookmark == "" {
		f.mu.Lock()
		for _, p := range slices.Backward(f.Published()) {
			pin := f.pins[p.ID]
			items = append(items, map[string]any{"id": p.ID, "title": pin.Title, "description": control.Kept(pin.Description),
				"link": pin.Link, "created_at": p.At.UTC().Format(layout) + "-00:00", "is_owner": true})
		}
		f.mu.Unlock()
		items = append(items, map[string]any{"id": "1", "description": "Of others", "is_owner": false,
			"created_at": f.Now().UTC().Format(layout)})
	}
	past, next := f.Past(bookmark)
	for _, p := range past {
		media := "image"
		if p.Video {
			media = "video"
		}
		items = append(items, map[string]any{"id": p.ID, "title": p.Text, "is_owner": true,
			"created_at": p.At.UTC().Format(layout), "media": map[string]string{"media_type": media}})
	}
	answer := map[string]any{"items": items, "bookmark": nil}
	if next != "" {
		answer["bookmark"] = next
	}
	control.JSON(w, http.StatusOK, answer)
}

// layout is the format of times, which are in UTC. Pinterest documents the zone behind them, and leaves it out.
const layout = "2006-01-02T15:04:05"

func (f *Fake) analytics(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	_, ok := f.Find(r.PathValue("id"))
	if ok = ok || f.FindPast(r.PathValue("id")); !ok || q.Get("start_date") == "" || q.Get("end_date") == "" ||
		q.Get("metric_types") == "" {
		refuse(w, http.StatusNotFound, 50, "Not found.")
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"all": map[string]any{
		"summary_metrics": map[string]int{"IMPRESSION": 120, "SAVE": 6, "PIN_CLICK": 4, "OUTBOUND_CLICK": 3}}})
}

// account counts the days of a period of at most 90 days. Those of today and yesterday are not ready.
func (f *Fake) account(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, err := time.Parse(time.DateOnly, q.Get("start_date"))
	to, other := time.Parse(time.DateOnly, q.Get("end_date"))
	if err != nil || other != nil || to.Before(from) || to.Sub(from) > 89*24*time.Hour || q.Get("metric_types") == "" {
		refuse(w, http.StatusBadRequest, 1, "Invalid parameters.")
		return
	}
	daily := []any{}
	for at := from; !at.After(to); at = at.AddDate(0, 0, 1) {
		day := map[string]any{"date": at.Format(time.DateOnly), "data_status": "READY",
			"metrics": map[string]int{"IMPRESSION": 50, "SAVE": 2, "PIN_CLICK": 3, "OUTBOUND_CLICK": 1}}
		if to.Sub(at) < 48*time.Hour {
			day["data_status"], day["metrics"] = "PROCESSING", map[string]int{}
		}
		daily = append(daily, day)
	}
	control.JSON(w, http.StatusOK, map[string]any{"all": map[string]any{"daily_metrics": daily}})
}
