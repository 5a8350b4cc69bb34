// Package x is a fake of the parts of X's API that publish: uploads in parts, and posts. It refuses a
// text that the account has posted in the last hours.
package x

import (
	"encoding/json"
	"fmt"
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

// User is the one user.
const User = "2244994945"

// The prices of calls, in tenths of a cent.
const (
	postPrice = 15
	linkPrice = 200
	readPrice = 5
	userPrice = 10
)

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	OAuth *oauth.Server
	// Took is the time for which a file is processed.
	Took time.Duration
	// Comment is the text of replies that count as first comments.
	Comment string
	// Cost is what the calls have cost, in tenths of a cent.
	Cost int
	// Empty says that the application has no credits.
	Empty bool
	// Rights are the scopes of the tokens, or nil for those that are requested.
	Rights []string
	// VideoTime is the length of the videos, because those of tests are none.
	VideoTime time.Duration

	mu     sync.Mutex
	files  map[string]*file
	texts  map[string]string // as X shows them, by post
	bodies map[string]Body
}

// Body is a call that makes a post.
type Body struct {
	Text  string `json:"text"`
	Media struct {
		IDs []string `json:"media_ids"`
	} `json:"media"`
	Reply struct {
		To string `json:"in_reply_to_tweet_id"`
	} `json:"reply"`
	Settings string `json:"reply_settings"`
	AI       bool   `json:"made_with_ai"`
	Paid     bool   `json:"paid_partnership"`
	Quote    string `json:"quote_tweet_id"`
	Poll     *struct {
		Options []string `json:"options"`
		Minutes int      `json:"duration_minutes"`
	} `json:"poll"`
}

// attached adds what a post shows in place of media, and reports whether X takes it.
func (b Body) attached(content string) (string, bool) {
	if b.Quote != "" {
		content += " quotes " + b.Quote
	}
	if p := b.Poll; p != nil {
		content += fmt.Sprintf(" poll %q %d", p.Options, p.Minutes)
		for _, o := range p.Options {
			if n := utf8.RuneCountInString(o); n < 1 || n > 25 {
				return content, false
			}
		}
		return content, len(p.Options) >= 2 && len(p.Options) <= 4 && p.Minutes >= 5 && p.Minutes <= 10_080 &&
			len(b.Media.IDs) == 0 && b.Quote == ""
	}
	return content, b.Quote == "" || len(b.Media.IDs) == 0
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, seconds int) {
			w.Header().Set("X-Rate-Limit-Reset", strconv.FormatInt(now().Unix()+int64(seconds), 10))
			refuse(w, http.StatusTooManyRequests, "about:blank", "Too Many Requests")
		}),
		OAuth: &oauth.Server{ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Divider: " ",
			Scopes: []string{"tweet.read", "tweet.write", "users.read", "media.write", "tweet.moderate.write",
				"offline.access"}},
		Took: 25 * time.Second, files: map[string]*file{}, texts: map[string]string{}, bodies: map[string]Body{},
	}
}

func refuse(w http.ResponseWriter, status int, kind, detail string) {
	control.JSON(w, status, map[string]any{"title": http.StatusText(status), "type": kind, "detail": detail,
		"status": status})
}

func bad(w http.ResponseWriter) {
	refuse(w, http.StatusBadRequest, "https://api.x.com/2/problems/invalid-request", "One or more parameters are invalid.")
}

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	// The scopes are those of the reference of each call (docs.x.com/x-api).
	const view = "tweet.read users.read"
	handle := func(pattern, scopes string, h http.HandlerFunc) {
		api.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			for _, scope := range strings.Fields(scopes) {
				if !slices.Contains(f.rights(), scope) {
					_, _ = io.Copy(io.Discard, r.Body)
					refuse(w, http.StatusForbidden, "about:blank", "Forbidden")
					return
				}
			}
			h(w, r)
		})
	}
	handle("GET /2/users/me", view, f.me)
	handle("POST /2/media/upload/initialize", "media.write", f.initialize)
	handle("POST /2/media/upload/{id}/append", "media.write", f.append)
	handle("POST /2/media/upload/{id}/finalize", "media.write", f.finalize)
	handle("GET /2/media/upload", "media.write", f.status)
	handle("POST /2/media/metadata", "media.write", f.metadata)
	handle("POST /2/tweets", view+" tweet.write", f.create)
	handle("GET /2/tweets/{id}", view, f.read)
	handle("DELETE /2/tweets/{id}", view+" tweet.write", f.remove)
	handle("PUT /2/tweets/{id}/hidden", view+" tweet.moderate.write", f.hide)
	handle("GET /2/tweets/search/recent", view, f.search)
	handle("GET /2/users/"+User+"/tweets", view, f.list)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2/oauth2/token", f.token)
	mux.HandleFunc("POST /2/oauth2/revoke", func(w http.ResponseWriter, r *http.Request) {
		if !f.client(r) || r.FormValue("token") == "" {
			control.JSON(w, http.StatusUnauthorized, map[string]string{"error": "unauthorized_client"})
			return
		}
		f.Revoke()
		control.JSON(w, http.StatusOK, map[string]bool{"revoked": true})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusUnauthorized, "about:blank", "Unauthorized")
			return
		}
		api.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/i/oauth2/authorize", f.OAuth.Authorize)
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

func (f *Fake) me(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("user.fields") == "public_metrics" {
		f.charge(userPrice)
		control.JSON(w, http.StatusOK, map[string]any{"data": map[string]any{"id": User,
			"public_metrics": map[string]int{"followers_count": 640, "following_count": 3, "tweet_count": 31}}})
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": map[string]string{"id": User, "username": "acme",
		"name": "Acme", "profile_image_url": "https://pbs.example.test/a.jpg"}})
}

func (f *Fake) client(r *http.Request) bool {
	id, secret, _ := r.BasicAuth()
	return f.OAuth.Known(id, secret, true)
}

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	if !f.client(r) {
		control.JSON(w, http.StatusUnauthorized, map[string]string{"error": "unauthorized_client"})
		return
	}
	kind := r.FormValue("grant_type")
	id, _, _ := r.BasicAuth()
	r.PostForm.Set("client_id", id)
	var err error
	switch kind {
	case "authorization_code":
		err = f.OAuth.Exchange(r.PostForm, false)
	case "refresh_token":
		if err = f.OAuth.Client(r.PostForm, false); err == nil && !f.TakeRefresh(r.FormValue("refresh_token"), true) {
			err = fmt.Errorf("the token is not known")
		}
	default:
		err = fmt.Errorf("the grant type %q", r.FormValue("grant_type"))
	}
	if err != nil {
		// X names no grant: node-twitter-api-v2 #496.
		what := "token"
		if kind == "authorization_code" {
			what = "authorization code"
		}
		control.JSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_request",
			"error_description": "Value passed for the " + what + " was invalid."})
		return
	}
	access, refresh := f.Grant(2 * time.Hour)
	f.OAuth.Issued(r.PostForm, access, refresh)
	control.JSON(w, http.StatusOK, map[string]any{"access_token": access, "refresh_token": refresh,
		"expires_in": 7200, "scope": strings.Join(f.OAuth.Scopes, " "), "token_type": "bearer"})
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	var body Body
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&body)
	f.mu.Lock()
	content, ok := f.content(body)
	_, answers := f.texts[body.Reply.To]
	to, comment := f.FindComment(body.Reply.To)
	answers = answers || comment
	duplicate := slices.Contains(f.recent(), shown(body))
	f.mu.Unlock()
	switch {
	case f.Empty:
		refuse(w, http.StatusPaymentRequired, "https://api.x.com/2/problems/credits", "No credits left.")
		return
	case err != nil || !ok || body.Reply.To != "" && !answers || weight(body.Text) > mostWeight ||
		body.Settings != "" && !slices.Contains([]string{"following", "mentionedUsers", "subscribers", "verified"},
			body.Settings):
		bad(w)
		return
	case cashtags(body.Text) > 1:
		refuse(w, http.StatusForbidden, "about:blank", "Posts are limited to a maximum of one cashtag")
		return
	case f.long(body):
		refuse(w, http.StatusForbidden, "about:blank",
			"This user is not allowed to post a video longer than 2 minutes.")
		return
	case duplicate:
		refuse(w, http.StatusForbidden, "about:blank",
			"You are not allowed to create a Tweet with duplicate content.")
		return
	}
	id := f.snowflake()
	switch {
	case comment:
		f.AddComment(control.Comment{ID: id, Post: to.Post, Parent: to.ID, Text: body.Text, Own: true})
	case body.Reply.To != "" && body.Text == f.Comment:
		f.Control.Comment(body.Text)
	default:
		f.Publish(control.Post{ID: id, Account: User, Content: content})
	}
	f.mu.Lock()
	f.texts[id], f.bodies[id] = shown(body), body
	f.Cost += postPrice
	if len(links(body.Text)) > 0 {
		f.Cost += linkPrice - postPrice
	}
	f.mu.Unlock()
	control.JSON(w, http.StatusCreated, map[string]any{"data": map[string]string{"id": id, "text": shown(body)}})
}

// videos are the videos that X takes (Media, Best practices). The page bounds the dimensions by 1280x1024, too, and says
// that subscribers upload 1080p: larger videos are taken.
var videos = control.Bounds{Narrowest: control.Ratio{Width: 1, Height: 3}, Widest: control.Ratio{Width: 3, Height: 1},
	MinShort: 32, MinLength: 500 * time.Millisecond, MaxLength: longest}

// longest is the length of a video that an account may post.
const longest = 140 * time.Second

// long reports whether a post has a video that is longer than X takes.
func (f *Fake) long(b Body) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.VideoTime > longest && slices.ContainsFunc(b.Media.IDs, func(id string) bool {
		c := f.files[id]
		return c != nil && strings.HasPrefix(c.mime, "video/")
	})
}

// content returns the content of a post, and whether its media are complete. The caller holds mu.
func (f *Fake) content(b Body) (string, bool) {
	content, ok := b.Text, len(b.Media.IDs) <= 4 && (b.Text != "" || len(b.Media.IDs) > 0)
	for _, id := range b.Media.IDs {
		c := f.files[id]
		if c == nil || !f.done(c) || utf8.RuneCountInString(c.alt) > 1000 ||
			strings.HasPrefix(c.mime, "video/") && !videos.Takes(f.Seen(control.Uploaded)) || strings.HasPrefix(c.mime, "video/") && len(b.Media.IDs) > 1 {
			return "", false
		}
		for n := range len(c.segments) {
			content += " " + c.segments[n]
		}
		content += " " + c.alt
	}
	if b.Reply.To != "" {
		content = "reply " + content
	}
	if b.Settings != "" {
		content += " replies of " + b.Settings
	}
	content, fits := b.attached(content)
	return content, ok && fits
}

// recent returns the texts of the last three hours. The caller holds mu.
func (f *Fake) recent() (all []string) {
	for _, p := range f.Published() {
		if f.Now().Sub(p.At) < 3*time.Hour {
			all = append(all, f.texts[p.ID])
		}
	}
	return all
}

var link = regexp.MustCompile(`https?://\S+`)

// shown returns the text as X shows it: with its own links, also for media, and with entities of HTML.
func shown(b Body) string {
	text := link.ReplaceAllString(b.Text, "https://t.co/abcdefghij")
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	if len(b.Media.IDs) > 0 {
		text += " https://t.co/klmnopqrst"
	}
	return text
}

// Body returns the call that has made a post.
func (f *Fake) Body(id string) Body {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies[id]
}

func (f *Fake) read(w http.ResponseWriter, r *http.Request) {
	post, ok := f.Find(r.PathValue("id"))
	f.mu.Lock()
	f.Cost += readPrice
	f.mu.Unlock()
	if !ok {
		control.JSON(w, http.StatusOK, map[string]any{"errors": []any{map[string]string{"title": "Not Found Error"}}})
		return
	}
	data := map[string]any{"id": r.PathValue("id"),
		"public_metrics": map[string]int{"impression_count": 90, "like_count": 8, "retweet_count": 2, "quote_count": 1,
			"reply_count": max(1, len(f.CommentsOn(r.PathValue("id")))), "bookmark_count": 4}}
	if fields := r.URL.Query().Get("tweet.fields"); strings.Contains(fields, "non_public_metrics") {
		if f.Now().Sub(post.At) > 30*24*time.Hour {
			control.JSON(w, http.StatusOK, map[string]any{"errors": []any{map[string]string{
				"title": "Field Authorization Error", "field": "non_public_metrics.url_link_clicks"}}})
			return
		}
		data["non_public_metrics"] = map[string]int{"impression_count": 90, "url_link_clicks": 6, "user_profile_clicks": 2}
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}

// snowflake returns a new id, which has the time.
func (f *Fake) snowflake() string {
	return strconv.FormatInt((f.Now().UnixMilli()-1_288_834_974_657)<<22|f.Small()&(1<<22-1), 10)
}

// list lists the posts since a time, newest first, with replies.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("exclude") != "" {
		f.past(w, r)
		return
	}
	since, err := time.Parse(time.RFC3339, r.URL.Query().Get("start_time"))
	most, bad1 := strconv.Atoi(r.URL.Query().Get("max_results"))
	if err != nil || bad1 != nil || most < 5 {
		bad(w)
		return
	}
	data := []any{}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range slices.Backward(f.Published()) {
		if !p.At.Before(since) && len(data) < most {
			data = append(data, map[string]any{"id": p.ID, "text": f.texts[p.ID], "created_at": p.At.UTC()})
			f.Cost += readPrice
		}
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}
