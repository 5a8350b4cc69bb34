// Package facebook is a fake of the parts of Facebook's Graph API that publish on pages: photos,
// posts, videos and Reels. A Reel that is finished twice is one post; a post that is made twice is two.
package facebook

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/meta"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// Page is the page of the one user.
const Page = "10000000000001"

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	meta.Rights
	OAuth *oauth.Server
	// Pages, Owned and Client are the numbers of further pages in the list of the login, and in those of a portfolio: the
	// pages that it owns, and those of its clients. The last page of each list is in the next one, too.
	Pages, Owned, Client int
	// Took is the time for which a video is processed.
	Took time.Duration

	mu     sync.Mutex
	photos map[string]string // content by id
	videos map[string]*video // Reels and videos
	texts  map[string]string // by post
	links  map[string]string
}

type video struct {
	reel      bool
	address   string
	sent      time.Time
	published bool
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, _ int) { refuse(w, http.StatusForbidden, 32, 0) }),
		OAuth: &oauth.Server{
			ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Divider: ",",
			Scopes: []string{"pages_show_list", "pages_manage_posts", "pages_read_engagement",
				"pages_manage_engagement", "read_insights", "pages_read_user_content", "business_management"},
		},
		Took: 45 * time.Second, photos: map[string]string{}, videos: map[string]*video{}, texts: map[string]string{},
		links: map[string]string{},
	}
}

func refuse(w http.ResponseWriter, status, code, subcode int) {
	meta.Refusal{Status: status, Code: code, Subcode: subcode}.Write(w)
}

// absent refuses a call whose node does not exist.
func absent(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, 100, 33) }

func bad(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, 100, 0) }

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	// The permissions are those that the reference names for each endpoint.
	on := func(pattern string, h http.HandlerFunc, permissions ...string) {
		method, path, _ := strings.Cut(pattern, " ")
		api.HandleFunc(method+" /v26.0"+path, f.Needs(h, permissions...))
	}
	const post, read, engage, users, insights = "pages_manage_posts", "pages_read_engagement",
		"pages_manage_engagement", "pages_read_user_content", "read_insights"
	on("GET /pages/search", search)
	on("GET /me", control.Me)
	on("GET /me/accounts", f.accounts, "pages_show_list")
	on("GET /me/businesses", f.businesses, "business_management")
	on("GET /{portfolio}/owned_pages", f.ofPortfolio, "business_management")
	on("GET /{portfolio}/client_pages", f.ofPortfolio, "business_management")
	on("POST /"+Page+"/photos", f.photo, post, read)
	on("POST /"+Page+"/feed", f.feed, post, read)
	on("POST /"+Page+"/videos", f.video, post, read)
	on("POST /"+Page+"/video_reels", f.reel, post, read)
	on("GET /"+Page+"/published_posts", f.posts, read)
	on("GET /"+Page+"/videos", f.list, read)
	on("POST /{post}/comments", f.comment, engage)
	on("GET /{post}/comments", f.comments, read, users)
	on("GET /{post}/insights", f.insights, insights)
	on("GET /{node}", f.node, read)
	on("POST /{node}", f.edit)
	on("DELETE /{node}", func(w http.ResponseWriter, r *http.Request) {
		if id := r.PathValue("node"); !f.Remove(id) && !f.RemoveComment(id) {
			absent(w)
			return
		}
		control.JSON(w, http.StatusOK, map[string]bool{"success": true}) // Page Post, Deleting: Return Type
	})
	guarded := http.NewServeMux()
	guarded.HandleFunc("POST /v26.0/oauth/access_token", f.token)
	guarded.HandleFunc("GET /v26.0/debug_token", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, map[string]any{"data": map[string]any{
			"data_access_expires_at": f.Now().Add(80 * 24 * time.Hour).Unix()}})
	})
	guarded.HandleFunc("POST /upload/{reel}", f.upload)
	guarded.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusUnauthorized, 190, 463)
			return
		}
		api.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/v26.0/dialog/oauth", f.OAuth.Authorize)
	outer.Handle("/", f.Handle(guarded))
	return outer
}

// only reports whether a form has no other members than the given ones.
func only(form url.Values, names ...string) bool {
	for name := range form {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// photos, films and reels are the files that Facebook takes (Page Photos: 4 MB; Video API; Reels Publishing: 540x960 and
// more, 3 to 90 seconds).
var (
	photos = control.Bounds{MIMEs: []string{"image/jpeg", "image/png"}, MaxBytes: 4 << 20}
	films  = control.Bounds{MaxBytes: 10 << 30, MinLength: time.Second, MaxLength: 4 * time.Hour}
	reels  = control.Bounds{MinShort: 540, MinLong: 960, Narrowest: control.Ratio{Width: 1, Height: 2},
		Widest: control.Ratio{Width: 1, Height: 1}, MinLength: 3 * time.Second, MaxLength: 90 * time.Second}
)

func (f *Fake) photo(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("published") != "false" || !control.Public(r.FormValue("url")) || !photos.Takes(f.Seen(r.FormValue("url"))) ||
		!only(r.PostForm, "url", "published", "alt_text_custom") {
		bad(w)
		return
	}
	id := f.ID()
	f.mu.Lock()
	f.photos[id] = r.FormValue("url") + " " + r.FormValue("alt_text_custom")
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]string{"id": id})
}

func (f *Fake) feed(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // an unreadable form has no message
	f.mu.Lock()
	content := r.PostForm.Get("message")
	ok := len(r.PostForm["message"]) == 1
	for n := 0; r.PostForm.Has(fmt.Sprintf("attached_media[%d]", n)); n++ {
		var of struct {
			ID string `json:"media_fbid"`
		}
		err := json.Unmarshal([]byte(r.PostForm.Get(fmt.Sprintf("attached_media[%d]", n))), &of)
		photo, known := f.photos[of.ID]
		ok = ok && err == nil && known && n < 10
		content += " " + photo
	}
	f.mu.Unlock()
	if partner := r.PostForm.Get("sponsor_id"); partner != "" {
		ok = ok && r.PostForm.Get("direct_share_status") == "0"
		content += " paid by " + partner
	}
	content += at(r.PostForm)
	if link, err := url.Parse(r.PostForm.Get("link")); err == nil &&
		(link.Hostname() == "facebook.com" || strings.HasSuffix(link.Hostname(), ".facebook.com")) {
		refuse(w, http.StatusBadRequest, 100, 1609008) // gitroomhq/postiz-app facebook.provider.ts
		return
	}
	if utf8.RuneCountInString(r.PostForm.Get("message")) > 63_206 {
		bad(w)
		return
	}
	if link := r.PostForm.Get("link"); !ok || strings.TrimSpace(content) == "" || link != "" && !control.Web(link) {
		bad(w)
		return
	}
	f.publish(w, Page+"_"+f.ID(), r.PostForm.Get("message"), content, r.PostForm.Get("link"))
}

// at returns the place that a post names, as a part of its content.
func at(form url.Values) string {
	if place := form.Get("place"); place != "" {
		return " at " + place
	}
	return ""
}

func (f *Fake) publish(w http.ResponseWriter, id, text, content, link string) {
	f.Publish(control.Post{ID: id, Account: Page, Content: content})
	f.mu.Lock()
	f.texts[id], f.links[id] = text, link
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]any{"id": id, "success": true})
}

// Link returns the link whose preview a post shows.
func (f *Fake) Link(post string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.links[post]
}

func (f *Fake) video(w http.ResponseWriter, r *http.Request) {
	if !control.Public(r.FormValue("file_url")) || !films.Takes(f.Seen(r.FormValue("file_url"))) || !only(r.PostForm, "file_url", "description", "title") {
		bad(w)
		return
	}
	id := f.ID()
	f.mu.Lock()
	f.videos[id] = &video{address: r.FormValue("file_url"), sent: f.Now(), published: true}
	f.mu.Unlock()
	f.publish(w, id, r.FormValue("description"), "video "+r.FormValue("description")+r.FormValue("title")+" "+
		r.FormValue("file_url"), "")
}

func (f *Fake) reel(w http.ResponseWriter, r *http.Request) {
	switch r.FormValue("upload_phase") {
	case "start":
		id := f.ID()
		f.mu.Lock()
		f.videos[id] = &video{reel: true}
		f.mu.Unlock()
		control.JSON(w, http.StatusOK, map[string]string{"video_id": id, "upload_url": control.Base(r) + "/upload/" + id})
	case "finish":
		id := r.FormValue("video_id")
		f.mu.Lock()
		v := f.videos[id]
		if v == nil || !v.reel || v.address == "" || r.FormValue("video_state") != "PUBLISHED" {
			f.mu.Unlock()
			bad(w)
			return
		}
		again := v.published
		v.published = true
		f.mu.Unlock()
		if again {
			control.JSON(w, http.StatusOK, map[string]bool{"success": true})
			return
		}
		f.publish(w, id, r.FormValue("description"), "Reel "+r.FormValue("description")+at(r.PostForm)+" "+v.address,
			"")
	default:
		bad(w)
	}
}

func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "OAuth ")
	f.mu.Lock()
	v := f.videos[r.PathValue("reel")]
	f.mu.Unlock()
	address := r.Header.Get("file_url")
	switch {
	case !ok || !f.Good(token):
		refuse(w, http.StatusUnauthorized, 190, 463)
	case v == nil || !control.Public(address) || !reels.Takes(f.Seen(address)):
		bad(w)
	default:
		f.mu.Lock()
		v.address, v.sent = address, f.Now()
		f.mu.Unlock()
		control.JSON(w, http.StatusOK, map[string]bool{"success": true})
	}
}

// list lists the videos of a page, newest first.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	meta.List(w, r, f.made("description", true))
}

// made returns the posts that were made through the fake, or its videos, with their text in a member.
func (f *Fake) made(text string, videos bool) []any {
	data := []any{}
	posts := f.Published()
	slices.Reverse(posts)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range posts {
		if (f.videos[p.ID] != nil) == videos {
			data = append(data, map[string]string{"id": p.ID, text: control.Kept(f.texts[p.ID]),
				"created_time": p.At.Format(control.GraphTime)})
		}
	}
	return data
}

func (f *Fake) node(w http.ResponseWriter, r *http.Request) {
	id, fields := r.PathValue("node"), r.URL.Query().Get("fields")
	_, visible := f.Find(id)
	visible = visible || f.old(id)
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.videos[id]
	switch {
	case strings.Contains(fields, "reactions"):
		if !visible {
			absent(w)
			return
		}
		if (v == nil) == strings.Contains(fields, "views") {
			bad(w)
			return
		}
		sum := func(n int) map[string]any { return map[string]any{"summary": map[string]int{"total_count": n}} }
		control.JSON(w, http.StatusOK, map[string]any{"comments": sum(3), "reactions": sum(9), "views": 100,
			"shares": map[string]int{"count": 2}})
	case v != nil:
		control.JSON(w, http.StatusOK, map[string]any{"id": id, "permalink_url": "/reel/" + id + "/",
			"status": f.status(v)})
	case visible && fields == "permalink_url":
		control.JSON(w, http.StatusOK, map[string]string{"permalink_url": "https://www.facebook.com/" + id})
	default:
		absent(w)
	}
}

func (f *Fake) status(v *video) map[string]any {
	phase := func(done bool) map[string]string {
		if done {
			return map[string]string{"status": "complete"}
		}
		return map[string]string{"status": "in_progress"}
	}
	done := !v.sent.IsZero() && f.Now().Sub(v.sent) >= f.Took
	state := "processing"
	if done && v.published {
		state = "ready"
	}
	return map[string]any{"video_status": state, "uploading_phase": phase(done), "processing_phase": phase(done),
		"publishing_phase": phase(v.published)}
}

func (f *Fake) edit(w http.ResponseWriter, r *http.Request) {
	if hide := r.FormValue("is_hidden"); hide != "" {
		if !f.HideComment(r.PathValue("node"), hide == "true") {
			absent(w)
			return
		}
		control.JSON(w, http.StatusOK, map[string]bool{"success": true})
		return
	}
	f.mu.Lock()
	name := "message"
	if f.videos[r.PathValue("node")] != nil {
		name = "description"
	}
	f.mu.Unlock()
	if r.FormValue(name) == "" || len(r.PostForm) != 1 {
		bad(w)
		return
	}
	if !f.Rewrite(r.PathValue("node"), r.FormValue(name)) {
		absent(w)
		return
	}
	control.JSON(w, http.StatusOK, map[string]bool{"success": true})
}

func (f *Fake) insights(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("post") == Page {
		if r.URL.Query().Get("period") != "day" ||
			!control.Insights(w, r, 90, "page_follows", "page_daily_follows", "page_media_view") {
			bad(w)
		}
		return
	}
	names := map[string]int{"post_media_view": 50, "post_total_media_view_unique": 40, "post_clicks": 5}
	_, ok := f.Find(r.PathValue("post"))
	ok = ok || f.old(r.PathValue("post"))
	if !ok {
		absent(w)
		return
	}
	data := []any{}
	for _, name := range strings.Split(r.URL.Query().Get("metric"), ",") {
		if names[name] == 0 {
			bad(w)
			return
		}
		data = append(data, map[string]any{"name": name, "values": []any{map[string]int{"value": names[name]}}})
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}

func (f *Fake) comment(w http.ResponseWriter, r *http.Request) {
	if c, ok := f.FindComment(r.PathValue("post")); ok && r.FormValue("message") != "" {
		c = f.AddComment(control.Comment{ID: "1_" + f.ID(), Post: c.Post, Parent: c.ID, Text: r.FormValue("message"),
			Own: true})
		control.JSON(w, http.StatusOK, map[string]string{"id": c.ID})
		return
	}
	if _, ok := f.Find(r.PathValue("post")); !ok {
		absent(w)
		return
	}
	if text := r.FormValue("message"); text == "" || utf8.RuneCountInString(text) > 8000 {
		bad(w)
		return
	}
	f.Comment(r.FormValue("message"))
	control.JSON(w, http.StatusOK, map[string]string{"id": f.ID()})
}
