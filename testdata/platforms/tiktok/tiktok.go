// Package tiktok is a fake of TikTok's Content Posting API: uploads of videos in
// chunks, photos from addresses, and the states of publications.
package tiktok

import (
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
	"unicode/utf16"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// User is the open id of the one user.
const User = "open-id-0001"

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	OAuth *oauth.Server
	// MinChunk is the size of the smallest chunk, unless the video is smaller. TikTok has 5 MB.
	MinChunk int64
	// Took is the time for which a publication is processed. Moderated is the time until the
	// post has an id.
	Took, Moderated time.Duration

	mu   sync.Mutex
	pubs map[string]*publication
	// Reason makes the next publication fail with this reason.
	Reason string
	// Levels are the privacy levels that the account allows.
	Levels []string
	// Extra are the scopes that the tokens have beyond those that are requested.
	Extra []string
	// PhotoSizes are the widths and heights of photos by their addresses, and VideoSize those of the videos. TikTok takes
	// the media of tests that have none.
	PhotoSizes map[string][2]int
	VideoSize  [2]int
	// Longest is the length of a video that the account may post.
	Longest time.Duration
	// NoComments says that the account permits no comments.
	NoComments bool
}

type publication struct {
	info         info
	size         int64
	chunk, count int64
	received     int64
	sum          hash.Hash
	complete     time.Time // time at which all chunks had arrived
	reason, post string
	inbox        bool // it waits in the creator's inbox
	photos       []string
	expires      time.Time
}

type info struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Privacy     string `json:"privacy_level"`
	Comment     *bool  `json:"disable_comment"`
	Duet        *bool  `json:"disable_duet"`
	Stitch      *bool  `json:"disable_stitch"`
	Content     *bool  `json:"brand_content_toggle"`
	Organic     *bool  `json:"brand_organic_toggle"`
	Generated   *bool  `json:"is_aigc"`
	Music       *bool  `json:"auto_add_music"`
	Cover       *int64 `json:"video_cover_timestamp_ms"`
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{
		Control: control.New(now, func(w http.ResponseWriter, _ int) {
			refuse(w, http.StatusTooManyRequests,
				"rate_limit_exceeded")
		}),
		OAuth: &oauth.Server{
			ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, ClientParam: "client_key",
			Divider: ",", Hex: true,
			Scopes: []string{"user.info.basic", "video.publish", "video.upload", "video.list"},
		},
		MinChunk: 5 << 20, Took: 15 * time.Second, Moderated: 50 * time.Second, pubs: map[string]*publication{},
		Levels: []string{"PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"},
		Extra:  []string{"user.info.stats"}, Longest: 5 * time.Minute,
	}
}

func answer(w http.ResponseWriter, data any) {
	control.JSON(w, http.StatusOK, map[string]any{"data": data, "error": map[string]string{"code": "ok",
		"message": "",
		"log_id":  "1"}})
}

func refuse(w http.ResponseWriter, status int, code string) {
	control.JSON(w, status, map[string]any{"data": map[string]any{},
		"error": map[string]string{"code": code, "message": code, "log_id": "1"}})
}

// may reports whether the token has one of the scopes, which are divided by spaces, and refuses the call if
// it has none.
func (f *Fake) may(w http.ResponseWriter, scopes string) bool {
	for _, scope := range strings.Fields(scopes) {
		if slices.Contains(f.OAuth.Scopes, scope) || slices.Contains(f.Extra, scope) {
			return true
		}
	}
	refuse(w, http.StatusUnauthorized, "scope_not_authorized")
	return false
}

func bad(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, "invalid_params") }

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler {
	api := http.NewServeMux()
	// The scopes are those of the reference of each call (developers.tiktok.com/doc).
	handle := func(pattern, scopes string, h http.HandlerFunc) {
		api.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if f.may(w, scopes) {
				h(w, r)
			}
		})
	}
	api.HandleFunc("GET /v2/user/info/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("fields") == "follower_count,video_count" {
			if !f.may(w, "user.info.stats") {
				return
			}
			answer(w, map[string]any{"user": map[string]int{"follower_count": 900, "video_count": 15}})
			return
		}
		if r.URL.Query().Get("fields") != "open_id,display_name,avatar_url" {
			bad(w)
			return
		}
		if !f.may(w, "user.info.basic") {
			return
		}
		answer(w, map[string]any{"user": map[string]string{"open_id": User, "display_name": "Acme",
			"avatar_url": "https://p16.example.test/a.jpg"}})
	})
	api.HandleFunc("POST /v2/post/publish/creator_info/query/", func(w http.ResponseWriter, _ *http.Request) {
		if !f.may(w, "video.publish") {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		answer(w, map[string]any{
			"creator_username": "acme", "creator_nickname": "Acme", "privacy_level_options": f.Levels,
			"comment_disabled": f.NoComments, "duet_disabled": false, "stitch_disabled": true,
			"max_video_post_duration_sec": int(f.Longest.Seconds()),
		})
	})
	handle("POST /v2/post/publish/video/init/", "video.publish", f.initVideo)
	handle("POST /v2/post/publish/inbox/video/init/", "video.upload", f.initInbox)
	api.HandleFunc("POST /v2/post/publish/content/init/", f.initPhotos)
	handle("POST /v2/post/publish/status/fetch/", "video.publish video.upload", f.status)
	handle("POST /v2/video/query/", "video.list", f.query)
	handle("POST /v2/video/list/", "video.list", f.past)
	guarded := http.NewServeMux()
	guarded.HandleFunc("POST /v2/oauth/token/", f.token)
	guarded.HandleFunc("POST /v2/oauth/revoke/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Good(r.FormValue("token")) || f.OAuth.Client(r.PostForm, true) != nil {
			control.JSON(w, http.StatusOK, map[string]string{"error": "invalid_request",
				"error_description": "Access token is invalid."})
			return
		}
		f.Revoke()
		w.WriteHeader(http.StatusOK)
	})
	guarded.HandleFunc("PUT /upload/{id}", f.upload)
	guarded.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, http.StatusUnauthorized, "access_token_invalid")
			return
		}
		api.ServeHTTP(w, r)
	})
	outer := http.NewServeMux()
	outer.HandleFunc("/v2/auth/authorize/", f.OAuth.Authorize)
	outer.Handle("/", f.Handle(guarded))
	return outer
}

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.FormValue("grant_type") {
	case "authorization_code":
		err = f.OAuth.Exchange(r.PostForm, true)
	case "refresh_token":
		if err = f.OAuth.Client(r.PostForm, true); err == nil && !f.TakeRefresh(r.PostForm.Get("refresh_token"), true) {
			err = fmt.Errorf("the refresh token is not known")
		}
	default:
		err = fmt.Errorf("the grant type is not known")
	}
	if err != nil {
		said := "Refresh token is invalid or expired."
		if r.FormValue("grant_type") == "authorization_code" {
			said = "Authorization code is expired."
		}
		control.JSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": said,
			"log_id": "1"})
		return
	}
	access, refresh := f.Grant(24 * time.Hour)
	f.OAuth.Issued(r.PostForm, access, refresh)
	control.JSON(w, http.StatusOK, map[string]any{
		"access_token": access, "expires_in": 86400, "open_id": User, "refresh_token": refresh,
		"refresh_expires_in": 31536000,
		"scope":              strings.Join(f.OAuth.Scopes, ","), "token_type": "Bearer",
	})
}

func decode(r *http.Request, into any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") && d.Decode(into) == nil
}

// check makes the checks that both kinds of posts share.
func (f *Fake) check(w http.ResponseWriter, i info, title, description int) bool {
	f.mu.Lock()
	known, silent := slices.Contains(f.Levels, i.Privacy), f.NoComments
	f.mu.Unlock()
	switch {
	case !known:
		refuse(w, http.StatusForbidden, "privacy_level_option_mismatch")
	case i.Comment == nil || silent && !*i.Comment || i.Content == nil || i.Organic == nil,
		units(i.Title) > title, units(i.Description) > description:
		bad(w)
	default:
		return true
	}
	return false
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// finish posts the media that have arrived. The caller holds mu.
func (f *Fake) finish(p *publication, media string) {
	p.complete = f.Now()
	if p.reason, f.Reason = f.Reason, ""; p.reason == "" && !f.fits(p) {
		p.reason = "picture_size_check_failed"
	}
	if p.reason != "" {
		return
	}
	p.post = f.ID()
	i := p.info
	if p.inbox {
		f.Publish(control.Post{ID: p.post, Account: User, Content: "inbox | " + media})
		return
	}
	generated := "not declared"
	if i.Generated != nil {
		generated = strconv.FormatBool(*i.Generated)
	}
	cover := int64(-1)
	if i.Cover != nil {
		cover = *i.Cover
	}
	choices := ""
	for name, on := range map[string]*bool{" no duet": i.Duet, " brand": i.Content, " own brand": i.Organic} {
		if on != nil && *on {
			choices += name
		}
	}
	f.Publish(control.Post{ID: p.post, Account: User, Content: fmt.Sprintf("%s | %s | %s %v %s %d%s | %s", i.Title,
		i.Description, i.Privacy, *i.Comment, generated, cover, choices, media)})
}

// photos and videos are the media that TikTok takes (Content Posting API, Media Transfer Guide: images of at most 1080p
// and 20 MB; videos of 360 to 4,096 pixels on each side and at most 10 minutes; 3 seconds are in its help). 1080p bounds
// the shorter side (gitroomhq/postiz-app #1875, trypostit/trypost #120), and is 1,920 pixels long.
var (
	photos = control.Bounds{MIMEs: []string{"image/jpeg", "image/webp"}, MaxBytes: 20 << 20, MaxShort: 1080, MaxLong: 1920}
	videos = control.Bounds{MIMEs: []string{"video/mp4", "video/quicktime", "video/webm"}, MinShort: 360, MaxLong: 4096,
		MinLength: 3 * time.Second, MaxLength: 10 * time.Minute, MaxBytes: 4 << 30}
)

// fits reports whether TikTok takes the media of a publication. One that it does not take fails all. The caller holds mu.
func (f *Fake) fits(p *publication) bool {
	if p.photos == nil {
		m := f.Seen(control.Uploaded)
		if f.VideoSize[0] > 0 {
			m.Width, m.Height = f.VideoSize[0], f.VideoSize[1]
		}
		return videos.Takes(m)
	}
	return !slices.ContainsFunc(p.photos, func(address string) bool {
		m := f.Seen(address)
		if size, ok := f.PhotoSizes[address]; ok {
			m.Width, m.Height = size[0], size[1]
		}
		return !photos.Takes(m)
	})
}

var ranges = regexp.MustCompile(`^bytes (\d+)-(\d+)/(\d+)$`)
