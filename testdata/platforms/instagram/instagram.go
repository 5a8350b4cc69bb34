// Package instagram is a fake of the parts of Facebook's Graph API that publish on
// Instagram: containers, their publication, and reading posts. A container that is published
// twice makes two posts.
package instagram

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/meta"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// User is the professional account of the one user.
const User = "17841400000000001"

// Second is the account of a page that a business portfolio owns.
const Second = "17841400000000002"

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	meta.Rights
	OAuth *oauth.Server

	// Took is the time for which a container of a video is in progress.
	Took time.Duration

	mu         sync.Mutex
	containers map[string]*container
	captions   map[string]string // by post
	// Used is the number of posts that the account has made today.
	Used int
	// Most is the number of containers that an account may make in 24 hours. Refused is the
	// number of containers refused for that reason.
	Most, Refused int
	// Hasty counts the requests for an unfinished container that come less than a minute after
	// the last one.
	Hasty int
	// Total is the number of posts that the account may make in 24 hours: 50 or 100.
	Total int
	// Pages, Owned and Client are the numbers of further pages in the list of the login, and in those of two portfolios:
	// the pages that they own, and those of their clients. The last page of each list is in the next one, too.
	Pages, Owned, Client int
	// Portfolio says that a business portfolio owns the page of a second account.
	// NoPortfolios says that the login may not read portfolios.
	Portfolio, NoPortfolios bool
	// Fixed says that tokens are no longer extended.
	Fixed bool

	made   []time.Time // times of containers
	access time.Time   // end of the owner's grant
	until  time.Time   // end of the latest token
	// Breaks makes the next publication succeed but report a failure.
	Breaks bool
}

type container struct {
	kind, caption string
	content       string
	made          time.Time
	took          time.Duration
	published     bool
	looked        time.Time
	item          bool // of a carousel
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, _ int) { refuse(w, http.StatusForbidden, 4, 0, false) }),
		OAuth: &oauth.Server{
			ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Divider: ",",
			Scopes: []string{"instagram_basic", "instagram_content_publish", "instagram_manage_comments",
				"instagram_manage_insights", "pages_show_list", "pages_read_engagement", "business_management"},
		},
		Took: 45 * time.Second, Most: 400, Total: 50, containers: map[string]*container{}, captions: map[string]string{},
	}
}

func refuse(w http.ResponseWriter, status, code, subcode int, transient bool) {
	meta.Refusal{Status: status, Code: code, Subcode: subcode, Transient: transient}.Write(w)
}

func bad(w http.ResponseWriter, subcode int) { refuse(w, http.StatusBadRequest, 100, subcode, false) }

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	// The permissions are those that the reference names for each endpoint.
	on := func(pattern string, h http.HandlerFunc, permissions ...string) {
		method, path, _ := strings.Cut(pattern, " ")
		api.HandleFunc(method+" /v26.0"+path, f.Needs(h, permissions...))
	}
	const basic, publish, comments, insights = "instagram_basic", "instagram_content_publish",
		"instagram_manage_comments", "instagram_manage_insights"
	on("GET /me", control.Me)
	on("GET /me/accounts", f.accounts, "pages_show_list")
	on("GET /me/businesses", f.businesses, "business_management")
	on("GET /{portfolio}/owned_pages", f.ofPortfolio, "business_management")
	on("GET /{portfolio}/client_pages", f.ofPortfolio, "business_management")
	on("DELETE /me/permissions", func(w http.ResponseWriter, _ *http.Request) {
		f.Revoke()
		control.JSON(w, http.StatusOK, map[string]bool{"success": true})
	})
	on("GET /{user}/content_publishing_limit", f.limit, basic, publish)
	on("POST /{user}/media", f.create, basic, publish)
	on("POST /{user}/media_publish", f.publish, basic, publish)
	on("GET /{user}/media", f.list, basic)
	on("GET /{user}/stories", f.list, basic)
	on("GET /pages/search", func(w http.ResponseWriter, r *http.Request) {
		if !control.Search(w, r) {
			bad(w, 0)
		}
	})
	on("GET /{media}/insights", f.insights, basic, insights)
	on("POST /{media}/comments", f.comment, basic, comments)
	on("GET /{media}/comments", f.comments, basic, comments)
	on("POST /{comment}/replies", f.reply, basic, comments)
	on("POST /{comment}", f.hide, basic, comments)
	on("DELETE /{comment}", f.removeComment, basic, comments)
	on("GET /{node}", f.node, basic)
	guarded := http.NewServeMux()
	guarded.HandleFunc("POST /v26.0/oauth/access_token", f.token)
	guarded.HandleFunc("GET /v26.0/debug_token", f.debug)
	guarded.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusUnauthorized, 190, 463, false)
			return
		}
		api.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/v26.0/dialog/oauth", f.OAuth.Authorize)
	outer.Handle("/", f.Handle(guarded))
	return outer
}

// take counts a container against the limit of 24 hours. The caller holds mu.
func (f *Fake) take() bool {
	f.made = slices.DeleteFunc(f.made, func(t time.Time) bool { return f.Now().Sub(t) >= 24*time.Hour })
	if len(f.made) >= f.Most {
		f.Refused++
		return false
	}
	f.made = append(f.made, f.Now())
	return true
}

func (f *Fake) limit(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.PathValue("user") != User || r.URL.Query().Get("fields") != "quota_usage,config" {
		bad(w, 33)
		return
	}
	control.JSON(w, http.StatusOK,
		map[string]any{"data": []any{map[string]any{"quota_usage": f.Used, "config": map[string]any{"quota_total": f.Total,
			"quota_duration": 86400}}}})
}

// fields are the parameters that each type of container may have.
var fields = map[string][]string{
	"": {"image_url", "caption", "alt_text", "is_carousel_item", "is_ai_generated", "is_paid_partnership",
		"branded_content_sponsor_ids", "collaborators", "user_tags", "location_id"},
	"REELS": {"video_url", "caption", "cover_url", "thumb_offset", "is_ai_generated", "is_paid_partnership",
		"branded_content_sponsor_ids", "collaborators", "user_tags", "location_id", "share_to_feed", "trial_params",
		"audio_name"},
	"VIDEO":   {"video_url", "is_carousel_item"},
	"STORIES": {"image_url", "video_url", "is_ai_generated"},
	"CAROUSEL": {"children", "caption", "is_ai_generated", "is_paid_partnership",
		"branded_content_sponsor_ids", "collaborators", "location_id"},
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.PathValue("user") != User {
		bad(w, 33)
		return
	}
	f.mu.Lock()
	kind := r.PostForm.Get("media_type")
	c, subcode := f.check(kind, r.PostForm)
	within := subcode != 0 || f.take()
	f.mu.Unlock()
	if subcode != 0 {
		meta.Refusal{Code: codes[subcode], Subcode: max(subcode, 0)}.Write(w)
		return
	}
	if !within {
		refuse(w, http.StatusForbidden, 9, 2207042, false)
		return
	}
	id := f.ID()
	f.mu.Lock()
	f.containers[id] = c
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]string{"id": id})
}

// unknown stands for a parameter that is not valid, which has no subcode.
const unknown = -1

// codes are the codes of the subcodes of refused containers (Instagram Platform, Error Codes).
var codes = map[int]int{unknown: 100, 2207010: 36004, 2207040: 100, 2207028: 100, 2207052: 9004, 2207057: 1,
	2207009: 36003, 2207026: 352}

// mentions and hashtags find what counts in a caption (IG User Media: at most 20 mentions and 30 hashtags; Instagram
// announced five hashtags in December 2025). Hashtags may follow each other without a space; a # in a word begins none.
var (
	mentions = regexp.MustCompile(`(?:^|[^\w.@])@[A-Za-z0-9._]+`)
	hashtags = regexp.MustCompile(`(?:^|[^\pL\pM\pN_&])((?:[#＃][\pL\pM\pN_]+)+)`)
)

// tags counts the hashtags of a caption.
func tags(caption string) (n int) {
	for _, m := range hashtags.FindAllStringSubmatch(caption, -1) {
		n += strings.Count(m[1], "#") + strings.Count(m[1], "＃")
	}
	return n
}

func (f *Fake) check(kind string, form url.Values) (*container, int) {
	known, ok := fields[kind]
	for name := range form {
		if !ok || name != "media_type" && !slices.Contains(known, name) {
			return nil, unknown
		}
	}
	c := &container{kind: kind, caption: form.Get("caption"), made: f.Now(),
		item: form.Get("is_carousel_item") == "true"}
	image, video := form.Get("image_url"), form.Get("video_url")
	switch {
	case utf8.RuneCountInString(c.caption) > 2200:
		return nil, 2207010
	case tags(c.caption) > 5, len(mentions.FindAllString(c.caption, -1)) > 20:
		return nil, 2207040
	case c.item && (c.caption != "" || form.Has("is_ai_generated") || form.Has("is_paid_partnership") ||
		form.Has("collaborators") || form.Has("location_id")), !adorned(kind, form),
		form.Has("branded_content_sponsor_ids") && form.Get("is_paid_partnership") != "true":
		return nil, unknown
	case kind == "CAROUSEL":
		children := strings.Split(form.Get("children"), ",")
		if len(children) < 2 || len(children) > 10 {
			return nil, 2207028
		}
		for _, id := range children {
			child := f.containers[id]
			if child == nil || !child.item || f.state(child) != "FINISHED" {
				return nil, unknown
			}
			c.content += " " + child.content
		}
	case (image == "") == (video == ""), kind == "" && image == "", (kind == "REELS" || kind == "VIDEO") && video == "":
		return nil, unknown
	case !control.Public(image + video):
		return nil, 2207052
	case image != "" && !picturesOf(kind).Takes(f.Seen(image)):
		return nil, 2207009
	case video != "" && !videosOf(kind).Takes(f.Seen(video)):
		return nil, 2207026
	}
	if video != "" {
		c.took = f.Took
	}
	if form.Get("is_ai_generated") == "true" {
		c.content += " made by AI "
	}
	if form.Get("is_paid_partnership") == "true" {
		c.content += " paid by " + form.Get("branded_content_sponsor_ids") + " "
	}
	for _, name := range options {
		if value := form.Get(name); value != "" {
			c.content += " " + name + " " + value + " "
		}
	}
	c.content += image + video + form.Get("alt_text") + form.Get("cover_url")
	if offset := form.Get("thumb_offset"); offset != "" {
		if _, err := strconv.Atoi(offset); err != nil {
			return nil, 2207057
		}
		c.content += "@" + offset
	}
	return c, 0
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
	if c == nil || c.item || r.PathValue("user") != User || len(r.PostForm) != 1 {
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, 24, 2207006, false)
		return
	}
	switch state := f.state(c); state {
	case "IN_PROGRESS":
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, 9007, 2207027, false)
		return
	case "EXPIRED":
		f.mu.Unlock()
		refuse(w, http.StatusBadRequest, 24, 2207008, false)
		return
	}
	c.published = true
	f.Used++
	breaks := f.Breaks
	f.Breaks = false
	f.mu.Unlock()
	id := f.ID()
	f.Publish(control.Post{ID: id, Account: User, Content: c.kind + " " + c.caption + c.content})
	f.mu.Lock()
	f.captions[id] = c.caption
	f.mu.Unlock()
	if breaks {
		refuse(w, http.StatusForbidden, 4, 2207051, false)
		return
	}
	control.JSON(w, http.StatusOK, map[string]string{"id": id})
}

// list lists the posts, newest first. Stories have a separate list.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Query().Get("fields"), "media_type") {
		f.past(w, r)
		return
	}
	stories := strings.HasSuffix(r.URL.Path, "/stories")
	data := []any{}
	f.mu.Lock()
	defer f.mu.Unlock()
	posts := f.Published()
	slices.Reverse(posts)
	for _, p := range posts {
		if strings.HasPrefix(p.Content, "STORIES") == stories {
			data = append(data, map[string]string{"id": p.ID, "caption": control.Kept(f.captions[p.ID]),
				"timestamp": p.At.Format("2006-01-02T15:04:05-0700")})
		}
	}
	meta.List(w, r, data)
}

func (f *Fake) node(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("node")
	f.mu.Lock()
	c := f.containers[id]
	f.mu.Unlock()
	if id == User && r.URL.Query().Get("fields") == "followers_count,media_count" {
		control.JSON(w, http.StatusOK, map[string]any{"id": id, "followers_count": 4200, "media_count": 70})
		return
	}
	if _, ok := f.Find(id); ok {
		control.JSON(w, http.StatusOK,
			map[string]string{"id": id, "permalink": "https://www.instagram.com/p/" + id + "/"})
		return
	}
	if c == nil || r.URL.Query().Get("fields") != "status_code,status" {
		bad(w, 33)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	state := f.state(c)
	if state == "IN_PROGRESS" && !c.looked.IsZero() && f.Now().Sub(c.looked) < time.Minute {
		f.Hasty++
	}
	c.looked = f.Now()
	control.JSON(w, http.StatusOK, map[string]string{"id": id, "status_code": state, "status": state})
}

func (f *Fake) insights(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("media") == User {
		if r.URL.Query().Get("period") != "day" || !control.Insights(w, r, 30, "reach", "follower_count") {
			bad(w, 33)
		}
		return
	}
	p, ok := f.Find(r.PathValue("media"))
	ok = ok || f.FindPast(r.PathValue("media"))
	if !ok {
		bad(w, 33)
		return
	}
	if strings.HasPrefix(p.Content, "STORIES") && strings.Contains(r.URL.Query().Get("metric"), "likes") {
		meta.Refusal{Code: 100, Message: "(#100) The metric likes is not available for the media type STORY"}.Write(w)
		return
	}
	data := []any{}
	for i, name := range strings.Split(r.URL.Query().Get("metric"), ",") {
		data = append(data, map[string]any{"name": name, "period": "lifetime",
			"values": []any{map[string]int{"value": 100 - i}}})
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}

func (f *Fake) comment(w http.ResponseWriter, r *http.Request) {
	if p, ok := f.Find(r.PathValue("media")); !ok || strings.HasPrefix(p.Content, "STORIES") ||
		r.FormValue("message") == "" ||
		utf8.RuneCountInString(r.FormValue("message")) > 300 {
		bad(w, 0)
		return
	}
	f.Comment(r.FormValue("message"))
	control.JSON(w, http.StatusOK, map[string]string{"id": f.ID()})
}
