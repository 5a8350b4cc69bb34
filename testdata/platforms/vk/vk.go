// Package vk is a fake of the parts of VK's API that post on the wall of a community,
// and of VK ID.
package vk

import (
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// The community, its token, and the device of VK ID.
const (
	Group          = 200000001
	CommunityToken = "vk1.a.community-token-0001"
	Device         = "device-0001"
)

// Fake implements the API in memory.
type Fake struct {
	// Second says that the user edits a second community.
	Second bool
	// More is the number of further communities that the user edits.
	More int
	// Withheld is a right that the token of the user does not have.
	Withheld string
	*control.Control
	OAuth *oauth.Server

	mu     sync.Mutex
	files  map[string]string // sums of uploaded and saved files
	wall   []map[string]any
	guids  map[string]int64 // comments by their guids
	videos map[string]bool  // opened
	// Descriptions are the descriptions of videos, by their attachments.
	Descriptions map[string]string
	// Editor says that the user edits the community, but does not administer it, so that its statistics are refused.
	Editor bool
	// Refuse makes the next call of a method fail with the number of an error.
	Refuse map[string]int
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, _ int) { refuse(w, 6) }),
		OAuth: &oauth.Server{ClientID: oauth.ClientID, Divider: " ", Scopes: []string{"wall", "photos", "video",
			"groups"}, Extra: url.Values{"device_id": {Device}}},
		guids: map[string]int64{},
		files: map[string]string{}, videos: map[string]bool{}, Descriptions: map[string]string{},
		Refuse: map[string]int{},
	}
}

func answer(w http.ResponseWriter, v any) {
	control.JSON(w, http.StatusOK, map[string]any{"response": v})
}

// messages are the texts of errors, from VKCOM/vk-api-schema, errors.json.
var messages = map[int]string{
	1: "Unknown error occurred", 3: "Unknown method passed", 5: "User authorization failed: invalid access_token (4).",
	6: "Too many requests per second", 9: "Flood control", 10: "Internal server error", 14: "Captcha needed",
	15: "Access denied", 17: "Validation required", 27: "Group authorization failed", 28: "Application authorization failed",
	29: "Rate limit reached", 100: "One of the parameters specified was missing or invalid",
	203: "Access to group denied", 204: "Access denied", 211: "Access to wall's comment denied",
	213: "Access to status replies denied", 214: "Access to adding post denied",
}

func refuse(w http.ResponseWriter, code int) {
	message := messages[code]
	if message == "" {
		message = "Error"
	}
	control.JSON(w, http.StatusOK, map[string]any{"error": map[string]any{"error_code": code, "error_msg": message,
		"request_params": []any{}}})
}

// rights are the rights of a user's token that the methods of a section need (dev.vk.com, access rights).
var rights = map[string]string{"wall": "wall", "photos": "photos", "video": "video", "groups": "groups"}

// unscoped refuses a method that the token does not allow, as Duff89/parser_avito #267 reports.
func unscoped(w http.ResponseWriter) {
	control.JSON(w, http.StatusOK, map[string]any{"error": map[string]any{"error_code": 15, "error_subcode": 1133,
		"error_msg": "Access denied: no access to call this method. It cannot be called with current scopes."}})
}

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth2/auth", f.token)
	mux.HandleFunc("POST /oauth2/revoke", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") != oauth.ClientID || !f.Good(r.PostForm.Get("access_token")) {
			control.JSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_token"})
			return
		}
		f.Revoke()
		control.JSON(w, http.StatusOK, map[string]int{"response": 1})
	})
	mux.HandleFunc("POST /method/{method}", f.method)
	mux.HandleFunc("POST /upload/{kind}/{id}", f.upload)
	outer := http.NewServeMux()
	outer.HandleFunc("/authorize", f.OAuth.Authorize)
	outer.Handle("/", f.Handle(mux))
	return outer
}

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.FormValue("grant_type") {
	case "authorization_code":
		err = f.OAuth.Exchange(r.PostForm, false)
	case "refresh_token":
		if err = f.OAuth.Client(r.PostForm, false); err == nil &&
			!f.TakeRefresh(r.PostForm.Get("refresh_token"), true) {
			err = fmt.Errorf("the refresh token is not known")
		}
	default:
		err = fmt.Errorf("the grant type is not known")
	}
	if err == nil && r.PostForm.Get("device_id") != Device {
		err = fmt.Errorf("the device differs")
	}
	if err != nil {
		control.JSON(w, http.StatusOK, map[string]string{"error": "invalid_grant", "error_description": err.Error()})
		return
	}
	access, refresh := f.Grant(time.Hour)
	control.JSON(w, http.StatusOK, map[string]any{
		"access_token": access, "refresh_token": refresh, "expires_in": 3600, "token_type": "Bearer", "user_id": 100001,
		"scope": "wall photos video groups",
	})
}

// known are the parameters of each method.
var known = map[string][]string{
	"groups.get": {"filter", "extended", "count", "offset"}, "groups.getById": {"group_id", "fields"},
	"photos.getWallUploadServer": {"group_id"}, "photos.saveWallPhoto": {"group_id", "photo", "server", "hash"},
	"video.save": {"group_id", "wallpost", "name", "description"}, "wall.post": {"owner_id", "from_group", "guid",
		"message", "attachments", "close_comments", "mute_notifications", "mark_as_ads", "signed", "copyright"},
	"wall.get": {"owner_id", "count", "filter", "offset"}, "wall.getById": {"posts"},
	"wall.createComment": {"owner_id", "post_id", "from_group", "message", "guid", "reply_to_comment"},
	"wall.deleteComment": {"owner_id", "comment_id"},
	"wall.getComments": {"owner_id", "post_id", "sort", "count", "offset", "extended", "thread_items_count",
		"fields"},
	"wall.edit": {"owner_id", "post_id", "message", "attachments"}, "wall.delete": {"owner_id", "post_id"},
	"stats.getPostReach": {"owner_id", "post_ids"},
	"stats.get":          {"group_id", "interval", "timestamp_from", "timestamp_to"},
}

func (f *Fake) method(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")
	names, ok := known[method]
	community := r.Header.Get("Authorization") == "Bearer "+CommunityToken
	if err := r.ParseForm(); err != nil || !ok || r.PostForm.Get("v") != "5.199" {
		refuse(w, 3)
		return
	}
	q := r.PostForm
	for name := range q {
		if name != "v" && !slices.Contains(names, name) {
			refuse(w, 100)
			return
		}
	}
	f.mu.Lock()
	code := f.Refuse[method]
	delete(f.Refuse, method)
	f.mu.Unlock()
	owner := q.Get("owner_id")
	switch {
	case !community && !f.Authorized(r):
		refuse(w, 5)
	case code != 0:
		refuse(w, code)
	case !community && f.Withheld != "" && f.Withheld == rights[section(method)]:
		unscoped(w)
	case f.Editor && strings.HasPrefix(method, "stats."):
		refuse(w, 15)
	case community && method != "groups.getById" && (method != "wall.post" || q.Has("attachments")):
		refuse(w, 27)
	case owner != "" && owner != strconv.Itoa(-Group), q.Has("group_id") && q.Get("group_id") != strconv.Itoa(Group):
		refuse(w, 15)
	default:
		f.do(w, r, method, q)
	}
}

func (f *Fake) do(w http.ResponseWriter, r *http.Request, method string, q url.Values) {
	group := map[string]any{"id": Group, "name": "Acme", "screen_name": "acme",
		"photo_100": "https://sun.example.test/a.jpg"}
	switch method {
	case "groups.get":
		f.groups(w, q, group)
	case "groups.getById":
		if q.Get("fields") == "members_count" {
			group["members_count"] = 2300
		}
		answer(w, map[string]any{"groups": []any{group}, "profiles": []any{}})
	case "photos.getWallUploadServer":
		answer(w, map[string]any{"upload_url": control.Base(r) + "/upload/photo/" + f.ID(), "album_id": -14,
			"user_id": 0})
	case "photos.saveWallPhoto":
		f.mu.Lock()
		sum, ok := f.files[q.Get("photo")]
		f.mu.Unlock()
		if !ok || q.Get("server") != "123" || q.Get("hash") != "h" {
			refuse(w, 100)
			return
		}
		id := f.Small()
		f.save(fmt.Sprintf("photo-%d_%d", Group, id), sum)
		answer(w, []any{map[string]any{"id": id, "owner_id": -Group}})
	case "video.save":
		if utf8.RuneCountInString(q.Get("name")) > 128 || utf8.RuneCountInString(q.Get("description")) > 5000 ||
			q.Get("wallpost") != "0" {
			refuse(w, 100)
			return
		}
		id := f.Small()
		f.mu.Lock()
		f.videos[strconv.FormatInt(id, 10)] = true
		f.Descriptions[fmt.Sprintf("video-%d_%d", Group, id)] = q.Get("description")
		f.mu.Unlock()
		answer(w, map[string]any{"upload_url": fmt.Sprintf("%s/upload/video/%d", control.Base(r), id), "video_id": id,
			"owner_id": -Group, "title": q.Get("name"), "access_key": "k"})
	case "wall.post":
		f.post(w, q)
	case "wall.get":
		if q.Has("offset") {
			f.past(w, q)
			return
		}
		f.mu.Lock()
		items := slices.Clone(f.wall)
		f.mu.Unlock()
		slices.Reverse(items)
		answer(w, map[string]any{"count": len(items), "items": items})
	case "wall.getById":
		f.mu.Lock()
		items := slices.DeleteFunc(slices.Clone(f.wall),
			func(p map[string]any) bool { return fmt.Sprintf("-%d_%v", Group, p["id"]) != q.Get("posts") })
		f.mu.Unlock()
		answer(w, map[string]any{"items": items})
	case "stats.getPostReach":
		f.reach(w, q)
	case "stats.get":
		f.stats(w, q)
	case "wall.edit":
		f.edit(w, q)
	case "wall.delete":
		f.remove(w, q.Get("post_id"))
	case "wall.createComment":
		f.createComment(w, q)
	case "wall.deleteComment":
		f.deleteComment(w, q)
	case "wall.getComments":
		f.getComments(w, q)
	}
}

func section(method string) string {
	name, _, _ := strings.Cut(method, ".")
	return name
}

// groups lists the communities that the user administers or edits. A page may be shorter than the caller asks for.
func (f *Fake) groups(w http.ResponseWriter, q url.Values, first map[string]any) {
	count, err := strconv.Atoi(q.Get("count"))
	offset, _ := strconv.Atoi(q.Get("offset"))
	if err != nil || count < 0 || count > 1000 || offset < 0 || q.Get("filter") != "editor" || q.Get("extended") != "1" {
		refuse(w, 100)
		return
	}
	all := []any{first}
	if f.Second {
		all = append(all, map[string]any{"id": Group + 1, "name": "Acme & <Sons>", "screen_name": "acme_sons"})
	}
	for n := range f.More {
		all = append(all, map[string]any{"id": Group + 100 + n, "name": fmt.Sprint("Shop ", n), "screen_name": fmt.Sprint("shop", n)})
	}
	answer(w, map[string]any{"count": len(all), "items": all[min(offset, len(all)):min(offset+min(count, 100), len(all))]})
}

// edit replaces the text and the files of a post.
func (f *Fake) edit(w http.ResponseWriter, q url.Values) {
	content := q.Get("message")
	for _, name := range strings.FieldsFunc(q.Get("attachments"), func(r rune) bool { return r == ',' }) {
		f.mu.Lock()
		sum, ok := f.files[name]
		f.mu.Unlock()
		if !ok {
			refuse(w, 100)
			return
		}
		content += " " + sum
	}
	if !f.Rewrite(q.Get("post_id"), content) {
		refuse(w, 15)
		return
	}
	answer(w, map[string]any{"post_id": q.Get("post_id")})
}

// remove deletes a post. VK denies the deletion of one that does not exist.
func (f *Fake) remove(w http.ResponseWriter, id string) {
	if !f.Remove(id) {
		refuse(w, 15)
		return
	}
	f.mu.Lock()
	f.wall = slices.DeleteFunc(f.wall, func(p map[string]any) bool { return fmt.Sprint(p["id"]) == id })
	f.mu.Unlock()
	answer(w, 1)
}

func (f *Fake) save(name, sum string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[name] = sum
}

func (f *Fake) post(w http.ResponseWriter, q url.Values) {
	attachments := strings.FieldsFunc(q.Get("attachments"), func(r rune) bool { return r == ',' })
	message := q.Get("message")
	if message == "" && len(attachments) == 0 || len(attachments) > 10 || utf8.RuneCountInString(message) > 15_895 ||
		q.Get("from_group") != "1" || q.Get("guid") == "" {
		refuse(w, 100)
		return
	}
	content := message
	var files []map[string]any
	for _, name := range attachments {
		f.mu.Lock()
		sum, ok := f.files[name]
		f.mu.Unlock()
		if !ok {
			refuse(w, 100)
			return
		}
		content += " " + sum
		kind := strings.TrimRight(name[:strings.Index(name, "-")], "-")
		id, err := strconv.ParseInt(name[strings.Index(name, "_")+1:], 10, 64)
		if err != nil {
			refuse(w, 100)
			return
		}
		files = append(files, map[string]any{"type": kind, kind: map[string]any{"id": id, "owner_id": -Group}})
	}
	for _, name := range []string{"close_comments", "mute_notifications", "mark_as_ads", "signed", "copyright"} {
		switch value := q.Get(name); {
		case value != "" && value != "1" && !(name == "copyright" && control.Web(value)):
			refuse(w, 100)
			return
		case value != "":
			content += " " + name + " " + value
		}
	}
	id := f.Small()
	f.Publish(control.Post{ID: strconv.FormatInt(id, 10), Account: strconv.Itoa(-Group), Content: content})
	count := func(n int) map[string]int { return map[string]int{"count": n} }
	f.mu.Lock()
	f.wall = append(f.wall, map[string]any{
		"id": id, "owner_id": -Group, "date": f.Now().Unix(), "text": message, "attachments": files,
		"views": count(70), "likes": count(7), "comments": count(2), "reposts": count(1),
	})
	f.mu.Unlock()
	answer(w, map[string]any{"post_id": id})
}

// photos are the photos that VK takes (dev.vk.com, Uploading Files, Photos on the Wall: at most 50 MB, width and height
// at most 14,000 in total, and a ratio of at least 1:20).
var photos = control.Bounds{Narrowest: control.Ratio{Width: 1, Height: 20}, Widest: control.Ratio{Width: 20, Height: 1},
	MaxSum: 14_000, MaxBytes: 50 << 20}

// upload reads a photo or a video from a form with one file.
func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || r.ContentLength < 0 || r.Header.Get("Authorization") != "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	part, err := multipart.NewReader(r.Body, params["boundary"]).NextPart()
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	content, size := control.Picture(part)
	n, sum, err := control.Sum(content)
	if err != nil || n == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	id := r.PathValue("id")
	if r.PathValue("kind") == "photo" {
		if part.FormName() != "photo" {
			control.JSON(w, http.StatusOK, map[string]any{"server": 123, "photo": "[]", "hash": "h"})
			return
		}
		if size.Bytes = n; !photos.Takes(size) {
			control.JSON(w, http.StatusOK, map[string]any{"error": "ERR_UPLOAD_BAD_IMAGE_SIZE: " +
				"sum of width and height is too large"})
			return
		}
		raw, err := json.Marshal([]map[string]string{{"photo": id}})
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		f.save(string(raw), sum)
		control.JSON(w, http.StatusOK, map[string]any{"server": 123, "photo": string(raw), "hash": "h"})
		return
	}
	f.mu.Lock()
	opened := f.videos[id]
	f.mu.Unlock()
	if !opened || part.FormName() != "video_file" {
		control.JSON(w, http.StatusOK, map[string]any{"error": "unknown error"})
		return
	}
	f.save(fmt.Sprintf("video-%d_%s", Group, id), sum)
	video, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"size": n, "owner_id": -Group, "video_id": video})
}
