// Package linkedin is a fake of the parts of LinkedIn's API that publish: uploads, posts and comments
// of a member and of an organisation.
package linkedin

import (
	"encoding/json"
	"fmt"
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
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// The accounts of the one user.
const (
	Member       = "urn:li:person:acme01"
	Organization = "urn:li:organization:5515715"
)

// partBytes is the size of the parts of a video.
const partBytes = 4000

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	OAuth *oauth.Server
	// Took is the time for which a file is processed.
	Took time.Duration
	// Unapproved says that the application gets no refresh tokens.
	Unapproved bool
	// Unseen says that posts of the organisation have no statistics yet.
	Unseen bool
	// Extra are the scopes that the tokens have beyond those that are requested.
	Extra []string
	// Roles are the roles of the member, and Nameless the ids of organisations whose names nobody sees.
	Roles    []Role
	Nameless []string

	mu    sync.Mutex
	files map[string]*file
	posts map[string]post
}

type file struct {
	kind, owner, sum string
	parts            []string // tags
	size             int64
	made             time.Time
	whole            bool
	seen             control.Medium // of an image
}

type post struct{ author, commentary string }

// MemberScopes are the scopes of a usual application.
var MemberScopes = []string{"openid", "profile", "w_member_social"}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, _ int) {
			say(w, http.StatusTooManyRequests, "TOO_MANY_REQUESTS",
				"Resource level throttle APPLICATION DAY limit for calls to this resource is reached.")
		}),
		OAuth: &oauth.Server{ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Divider: " ",
			Scopes: MemberScopes},
		Took: 25 * time.Second, files: map[string]*file{}, posts: map[string]post{},
		Extra: []string{"w_organization_social", "r_organization_social"},
		Roles: []Role{{Organization, "ADMINISTRATOR", "APPROVED"}},
	}
}

// say refuses a call with a code and a message (error handling page).
func say(w http.ResponseWriter, status int, code, message string) {
	control.JSON(w, status, map[string]any{"status": status, "serviceErrorCode": 100, "code": code, "message": message})
}

func refuse(w http.ResponseWriter, status int) {
	code := strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_"))
	if status == http.StatusForbidden {
		code = "ACCESS_DENIED"
	}
	say(w, status, code, "The call is refused.")
}

func bad(w http.ResponseWriter) {
	say(w, http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "A field is invalid.")
}

// input refuses a post for one of its inputs (Linkedin-RSS #5).
func input(w http.ResponseWriter, code, message string) {
	control.JSON(w, http.StatusUnprocessableEntity, map[string]any{"status": http.StatusUnprocessableEntity,
		"message": exception + message, "errorDetailType": "com.linkedin.common.error.BadRequest",
		"errorDetails": map[string]any{"inputErrors": []any{map[string]any{"code": code, "description": message,
			"input": map[string]any{}}}}})
}

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	for _, kind := range []string{"images", "videos", "documents"} {
		api.HandleFunc("POST /rest/"+kind, f.initialize)
		api.HandleFunc("GET /rest/"+kind+"/{urn}", f.status)
	}
	api.HandleFunc("POST /rest/posts", f.create)
	api.HandleFunc("GET /rest/posts", f.list)
	api.HandleFunc("POST /rest/posts/{urn}", f.edit)
	api.HandleFunc("DELETE /rest/posts/{urn}", func(w http.ResponseWriter, r *http.Request) {
		f.Remove(r.PathValue("urn"))
		w.WriteHeader(http.StatusNoContent)
	})
	api.HandleFunc("GET /rest/peopleTypeahead", followers)
	api.HandleFunc("GET /rest/organizations", named)
	api.HandleFunc("GET /rest/organizationAcls", f.listRoles)
	api.HandleFunc("GET /rest/organizationsLookup", f.lookUp)
	api.HandleFunc("GET /rest/organizations/{id}", f.organisation)
	api.HandleFunc("POST /rest/socialActions/{urn}/comments", f.comment)
	api.HandleFunc("GET /rest/socialActions/{urn}/comments", f.comments)
	api.HandleFunc("DELETE /rest/socialActions/{urn}/comments/{id}", f.removeComment)
	api.HandleFunc("GET /rest/socialActions/{urn}", f.actions)
	f.figures(api)
	versioned := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Linkedin-Version") == "" || r.Header.Get("X-Restli-Protocol-Version") != "2.0.0" {
			say(w, http.StatusUpgradeRequired, "NONEXISTENT_VERSION", "The version is not active.")
			return
		}
		api.ServeHTTP(w, r)
	})
	authorized := http.NewServeMux()
	authorized.Handle("/rest/", versioned)
	authorized.HandleFunc("PUT /upload/{urn}/{part}", f.upload)
	authorized.HandleFunc("GET /v2/userinfo", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, map[string]string{"sub": "acme01", "name": "Ann Acme",
			"picture": "https://media.example.test/a.jpg"})
	})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth/v2/accessToken", f.token)
	mux.HandleFunc("POST /oauth/v2/revoke", func(http.ResponseWriter, *http.Request) { f.Revoke() })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			say(w, http.StatusUnauthorized, "EXPIRED_ACCESS_TOKEN", "The token used in the request has expired")
			return
		}
		authorized.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/oauth/v2/authorization", f.OAuth.Authorize)
	outer.Handle("/", f.Handle(mux))
	return outer
}

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.FormValue("grant_type") {
	case "authorization_code":
		err = f.OAuth.Exchange(r.PostForm, true)
	case "refresh_token":
		if err = f.OAuth.Client(r.PostForm, true); err == nil && !f.TakeRefresh(r.PostForm.Get("refresh_token"), false) {
			err = fmt.Errorf("the token is not known")
		}
	default:
		err = fmt.Errorf("the grant type %q", r.FormValue("grant_type"))
	}
	if err != nil {
		said := "The provided authorization grant or refresh token is invalid, expired or revoked"
		if r.FormValue("grant_type") == "authorization_code" {
			said = "Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or " +
				"authorization code expired"
		}
		control.JSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_request", "error_description": said})
		return
	}
	access, refresh := f.Grant(60 * 24 * time.Hour)
	if f.Unapproved {
		refresh = ""
	}
	control.JSON(w, http.StatusOK, map[string]any{"access_token": access, "refresh_token": refresh,
		"expires_in": 60 * 24 * 3600, "scope": strings.Join(f.OAuth.Scopes, ",")})
}

func (f *Fake) initialize(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("action") == "finalizeUpload" {
		f.finalize(w, r)
		return
	}
	var body struct {
		Request struct {
			Owner string `json:"owner"`
			Bytes int64  `json:"fileSizeBytes"`
		} `json:"initializeUploadRequest"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	kind := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/rest/"), "s")
	if owner := body.Request.Owner; err != nil || owner != Member && owner != Organization ||
		(kind == "video") != (body.Request.Bytes > 0) {
		bad(w)
		return
	}
	if !f.may(w, r, publishes(body.Request.Owner)) {
		return
	}
	urn := "urn:li:" + kind + ":" + f.ID()
	parts := int((body.Request.Bytes + partBytes - 1) / partBytes)
	f.mu.Lock()
	f.files[urn] = &file{kind: kind, owner: body.Request.Owner, size: body.Request.Bytes, parts: make([]string, parts),
		made: f.Now()}
	f.mu.Unlock()
	address := func(part int) string {
		return control.Base(r) + "/upload/" + url.PathEscape(urn) + "/" + strconv.Itoa(part)
	}
	value := map[string]any{kind: urn, "uploadUrl": address(0)}
	if kind == "video" {
		var all []map[string]any
		for i := range parts {
			first := int64(i) * partBytes
			all = append(all, map[string]any{"uploadUrl": address(i), "firstByte": first,
				"lastByte": min(first+partBytes, body.Request.Bytes) - 1})
		}
		value = map[string]any{kind: urn, "uploadInstructions": all, "uploadToken": "token-" + urn}
	}
	control.JSON(w, http.StatusOK, map[string]any{"value": value})
}

func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	content, size := control.Picture(r.Body)
	n, sum, err := control.Sum(content)
	part, _ := strconv.Atoi(r.PathValue("part")) // the route of another part has none
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.files[r.PathValue("urn")]
	if c == nil || err != nil || n == 0 {
		bad(w)
		return
	}
	tag := "tag-" + sum
	if c.kind == "video" {
		if part >= len(c.parts) {
			bad(w)
			return
		}
		c.parts[part] = tag
	} else {
		size.Bytes = n
		c.whole, c.seen = true, size
	}
	c.sum += sum
	w.Header().Set("ETag", tag)
	w.WriteHeader(http.StatusCreated)
}

func (f *Fake) finalize(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Request struct {
			Video string   `json:"video"`
			Token string   `json:"uploadToken"`
			Parts []string `json:"uploadedPartIds"`
		} `json:"finalizeUploadRequest"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.files[body.Request.Video]
	if err != nil || c == nil || body.Request.Token != "token-"+body.Request.Video ||
		!slices.Equal(c.parts, body.Request.Parts) {
		bad(w)
		return
	}
	c.whole, c.made = true, f.Now()
}

func (f *Fake) status(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.files[r.PathValue("urn")]
	switch {
	case c == nil:
		refuse(w, http.StatusNotFound)
	case c.owner == Member && c.kind != "video":
		refuse(w, http.StatusForbidden)
	case !c.whole || f.Now().Sub(c.made) < f.Took:
		control.JSON(w, http.StatusOK, map[string]string{"status": "PROCESSING"})
	default:
		control.JSON(w, http.StatusOK, map[string]string{"status": "AVAILABLE"})
	}
}

type attached struct {
	ID    string `json:"id"`
	Alt   string `json:"altText"`
	Title string `json:"title"`
}

var (
	hashtag  = regexp.MustCompile(`\{hashtag\|\\#\|[^}]*\}|@\[[^\]]+\]\(urn:li:(person|organization):[A-Za-z0-9_-]+\)`)
	reserved = regexp.MustCompile(`(^|[^\\])[<>#~_|\[\]*(){}@]`)
)

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Author     string         `json:"author"`
		Commentary string         `json:"commentary"`
		Visibility string         `json:"visibility"`
		Lifecycle  string         `json:"lifecycleState"`
		Distribute map[string]any `json:"distribution"`
		NoReshare  bool           `json:"isReshareDisabledByAuthor"`
		Content    struct {
			Media      *attached `json:"media"`
			MultiImage *struct {
				Images []attached `json:"images"`
			} `json:"multiImage"`
			Poll *poll `json:"poll"`
		} `json:"content"`
		Reshare struct {
			Parent string `json:"parent"`
		} `json:"reshareContext"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&body)
	var all []attached
	if m := body.Content.Media; m != nil {
		all = append(all, *m)
	}
	if m := body.Content.MultiImage; m != nil {
		if all = append(all, m.Images...); len(all) < 2 || len(all) > 20 {
			bad(w)
			return
		}
	}
	failed := false
	f.mu.Lock()
	content, ok := body.Visibility+" "+body.Commentary, err == nil && body.Content.Poll.fits() &&
		(len(all) == 0 || body.Content.Poll == nil && body.Reshare.Parent == "")
	content += body.Content.Poll.String()
	if body.Reshare.Parent != "" {
		content += " shares " + body.Reshare.Parent
	}
	for _, m := range all {
		c := f.files[m.ID]
		if ok = ok && c != nil && c.whole && c.owner == body.Author; !ok {
			break
		}
		content += " " + c.kind + c.sum + m.Alt + m.Title
		failed = failed || !f.takes(c)
		ok = c.kind == "image" || len(all) == 1
	}
	f.mu.Unlock()
	if !ok || body.Author != Member && body.Author != Organization || body.Lifecycle != "PUBLISHED" ||
		body.Visibility != "PUBLIC" && (body.Visibility != "CONNECTIONS" || body.Author != Member) ||
		body.Commentary == "" && len(all) == 0 ||
		reserved.MatchString(hashtag.ReplaceAllString(body.Commentary, "")) {
		bad(w)
		return
	}
	if !f.may(w, r, publishes(body.Author)) {
		return
	}
	if utf8.RuneCountInString(visible(body.Commentary)) > longest {
		input(w, "FIELD_LENGTH_TOO_LONG", "The commentary has more than 3000 characters")
		return
	}
	if failed || slices.ContainsFunc(all, func(m attached) bool { return utf8.RuneCountInString(m.Alt) > 4086 }) {
		say(w, http.StatusBadRequest, "MEDIA_ASSET_PROCESSING_FAILED", "The media asset has failed processing.")
		return
	}
	if twin := f.twin(body.Author, content); twin != "" {
		input(w, "DUPLICATE_POST", "Content is a duplicate of "+twin)
		return
	}
	id := "urn:li:share:" + f.number()
	if strings.Contains(content, " video") {
		id = "urn:li:ugcPost:" + f.number()
	}
	f.Publish(control.Post{ID: id, Account: body.Author, Content: content})
	f.mu.Lock()
	f.posts[id] = post{body.Author, body.Commentary}
	f.mu.Unlock()
	w.Header().Set("X-Restli-Id", id)
	w.WriteHeader(http.StatusCreated)
}

// images and videos are the files that LinkedIn takes (Images API: "less than 36152320 pixels"; Videos API: 3 seconds to
// 30 minutes, 500 MB; linkedin.com/help, Share videos: 1:2.4 to 2.4:1, 256x144 to 4096x2304).
var (
	images = control.Bounds{MaxPixels: 36_152_320 - 1}
	videos = control.Bounds{Narrowest: control.Ratio{Width: 10, Height: 24}, Widest: control.Ratio{Width: 24, Height: 10},
		MinShort: 144, MaxShort: 2304, MaxLong: 4096, MinLength: 3 * time.Second, MaxLength: 30 * time.Minute,
		MaxBytes: 500_000_000}
)

// takes reports whether LinkedIn can process a file.
func (f *Fake) takes(c *file) bool {
	switch c.kind {
	case "image":
		return images.Takes(c.seen)
	case "video":
		return videos.Takes(f.Seen(control.Uploaded))
	}
	return true
}

// longest is the length of a commentary as readers see it.
const longest = 3000

var written = regexp.MustCompile(`\{hashtag\|\\#\|([^}]*)\}|@\[((?:\\.|[^\]\\])*)\]\([^)]*\)|\\(.)`)

// visible returns a commentary as readers see it (little text format).
func visible(commentary string) string {
	return written.ReplaceAllStringFunc(commentary, func(found string) string {
		m := written.FindStringSubmatch(found)
		switch {
		case m[3] != "":
			return m[3]
		case found[0] == '{':
			return "#" + visible(m[1])
		}
		return visible(m[2])
	})
}

// number returns the number of a new post, which has the time above its lowest 22 bits.
func (f *Fake) number() string {
	return strconv.FormatInt(f.Now().UnixMilli()<<22|f.Small()&(1<<22-1), 10)
}

// twin returns the equal post of an author of the last day, or an empty URN.
func (f *Fake) twin(author, content string) string {
	for _, p := range f.Published() {
		if p.Account == author && p.Content == content && f.Now().Sub(p.At) < 24*time.Hour {
			return p.ID
		}
	}
	return ""
}

// list lists the posts of an organisation. Nobody may read those of a member.
func (f *Fake) list(w http.ResponseWriter, r *http.Request) {
	if q := r.URL.Query(); q.Get("q") != "author" || q.Get("author") != Organization {
		refuse(w, http.StatusForbidden)
		return
	}
	if !f.may(w, r, views(Organization)) {
		return
	}
	elements := []any{}
	f.mu.Lock()
	for _, p := range slices.Backward(f.Published()) {
		if f.posts[p.ID].author == Organization {
			elements = append(elements, map[string]any{"id": p.ID, "createdAt": p.At.UnixMilli(),
				"commentary": control.Kept(f.posts[p.ID].commentary)})
		}
	}
	f.mu.Unlock()
	f.past(w, r, elements)
}

func (f *Fake) comment(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Actor   string `json:"actor"`
		Object  string `json:"object"`
		Parent  string `json:"parentComment"`
		Message struct {
			Text string `json:"text"`
		} `json:"message"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	if err == nil && !f.may(w, r, publishes(body.Actor)) {
		return
	}
	if err == nil && body.Parent != "" {
		f.reply(w, r.PathValue("urn"), body.Parent, body.Actor, body.Object, body.Message.Text)
		return
	}
	if p, ok := f.Find(r.PathValue("urn")); err != nil || !ok || body.Actor != p.Account || body.Object != p.ID ||
		body.Message.Text == "" || utf8.RuneCountInString(body.Message.Text) > 1250 {
		bad(w)
		return
	}
	f.Comment(body.Message.Text)
	w.WriteHeader(http.StatusCreated)
}

func (f *Fake) edit(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Patch struct {
			Set struct {
				Commentary string `json:"commentary"`
			} `json:"$set"`
		} `json:"patch"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Header.Get("X-Restli-Method") != "PARTIAL_UPDATE" {
		bad(w)
		return
	}
	if !f.Rewrite(r.PathValue("urn"), body.Patch.Set.Commentary) {
		refuse(w, http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
