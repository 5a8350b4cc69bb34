// Package tiktok publishes on TikTok by the Content Posting API.
//
// A publication is opened first. A video is uploaded to it in chunks, and is posted after its last byte. TikTok pulls
// photos as soon as a call names them, so that call cannot be repeated, and its outcome cannot be read. Start with
// Platform in tiktok.go; publish.go makes posts.
package tiktok

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/media"
)

// Name is the platform's id.
const Name = "tiktok"

// The platform's addresses.
const (
	accounts = "https://www.tiktok.com"
	api      = "https://open.tiktokapis.com"
)

var (
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime", "video/webm"}, MaxBytes: 4 << 30,
		MinShort: 360, MaxLong: 4096, MinTime: 3 * time.Second, MaxTime: 10 * time.Minute,
		// developers.tiktok.com/doc/content-posting-api-media-transfer-guide
		Form: platform.Form{Pictures: []media.Codec{media.H264, media.HEVC, media.VP8, media.VP9}, MaxRate: 60}}
	// TikTok takes photos of up to 1080p. One that is larger fails the whole post.
	photo = &platform.File{MIMEs: []string{"image/jpeg", "image/webp"}, MaxBytes: 20 << 20, MaxShort: 1080,
		MaxLong: 1920}

	caption    = platform.Text{Max: 2200, Unit: platform.UTF16}
	text       = platform.Text{Max: 4000, Unit: platform.UTF16}
	photoTitle = platform.Text{Max: 90, Unit: platform.UTF16}

	// ofVideos lists the options that photos do not have.
	ofVideos = []platform.Option{platform.OptionGenerated, platform.OptionCoverAt, optionDuet, optionStitch,
		"duet", "stitch"}
	// ofPhotos lists the options that videos do not have.
	ofPhotos = []platform.Option{optionCover, optionMusic}
)

var capabilities = platform.Capabilities{
	Label:   "TikTok",
	Connect: platform.ConnectOAuth,
	Scopes:  []string{"user.info.basic", "video.publish", "video.upload", "video.list"},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindVideo:     {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video, Without: ofPhotos},
		platform.KindMusicClip: {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video, Without: ofPhotos},
		platform.KindPost: {Title: photoTitle, Caption: text, MinMedia: 1, MaxMedia: 1, Image: photo,
			Without: ofVideos},
		platform.KindCarousel: {Title: photoTitle, Caption: text, MinMedia: 2, MaxMedia: 35, Image: photo,
			Without: ofVideos},
	},
	Origin: platform.Origin{Flag: true, Reads: []platform.Mark{platform.MarkC2PA},
		Source: "https://support.tiktok.com/en/using-tiktok/creating-videos/ai-generated-content"},
	Hashtags: platform.Hashtags{Max: 100},
	Options: []platform.Option{
		platform.OptionPrivacy, platform.OptionGenerated, platform.OptionCoverAt,
		platform.OptionDisableComments, optionDuet, optionStitch, "comments", "duet", "stitch", "disclosure", "mode",
		"consent", optionCover, optionMusic,
	},
	RequiredChoices: missingChoices,
	Refuses:         refuses,
	Shape:           Options{},
	Privacies:       []platform.Privacy{platform.Public, platform.Friends, platform.Private},
	Metrics:         []string{"views", "likes", "comments", "shares"},
	Past:            platform.Past{Page: pastPage, Figures: true},
	Account:         platform.AccountFigures{Names: []string{"followers", "posts"}},
	DailyPosts:      15,
	Plain:           true,
	Habits: platform.Habits{FirstLine: 80, MinCaption: 40, MaxCaption: 300, Hashtags: 4,
		Hours: []int{18, 21, 16, 12}, WeekendHours: []int{11, 19, 21, 15},
		Action: "to comment, to follow or to watch the next part",
		Form: "One or two lines that add what the video does not say: a question, a detail or the next " +
			"step. Words that people search for stand in the first line."},
	Notes: []string{
		"TikTok requires that the person who posts chooses privacy, comments, duet, stitch and disclosure for each " +
			"post, and agrees to its terms: send them in options.tiktok. Without them a post is refused, and " +
			"automatic publishing leaves TikTok out.",
		"Until TikTok has audited the operator's application, it posts privately only.",
		"Photos are read from the operator's domain, which must be verified with TikTok.",
		"Where the answer to a post of photos is lost, the publication ends as outcome_unknown.",
		"A private post has no id at TikTok, and no metrics.",
		"TikTok takes the declaration of AI with videos only.",
		"TikTok lets applications that post for creators name neither a track of its commercial music library nor a " +
			"place: add them with mode inbox, in TikTok.",
		"TikTok permits no logo and no name of a brand in media: they are left out of what a factory makes that has " +
			"a TikTok account.",
	},
}

// The options that only TikTok has.
const (
	optionDuet   platform.Option = "disable_duet"
	optionStitch platform.Option = "disable_stitch"
	optionCover  platform.Option = "cover_slide"
	optionMusic  platform.Option = "auto_music"
)

// Options are the options of posts on TikTok, as callers send them.
type Options struct {
	platform.Visible
	platform.CoverAtOption
	platform.AIOption
	// Whether comments are permitted. Required unless mode is inbox.
	Comments *bool `json:"comments,omitempty"`
	// Whether duets are permitted. Required for videos, unless mode is inbox.
	Duet *bool `json:"duet,omitempty"`
	// Whether stitches are permitted. Required for videos, unless mode is inbox.
	Stitch *bool `json:"stitch,omitempty"`
	// What the content promotes: nothing, the own brand, or another one for a reward. Required unless mode is inbox.
	Disclosure string `json:"disclosure,omitempty" enum:"none,own_brand,paid_partnership"`
	// direct publishes the post; inbox leaves it in the inbox of the account, where the person finishes it. Absent:
	// direct.
	Mode string `json:"mode,omitempty" enum:"direct,inbox"`
	// Whether the person who posts agrees to the music usage confirmation of TikTok, and for paid partnerships to its
	// branded content policy. Must be true.
	Consent bool `json:"consent,omitempty"`

	platform.CommentsOption
	// Permits no duets.
	DisableDuet bool `json:"disable_duet,omitempty"`
	// Permits no stitches.
	DisableStitch bool `json:"disable_stitch,omitempty"`
	// Number of the photo that is shown first, from 1. Absent: 1.
	CoverSlide int `json:"cover_slide,omitempty" minimum:"1" maximum:"35"`
	// Lets TikTok add music to photos, which the person can change in TikTok.
	AutoMusic bool `json:"auto_music,omitempty"`
}

func optionsOf(post platform.Post) Options {
	o, _ := post.Options.Own.(Options)
	return o
}

// Platform is TikTok.
type Platform struct {
	wire.Connector
	platform.Chain[state]
	Chunk int64 // the length of a chunk but for the last
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{Client: c, Root: c.Base(api), Classify: classes},
		OAuth: wire.OAuth{
			Authorize: c.Base(accounts) + "/v2/auth/authorize/", Token: c.Base(api) + "/v2/oauth/token/",
			Scopes: capabilities.Scopes, Divider: ",", ClientParam: "client_key", Challenge: challenge,
			Classify: classifyToken,
		}}, Chunk: defaultChunk}
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// challenge returns the challenge in hexadecimal, which TikTok uses instead of the base64url of RFC
// 7636.
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return hex.EncodeToString(sum[:])
}

// Connect implements platform.Connector. It returns the account of the user who has allowed it.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	token, err := p.Client.Grant(ctx, p.OAuth, g, "TikTok")
	if err != nil {
		return nil, err
	}
	var answer struct {
		User struct {
			ID     string `json:"open_id"`
			Name   string `json:"display_name"`
			Avatar string `json:"avatar_url"`
		} `json:"user"`
	}
	call := p.Call(http.MethodGet, "/v2/user/info/", token.Access)
	call.Query = url.Values{"fields": {"open_id,display_name,avatar_url"}}
	if err := p.do(ctx, call, &answer); err != nil {
		return nil, err
	}
	u := answer.User
	return []platform.Account{{ID: u.ID, Handle: u.Name, Name: u.Name, AvatarURL: u.Avatar, Token: token}}, nil
}

// Revoke implements platform.Connector.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	app, err := p.Client.App(ctx)
	if err != nil {
		return err
	}
	form := url.Values{"client_key": {app.ID}, "client_secret": {app.Secret.Reveal()},
		"token": {a.Token.Access.Reveal()}}
	call := wire.Call{Name: "revoke", Method: http.MethodPost, URL: p.Client.Base(api) + "/v2/oauth/revoke/",
		Form:    form,
		Secrets: []platform.Secret{app.Secret, a.Token.Access}}
	return platform.Revoked(p.Client.JSON(ctx, call, classifyToken, nil))
}

// post makes a call of the API with a JSON body.
func (p *Platform) post(ctx context.Context, a platform.Account, path string, body, out any) error {
	call := p.Call(http.MethodPost, path, a.Token.Access)
	call.JSON = body
	return p.do(ctx, call, out)
}

// do makes a call and decodes its data.
func (p *Platform) do(ctx context.Context, call wire.Call, out any) error {
	return p.decode(ctx, call, classify(publishes, call.Posts), out)
}

// read makes a call that reads, and decodes its data. A refusal of it says nothing about the right to publish.
func (p *Platform) read(ctx context.Context, call wire.Call, out any) error {
	return p.decode(ctx, call, classify(reads, false), out)
}

func (p *Platform) decode(ctx context.Context, call wire.Call, classify wire.Classifier, out any) error {
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	if err := p.Client.JSON(ctx, call, classify, &envelope); err != nil {
		return err
	}
	if err := json.Unmarshal(envelope.Data, out); err != nil {
		return p.Client.GarbledError(call, err)
	}
	return nil
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (platform.Metrics,
	error) {
	missing := platform.Reject(platform.CodePostNotFound, "TikTok does not have the post, or does not show it.")
	if post.ID == "" {
		return platform.Metrics{}, missing
	}
	var answer struct {
		Videos []struct {
			Views    int64 `json:"view_count"`
			Likes    int64 `json:"like_count"`
			Comments int64 `json:"comment_count"`
			Shares   int64 `json:"share_count"`
		} `json:"videos"`
	}
	body := map[string]any{"filters": map[string]any{"video_ids": []string{post.ID}}}
	call := p.Call(http.MethodPost, "/v2/video/query/?fields=id,view_count,like_count,comment_count,share_count",
		a.Token.Access)
	call.JSON = body
	if err := p.read(ctx, call, &answer); err != nil {
		return platform.Metrics{}, err
	}
	if len(answer.Videos) == 0 {
		return platform.Metrics{}, missing
	}
	v := answer.Videos[0]
	return platform.Metrics{Views: &v.Views, Likes: &v.Likes, Comments: &v.Comments, Shares: &v.Shares}, nil
}

// statsScope is the right to read the figures of an account. TikTok grants it to an application apart from the others,
// so that only operators whose application has it request it.
const statsScope = "user.info.stats"

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	if a.Token.Lacks([]string{statsScope}) {
		return nil, platform.Reject(platform.CodeMissingPermission, "The account has not granted "+statsScope+".")
	}
	var answer struct {
		User struct {
			Followers *int64 `json:"follower_count"`
			Videos    *int64 `json:"video_count"`
		} `json:"user"`
	}
	call := p.Call(http.MethodGet, "/v2/user/info/", a.Token.Access)
	call.Query = url.Values{"fields": {"follower_count,video_count"}}
	if err := p.read(ctx, call, &answer); err != nil {
		return nil, err
	}
	return []platform.Day{{Date: platform.Midnight(p.Client.Now()), Followers: answer.User.Followers,
		Posts: answer.User.Videos}}, nil
}

// pastPage is the number of videos on a page of earlier posts, the most that TikTok lists.
const pastPage = 20

// PastPosts implements platform.PastReader. TikTok lists videos alone.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	body := map[string]any{"max_count": pastPage}
	if at, err := strconv.ParseInt(cursor, 10, 64); err == nil {
		body["cursor"] = at
	}
	var answer struct {
		Videos []struct {
			ID       string `json:"id"`
			Text     string `json:"video_description"`
			At       int64  `json:"create_time"`
			Views    *int64 `json:"view_count"`
			Likes    *int64 `json:"like_count"`
			Comments *int64 `json:"comment_count"`
			Shares   *int64 `json:"share_count"`
		} `json:"videos"`
		Cursor int64 `json:"cursor"`
		More   bool  `json:"has_more"`
	}
	call := p.Call(http.MethodPost, "/v2/video/list/?fields=id,video_description,create_time,view_count,like_count,"+
		"comment_count,share_count", a.Token.Access)
	call.JSON = body
	if err = p.read(ctx, call, &answer); err != nil {
		return nil, "", err
	}
	for _, v := range answer.Videos {
		posts = append(posts, platform.PastPost{ID: v.ID, Kind: platform.KindVideo, Text: v.Text,
			At: time.Unix(v.At, 0).UTC(), Metrics: platform.Metrics{Views: v.Views, Likes: v.Likes,
				Comments: v.Comments, Shares: v.Shares}})
	}
	if answer.More {
		next = strconv.FormatInt(answer.Cursor, 10)
	}
	return posts, next, nil
}

var _ platform.Remover = (*Platform)(nil)

const (
	// signedFor is the age up to which a signature is taken. TikTok signs each attempt to send a webhook.
	signedFor = 5 * time.Minute
	// removed is the event of a person who has removed the rights, or whose account is gone.
	removed = "authorization.removed"
)

// Removed implements platform.Remover. The header TikTok-Signature has the time and the signature of a webhook, as in
// t=1633174587,s=1849…; what is signed is the time, a dot and the body. All events of an application come to one
// address.
func (*Platform) Removed(app platform.App, h platform.Hook, now time.Time) (r platform.Removal, err error) {
	var at, signature string
	for part := range strings.SplitSeq(h.Header.Get("TikTok-Signature"), ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			at = value
		case "s":
			signature = value
		}
	}
	seconds, bad := strconv.ParseInt(at, 10, 64)
	sum, bad2 := hex.DecodeString(signature)
	mac := hmac.New(sha256.New, []byte(app.Secret.Reveal()))
	mac.Write([]byte(at + "."))
	mac.Write(h.Body)
	if bad != nil || bad2 != nil || app.Secret == "" || !hmac.Equal(sum, mac.Sum(nil)) ||
		!platform.Recent(time.Unix(seconds, 0), now, signedFor) {
		return r, platform.ErrForged
	}
	var body struct {
		Client  string `json:"client_key"`
		Event   string `json:"event"`
		Created int64  `json:"create_time"`
		User    string `json:"user_openid"`
	}
	if json.Unmarshal(h.Body, &body) != nil || body.Event != removed {
		return r, nil
	}
	if body.Client != app.ID {
		return r, platform.ErrForged
	}
	return platform.Removal{Person: body.User, At: time.Unix(body.Created, 0)}, nil
}

// meaning is what a code of TikTok means.
type meaning int

const (
	content    meaning = iota + 1 // TikTok refuses the description of the post
	policy                        // TikTok does not let the account post this
	file                          // TikTok refuses the media
	privacy                       // the account does not allow the privacy
	unaudited                     // TikTok has not audited the application
	unverified                    // the domain of the photos is not verified
	fault                         // TikTok has a fault, and did nothing
	pulls                         // TikTok could not read a file
	pause                         // too many calls in a minute
	full                          // the account, or the application, may post no more for a day
	token                         // the access token has ended
	right                         // the account has not granted the right
	account                       // the account has removed the application
	canceled                      // the publication was canceled in TikTok
	unknownID                     // TikTok does not know the publication
)

// codes are the codes of refused calls (D: content-posting-api-reference-direct-post, U: …-upload-video, P:
// …-photo-post, S: …-get-video-status, C: …-query-creator-info, E: tiktok-api-v2-error-handling, all of
// developers.tiktok.com/doc).
// Only right and account end a connection, and right only of a call that publishes.
var codes = map[string]meaning{
	"access_token_invalid":               token,  // D, E: 401
	"access_token_expired":               token,  // reports of publishers
	"scope_not_authorized":               right,  // D, E: 401
	"scope_permission_missed":            right,  // E: 401
	"rate_limit_exceeded":                pause,  // D, E: 429
	"internal_error":                     fault,  // E: 500
	"internal":                           fault,  // S
	"spam_risk_too_many_posts":           full,   // D, C: 403, "the daily post cap from the API is reached"
	"spam_risk_too_many_pending_share":   full,   // U: 403, five in 24 hours
	"reached_active_user_cap":            full,   // D, C: 403, of 24 hours
	"spam_risk_user_banned_from_posting": policy, // D, C: 403
	"spam_risk_text":                     policy, // S
	"spam_risk":                          policy, // D
	"unaudited_client_can_only_post_to_private_accounts": unaudited,  // D: 403
	"url_ownership_unverified":                           unverified, // D, P: 403
	"privacy_level_option_mismatch":                      privacy,    // D: 403
	"invalid_param":                                      content,    // D: 400
	"invalid_params":                                     content,    // E: 400
	// P: 400, an old TikTok on the phone of the person
	"app_version_check_failed":                      content,
	"invalid_file_upload":                           file,      // E: 400
	"invalid_publish_id":                            unknownID, // S: 400
	"publish_id_not_found":                          unknownID,
	"token_not_authorized_for_specified_publish_id": unknownID, // S: 400
}

// reasons are the reasons of a publication that has failed (S). Nothing was posted. Those that are not here begin again
// some times, and end with TikTok's word.
var reasons = map[string]meaning{
	"file_format_check_failed":           file,
	"duration_check_failed":              file,
	"frame_rate_check_failed":            file,
	"picture_size_check_failed":          file,
	"internal":                           fault, // "This is a retryable error."
	"internal_error":                     fault,
	"video_pull_failed":                  pulls, // "a retry is recommended"
	"photo_pull_failed":                  pulls, // post-for-me #296
	"publish_cancelled":                  canceled,
	"auth_removed":                       account,
	"spam_risk_too_many_posts":           full,
	"reached_active_user_cap":            full,
	"spam_risk_user_banned_from_posting": policy,
	"spam_risk_text":                     policy,
	"spam_risk":                          policy,
	"unaudited_client_can_only_post_to_private_accounts": unaudited,
	"url_ownership_unverified":                           unverified,
	"privacy_level_option_mismatch":                      privacy,
}

// checks say what TikTok has found wrong with a file.
var checks = map[string]string{
	"file_format_check_failed":  "TikTok does not take the format of the file.",
	"duration_check_failed":     "TikTok does not take the length of the video.",
	"frame_rate_check_failed":   "TikTok does not take the frame rate of the video.",
	"picture_size_check_failed": "TikTok does not take the size of the picture.",
}

// use is what a call is for.
type use int

const (
	reads     use = iota // of figures and earlier posts
	publishes            // or prepares a post
)

// classes makes the classification that wire asks for.
func classes(posts bool) wire.Classifier { return classify(publishes, posts) }

// classify classifies refusals by the code that every answer has; posts reports whether the call may have made a post.
func classify(u use, posts bool) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		var body struct {
			Error struct {
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &body); err != nil || body.Error.Code == "" || body.Error.Code == "ok" {
			return nil
		}
		m := codes[body.Error.Code]
		switch {
		case m == 0 && strings.HasPrefix(body.Error.Code, "scope_"):
			m = right
		case m == 0 && strings.HasPrefix(body.Error.Code, "spam_risk"):
			m = policy
		case m == 0 && a.Status == http.StatusTooManyRequests:
			m = pause
		case m == 0 && a.Status >= http.StatusInternalServerError:
			m = fault
		}
		return errorOf(m, u, posts).Saying(messageOr(body.Error.Message, body.Error.Code))
	}
}

// messageOr returns TikTok's message, or the code if there is none.
func messageOr(message, code string) string {
	if message == "" {
		return code
	}
	return message
}

// errorOf returns the error of a refused call.
func errorOf(m meaning, u use, posts bool) *platform.Error {
	switch {
	case m == token:
		return platform.TokenExpired()
	case m == right && u == reads:
		return platform.Reject(platform.CodeMissingPermission, "TikTok does not let the application read this.")
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of TikTok asks for.")
	case m == pause:
		return platform.Limited(time.Minute)
	case m == fault && posts, m == unknownID:
		return platform.Lost(nil)
	case m == fault:
		return platform.Busy()
	case m == full:
		return platform.Full(24 * time.Hour)
	case m == content:
		return platform.Reject(platform.CodeContentRefused, "TikTok refuses the post.")
	case m == 0:
		return platform.Odd()
	}
	return refusal(m)
}

// refusal returns the error of a post that TikTok refuses for good.
func refusal(m meaning) *platform.Error {
	switch m {
	case policy:
		return platform.Reject(platform.CodeContentPolicy, "TikTok does not let the account post this.")
	case privacy:
		return badPrivacy()
	case unaudited:
		return platform.Reject(platform.CodeInvalidOption, "TikTok has not audited the application yet: it posts "+
			"privately only.")
	case unverified:
		return platform.Reject(platform.CodeMediaRefused, "The domain of the media is not verified with TikTok.")
	case canceled:
		return platform.Reject(platform.CodeCanceled, "The publication was canceled on TikTok.")
	default:
		return platform.Reject(platform.CodeMediaRefused, "TikTok could not process the media.")
	}
}

func badPrivacy() *platform.Error {
	return platform.Reject(platform.CodeInvalidOption, "The TikTok account does not allow the privacy.")
}

// failure returns the error of a publication that TikTok has abandoned. Its word is the reason.
func failure(reason string) *platform.Error {
	cause := fmt.Errorf("tiktok: fail_reason %q", reason)
	m := reasons[reason]
	if m == 0 && strings.HasPrefix(reason, "spam_risk") {
		m = policy
	}
	e := refusal(m)
	switch m {
	case account:
		e = platform.Disconnected()
	case full:
		e = platform.Again(nil).WithWait(24 * time.Hour)
	case fault, pulls, 0:
		e = platform.Again(nil)
	case file:
		e.Message = checks[reason]
	}
	return e.Saying(reason).Because(cause)
}

// classifyToken classifies refusals of the token endpoint. TikTok answers invalid_request or invalid_grant to a code or
// a refresh token that is not valid, with the status 200 or 400 (oauth-user-access-token-management).
func classifyToken(a wire.Answer) *platform.Error {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	grant := (a.OK() || a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized) &&
		json.Unmarshal(a.Body, &body) == nil && body.Error == "invalid_request"
	if said := strings.ToLower(body.Description); grant && (strings.Contains(said, "code") ||
		strings.Contains(said, "token")) && (strings.Contains(said, "expired") || strings.Contains(said, "invalid") ||
		strings.Contains(said, "not known")) {
		return platform.Disconnected()
	}
	return wire.ClassifyOAuth(a)
}
