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

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// User is the one user.
const User = "27841400000000001"

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	OAuth *oauth.Server
	// Took is the time for which a container of media is in progress.
	Took time.Duration
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
	control.JSON(w, status, map[string]any{"error": map[string]any{"message": "refused", "type": "OAuthException",
		"code": code, "error_subcode": subcode, "is_transient": false, "fbtrace_id": "A1"}})
}

func bad(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, 100, 0) }

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /v1.0/me", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, map[string]string{"id": User, "username": "acme", "name": "Acme"})
	})
	api.HandleFunc("GET /v1.0/"+User+"/threads_publishing_limit", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		control.JSON(w, http.StatusOK, map[string]any{"data": []any{map[string]any{"quota_usage": f.Used,
			"config": map[string]any{"quota_total": 250, "quota_duration": 86400}}}})
	})
	api.HandleFunc("POST /v1.0/"+User+"/threads", f.create)
	api.HandleFunc("POST /v1.0/"+User+"/threads_publish", f.publish)
	api.HandleFunc("GET /v1.0/"+User+"/threads", f.list)
	api.HandleFunc("GET /v1.0/"+User+"/replies", f.list)
	api.HandleFunc("GET /v1.0/{media}/insights", f.insights)
	api.HandleFunc("GET /v1.0/"+User+"/threads_insights", func(w http.ResponseWriter, r *http.Request) {
		if !control.Insights(w, r, 90, "views", "followers_count") {
			bad(w)
		}
	})
	api.HandleFunc("GET /v1.0/{media}/conversation", f.conversation)
	api.HandleFunc("POST /v1.0/{comment}/manage_reply", f.hide)
	api.HandleFunc("GET /v1.0/{node}", f.node)
	api.HandleFunc("DELETE /v1.0/{node}", func(w http.ResponseWriter, r *http.Request) {
		if !f.Remove(r.PathValue("node")) {
			bad(w)
		}
	})
	guarded := http.NewServeMux()
	guarded.HandleFunc("POST /oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") != "authorization_code" || f.OAuth.Exchange(r.PostForm, true) != nil {
			bad(w)
			return
		}
		f.issue(w, time.Hour)
	})
	guarded.HandleFunc("GET /access_token", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("grant_type") != "th_exchange_token" || q.Get("client_secret") != oauth.ClientSecret ||
			!f.Good(q.Get("access_token")) {
			bad(w)
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
	f.mu.Unlock()
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
	ok = ok && platform.EmojiBytes.Length(c.text) <= 500 && (!c.item || c.text == "")
	if c.reply != "" {
		_, visible := f.texts[c.reply]
		_, comment := f.FindComment(c.reply)
		ok = ok && (visible || comment)
	}
	switch kind {
	case "TEXT":
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
	return c, ok && control.Public(address)
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
		bad(w)
		return
	}
	switch f.state(c) {
	case "IN_PROGRESS":
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, 9007, 2207027)
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
			data = append(data, map[string]string{"id": p.ID, "text": f.texts[p.ID],
				"timestamp": p.At.Format("2006-01-02T15:04:05-0700")})
		}
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
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
		bad(w)
	}
}

func (f *Fake) insights(w http.ResponseWriter, r *http.Request) {
	if _, ok := f.Find(r.PathValue("media")); !ok && !f.FindPast(r.PathValue("media")) {
		bad(w)
		return
	}
	data := []any{}
	for i, name := range strings.Split(r.URL.Query().Get("metric"), ",") {
		data = append(data, map[string]any{"name": name, "values": []any{map[string]int{"value": 100 - i}}})
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}
