// Package tiktok publishes on TikTok by the Content Posting API.
//
// A publication is opened first. A video is uploaded to it in chunks, and is posted after its last byte. TikTok pulls
// photos as soon as a call names them, so that call cannot be repeated, and its outcome cannot be read. Start with
// Platform in tiktok.go; publish.go makes posts.
package tiktok

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
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
	Asks:       asks,
	Refuses:    refuses,
	Shape:      Options{},
	Privacies:  []platform.Privacy{platform.Public, platform.Friends, platform.Private},
	Metrics:    []string{"views", "likes", "comments", "shares"},
	Past:       platform.Past{Page: pastPage, Figures: true},
	Account:    platform.AccountFigures{Names: []string{"followers", "posts"}},
	DailyPosts: 15,
	Plain:      true,
	Pulls:      true, // for photos
	Habits: platform.Habits{FirstLine: 80, Least: 40, Most: 300, Hashtags: 4,
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
	platform.Framed
	platform.Declared
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

	platform.Closed
	// Permits no duets.
	DisableDuet bool `json:"disable_duet,omitempty"`
	// Permits no stitches.
	DisableStitch bool `json:"disable_stitch,omitempty"`
	// Number of the photo that is shown first, from 1. Absent: 1.
	CoverSlide int `json:"cover_slide,omitempty" minimum:"1" maximum:"35"`
	// Lets TikTok add music to photos, which the person can change in TikTok.
	AutoMusic bool `json:"auto_music,omitempty"`
}

// optionsOf returns the options of a post.
func optionsOf(post platform.Post) Options {
	o, _ := post.Options.Own.(Options)
	return o
}

// Platform is TikTok.
type Platform struct {
	wire.Connector
	platform.Chain[state]
	chunk int64
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{Client: c, Root: c.Base(api), Refused: classes},
		OAuth: wire.OAuth{
			Authorize: c.Base(accounts) + "/v2/auth/authorize/", Token: c.Base(api) + "/v2/oauth/token/",
			Scopes: capabilities.Scopes, Divider: ",", ClientParam: "client_key", Challenge: challenge,
			Refused: tokenRefused,
		}}, chunk: defaultChunk}
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
	err = p.Client.JSON(ctx, call, tokenRefused, nil)
	if platform.KindOf(err) == platform.Reconnect {
		return nil // the token has ended already
	}
	return err
}

// post makes a call of the API with a JSON body.
func (p *Platform) post(ctx context.Context, a platform.Account, path string, body, out any) error {
	call := p.Call(http.MethodPost, path, a.Token.Access)
	call.JSON = body
	return p.do(ctx, call, out)
}

// do makes a call and decodes its data.
func (p *Platform) do(ctx context.Context, call wire.Call, out any) error {
	return p.decode(ctx, call, refused(publishes, call.Posts), out)
}

// read makes a call that reads, and decodes its data. A refusal of it says nothing about the right to publish.
func (p *Platform) read(ctx context.Context, call wire.Call, out any) error {
	return p.decode(ctx, call, refused(reads, false), out)
}

func (p *Platform) decode(ctx context.Context, call wire.Call, classify wire.Refused, out any) error {
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	if err := p.Client.JSON(ctx, call, classify, &envelope); err != nil {
		return err
	}
	if err := json.Unmarshal(envelope.Data, out); err != nil {
		return p.Client.Garbled(call, err)
	}
	return nil
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (platform.Metrics, error) {
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
