// Package threads is a fake of the parts of the API of Threads that publish: containers, their
// publication, and reading posts. A container that is published twice makes two posts.
package threads

import (
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

// User is the one user.
const User = "27841400000000001"

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	meta.Rights
	OAuth *oauth.Server
	// Took is the time for which a container of media is in progress, and TookText that for which one of a text is.
	Took, TookText time.Duration
	// Hasty counts the calls that publish a container in progress.
	Hasty int
	// Comment is the text of replies that count as first comments.
	Comment string
	// Used is the number of posts that the account has made today.
	Used int

	mu         sync.Mutex
	containers map[string]*container
	texts      map[string]string // by post
	replies    map[string]string // the post that a post answers
	topics     map[string]string
}

type container struct {
	kind, text, content, reply, topic string
	made                              time.Time
	took                              time.Duration
	published, item                   bool
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, _ int) { refuse(w, http.StatusForbidden, 4, 0) }),
		OAuth: &oauth.Server{
			ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Divider: ",",
			Scopes: []string{"threads_basic", "threads_content_publish", "threads_manage_replies",
				"threads_read_replies", "threads_manage_insights", "threads_delete"},
		},
		Took: 45 * time.Second, containers: map[string]*container{}, texts: map[string]string{},
		replies: map[string]string{}, topics: map[string]string{},
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
		api.HandleFunc(method+" /v1.0"+path, f.Needs(h, append(permissions, "threads_basic")...))
	}
	on("GET /me", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, map[string]string{"id": User, "username": "acme", "name": "Acme"})
	})
	on("GET /"+User+"/threads_publishing_limit", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		control.JSON(w, http.StatusOK, map[string]any{"data": []any{map[string]any{"quota_usage": f.Used,
			"config": map[string]any{"quota_total": 250, "quota_duration": 86400}}}})
	}, "threads_content_publish")
	on("POST /"+User+"/threads", f.create, "threads_content_publish")
	on("POST /"+User+"/threads_publish", f.publish, "threads_content_publish")
	on("GET /"+User+"/threads", f.list)
	on("GET /"+User+"/replies", f.list, "threads_read_replies")
	on("GET /{media}/insights", f.insights, "threads_manage_insights")
	on("GET /"+User+"/threads_insights", func(w http.ResponseWriter, r *http.Request) {
		if !control.Insights(w, r, 90, "views", "followers_count") {
			bad(w)
		}
	}, "threads_manage_insights")
	on("GET /{media}/conversation", f.conversation, "threads_read_replies")
	on("POST /{comment}/manage_reply", f.hide, "threads_manage_replies")
	on("GET /{node}", f.node)
	on("DELETE /{node}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("node")
		if !f.Remove(id) {
			absent(w)
			return
		}
		control.JSON(w, http.StatusOK, map[string]any{"success": true, "deleted_id": id}) // Delete Posts
	}, "threads_delete")
	guarded := http.NewServeMux()
	guarded.HandleFunc("POST /oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") != "authorization_code" || f.OAuth.Exchange(r.PostForm, true) != nil {
			control.JSON(w, http.StatusBadRequest, map[string]any{"error_type": "OAuthException", "code": 400,
				"error_message": "Matching code was not found or was already used"})
			return
		}
		f.issue(w, time.Hour)
	})
	guarded.HandleFunc("GET /access_token", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("grant_type") != "th_exchange_token" || q.Get("client_secret") != oauth.ClientSecret {
			bad(w)
			return
		}
		if !f.Good(q.Get("access_token")) {
			refuse(w, http.StatusBadRequest, 190, 0)
			return
		}
		f.issue(w, 60*24*time.Hour)
	})
	guarded.HandleFunc("GET /refresh_access_token", func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("grant_type") != "th_refresh_token" || !f.Good(q.Get("access_token")) {
			refuse(w, http.StatusBadRequest, 190, 463)
			return
		}
		f.issue(w, 60*24*time.Hour)
	})
	guarded.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusUnauthorized, 190, 463)
			return
		}
		api.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/oauth/authorize", f.OAuth.Authorize)
	outer.Handle("/", f.Handle(guarded))
	return outer
}

func (f *Fake) issue(w http.ResponseWriter, good time.Duration) {
	access, _ := f.Grant(good)
	control.JSON(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "bearer",
		"expires_in": int(good.Seconds())})
}

// fields are the parameters that each type of container may have.
var fields = map[string][]string{
	"TEXT":     {"text", "reply_to_id", "topic_tag"},
	"IMAGE":    {"image_url", "text", "alt_text", "is_carousel_item", "topic_tag"},
	"VIDEO":    {"video_url", "text", "alt_text", "is_carousel_item", "topic_tag"},
	"CAROUSEL": {"children", "text", "topic_tag"},
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // an unreadable form has no type
	f.mu.Lock()
	c, ok := f.check(r.PostForm)
	_, visible := f.texts[r.PostForm.Get("reply_to_id")]
	f.mu.Unlock()
	if to := r.PostForm.Get("reply_to_id"); to != "" {
		if slices.Contains(f.Lacks, "threads_manage_replies") {
			meta.Refusal{Status: http.StatusForbidden, Code: 10}.Write(w)
			return
		}
		if _, comment := f.FindComment(to); !visible && !comment {
			refuse(w, http.StatusBadRequest, 24, 4279009)
			return
		}
	}
	if links(r.PostForm.Get("text")) > 5 {
		meta.Refusal{Code: 100, Message: "THREADS_API__LINK_LIMIT_EXCEEDED"}.Write(w)
		return
	}
	if length(r.PostForm.Get("text")) > 500 {
		meta.Refusal{Code: 100, Message: "Param text must be at most 500 characters long."}.Write(w)
		return
	}
	if !ok {
		bad(w)
		return
	}
	id := f.ID()
	f.mu.Lock()
	f.containers[id] = c
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]string{"id": id})
}

// check returns the container of a form, and whether the platform takes it. The caller holds mu.
func (f *Fake) check(form url.Values) (*container, bool) {
	kind := form.Get("media_type")
	known, ok := fields[kind]
	for name := range form {
		ok = ok && (name == "media_type" || slices.Contains(known, name))
	}
	c := &container{kind: kind, text: form.Get("text"), reply: form.Get("reply_to_id"), topic: form.Get("topic_tag"),
		made: f.Now(), item: form.Get("is_carousel_item") == "true"}
	c.content = c.text
	ok = ok && (!c.item || c.text == "") && (c.topic == "" || topics.MatchString(c.topic))
	switch kind {
	case "TEXT":
		c.took = f.TookText
		return c, ok && c.text != ""
	case "CAROUSEL":
		children := strings.Split(form.Get("children"), ",")
		for _, id := range children {
			child := f.containers[id]
			if child == nil || !child.item || f.state(child) != "FINISHED" {
				return nil, false
			}
			c.content += " " + child.content
		}
		return c, ok && len(children) >= 2 && len(children) <= 20
	}
	c.took = f.Took
	address := form.Get("image_url") + form.Get("video_url")
	c.content += " " + address + " " + form.Get("alt_text")
	files := pictures
	if kind == "VIDEO" {
		files = videos
	}
	return c, ok && control.Public(address) && files.Takes(f.Seen(address)) &&
		utf8.RuneCountInString(form.Get("alt_text")) <= 1000
}

func (f *Fake) state(c *container) string {
	switch age := f.Now().Sub(c.made); {
	case c.published:
		return "PUBLISHED"
	case age >= 24*time.Hour:
		return "EXPIRED"
	case age < c.took:
		return "IN_PROGRESS"
	default:
		return "FINISHED"
	}
}

func (f *Fake) publish(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	c := f.containers[r.PostFormValue("creation_id")]
	if c == nil || c.item || len(r.PostForm) != 1 {
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, 24, 4279009)
		return
	}
	switch f.state(c) {
	case "IN_PROGRESS": // brightbeanxyz/brightbean-studio #118
		f.Hasty++
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, 24, 4279009)
		return
	case "EXPIRED":
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, 24, 2207008)
		return
	}
	c.published = true
	f.mu.Unlock()
	id := f.ID()
	if to, ok := f.FindComment(c.reply); ok {
		f.AddComment(control.Comment{ID: id, Post: to.Post, Parent: to.ID, Text: c.text, Own: true})
	} else if c.reply != "" && c.text == f.Comment {
		f.Control.Comment(c.text)
	} else {
		f.Publish(control.Post{ID: id, Account: User, Content: c.kind + " " + c.content})
	}
	f.mu.Lock()
	f.texts[id], f.replies[id], f.topics[id] = c.text, c.reply, c.topic
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]string{"id": id})
}

// Reply returns the post that a post answers, and its topic.
func (f *Fake) Reply(id string) (to, topic string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replies[id], f.topics[id]
}

// list lists the posts, newest first. Replies have a separate list.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Query().Get("fields"), "media_type") {
		f.past(w, r)
		return
	}
	replies := strings.HasSuffix(r.URL.Path, "/replies")
	data := []any{}
	posts := f.Published()
	slices.Reverse(posts)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range posts {
		if (f.replies[p.ID] != "") == replies {
			data = append(data, map[string]string{"id": p.ID, "text": control.Kept(f.texts[p.ID]),
				"timestamp": p.At.Format("2006-01-02T15:04:05-0700")})
		}
	}
	meta.List(w, r, data)
}

func (f *Fake) node(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("node")
	f.mu.Lock()
	defer f.mu.Unlock()
	_, visible := f.texts[id]
	switch c := f.containers[id]; {
	case visible:
		control.JSON(w, http.StatusOK, map[string]string{"id": id, "permalink": "https://www.threads.net/@acme/post/" + id})
	case c != nil && r.URL.Query().Get("fields") == "status,error_message":
		control.JSON(w, http.StatusOK, map[string]string{"id": id, "status": f.state(c)})
	default:
		absent(w)
	}
}

func (f *Fake) insights(w http.ResponseWriter, r *http.Request) {
	if _, ok := f.Find(r.PathValue("media")); !ok && !f.FindPast(r.PathValue("media")) {
		absent(w)
		return
	}
	data := []any{}
	for i, name := range strings.Split(r.URL.Query().Get("metric"), ",") {
		data = append(data, map[string]any{"name": name, "values": []any{map[string]int{"value": 100 - i}}})
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}
