// Package vk publishes on the walls of VK's communities.
//
// Photos and videos are uploaded first, invisibly, and are then attached to a post. If the answer to a post is lost,
// the adapter looks for it among the newest posts of the wall, which only the token of a user can read. Start with
// Platform in vk.go; publish.go makes posts.
package vk

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the platform's id.
const Name = "vk"

// The addresses of VK's sign-in and of its interface.
const (
	accounts = "https://id.vk.com"
	api      = "https://api.vk.com"
)

// version is the version of the interface.
var version = platform.Versions[Name].Name

var (
	photo = &platform.File{MIMEs: []string{"image/jpeg", "image/png"}, MaxBytes: 50 << 20, MinRatio: 1.0 / 20,
		MaxRatio: 20}
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime", "video/webm"}, MaxBytes: 2 << 30}

	message = platform.Text{Max: 15_895}
	// A video's text is both the message of its post and the description of the video.
	description = platform.Text{Max: 5000}
	title       = platform.Text{Max: 128}
)

var capabilities = platform.Capabilities{
	Label:          "VK",
	Connect:        platform.ConnectOAuth,
	PublicApp:      true,
	CommunityToken: true,
	Scopes:         []string{"wall", "photos", "video", "groups"},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost:      {Caption: message, MaxMedia: 1, Image: photo},
		platform.KindVideo:     {Title: title, Caption: description, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindMusicClip: {Title: title, Caption: description, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindCarousel:  {Caption: message, MinMedia: 2, MaxMedia: 10, Image: photo, Video: video},
	},
	Hashtags: platform.Hashtags{Max: 30},
	Comment:  platform.Text{Max: 4096},
	Comments: platform.Commenting{Reads: true, Replies: true, Deletes: true,
		Text: platform.Text{Max: 4096}},
	Options: []platform.Option{platform.OptionFirstComment, platform.OptionDisableComments, platform.OptionSilent,
		platform.OptionPaid, optionSigned, optionSource},
	Refuses:   refuses,
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"reach", "views", "likes", "comments", "shares", "clicks"},
	Account: platform.AccountFigures{Names: []string{"followers", "followers_gained", "followers_lost", "visitors",
		"reach", "likes", "comments", "shares"}, History: true},
	DailyPosts: 50,
	Past:       platform.Past{Page: pastPage, Figures: true},
	Edits:      true,
	Deletes:    true,
	Habits: platform.Habits{FirstLine: 280, Least: 150, Most: 1000, Hashtags: 3, Links: true,
		Action: "to answer in a comment or to share the post",
		Form: "The first two lines are seen in the feed and carry the news or the benefit; short paragraphs " +
			"follow, and a question to the community ends the post."},
	Notes: []string{
		"VK must have given the operator's application the right to post on walls: with other tokens of VK ID it " +
			"refuses posts.",
		"Connected with the token of a community, VK takes posts of text only, and there are no metrics, " +
			"and posts are not changed or deleted.",
		"reach and clicks of posts, and the earlier days of an account, are told to administrators of the community " +
			"only.",
		"A video of VK may have up to 2 GiB here: it is uploaded in one call.",
	},
}

// Platform is VK.
type Platform struct {
	wire.Connector
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{Client: c, Root: c.Base(api) + "/method/"},
		OAuth: wire.OAuth{
			Authorize: c.Base(accounts) + "/authorize", Token: c.Base(accounts) + "/oauth2/auth",
			Scopes: capabilities.Scopes, Public: capabilities.PublicApp,
		}}}
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// group is a community.
type group struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Screen string `json:"screen_name"`
	Photo  string `json:"photo_100"`
}

// Connect implements platform.Connector. It returns the communities that the user edits, or the
// community of the given token.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	token := platform.Token{Access: g.Token}
	method, params := "groups.getById", url.Values{}
	if g.Token == "" {
		issued, err := p.Client.Exchange(ctx, p.OAuth, g, url.Values{"device_id": {g.Device}})
		if err != nil {
			return nil, err
		}
		token = issued.As(p.Client.Now(), platform.Token{Device: g.Device})
		method, params = "groups.get", url.Values{"filter": {"editor"}, "extended": {"1"}, "count": {"1000"}}
	}
	var answer struct {
		Items  []group `json:"items"`  // answer of groups.get
		Groups []group `json:"groups"` // answer of groups.getById
	}
	if err := p.call(ctx, platform.Account{Token: token}, method, params, false, &answer); err != nil {
		return nil, err
	}
	var all []platform.Account
	for _, c := range append(answer.Items, answer.Groups...) {
		id := strconv.FormatInt(-c.ID, 10)
		if g.Choice == "" || g.Choice == id || g.Choice == id[1:] || strings.TrimPrefix(g.Choice, "@") == c.Screen {
			all = append(all, platform.Account{ID: id, Handle: "@" + c.Screen, Name: c.Name, AvatarURL: c.Photo,
				Token: token})
		}
	}
	if len(all) == 0 {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, "The VK account edits no such community.")
	}
	return all, nil
}

// Refresh implements platform.Connector. VK ID rotates refresh tokens, and binds them
// to a device. The token of a community does not end.
func (p *Platform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	if a.Token.Refresh == "" {
		return a.Token, nil
	}
	return p.Client.Renew(ctx, p.OAuth, a.Token, url.Values{"device_id": {a.Token.Device}})
}

// Revoke implements platform.Connector. It leaves the token of a community, which only its administrators can revoke.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	if a.Token.Refresh == "" {
		return nil
	}
	app, err := p.Client.App(ctx)
	if err != nil {
		return err
	}
	form := url.Values{"client_id": {app.ID}, "access_token": {a.Token.Access.Reveal()}}
	return p.Client.Revoke(ctx, p.Client.Base(accounts)+"/oauth2/revoke", form, a.Token.Access)
}

// call calls a method; posts reports whether it may make a post. VK answers refusals with the status 200, too.
func (p *Platform) call(ctx context.Context, a platform.Account, method string, params url.Values, posts bool,
	out any) error {
	params.Set("v", version)
	call := p.Call(http.MethodPost, method, a.Token.Access)
	call.Form, call.Posts = params, posts
	var envelope struct {
		Response json.RawMessage `json:"response"`
	}
	if err := p.Client.JSON(ctx, call, refused(a.Token, posts), &envelope); err != nil {
		return err
	}
	if err := json.Unmarshal(envelope.Response, out); err != nil {
		return p.Client.Garbled(call, err)
	}
	return nil
}

// refused classifies refusals by their number.
func refused(t platform.Token, posts bool) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		var body struct {
			Error *struct {
				Code int `json:"error_code"`
			} `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &body); err != nil || body.Error == nil {
			return nil
		}
		switch code := body.Error.Code; code {
		case 1, 10: // unknown or internal error
			if posts {
				return platform.Lost(nil)
			}
			return platform.Busy()
		case 6: // too many calls in a second
			return platform.Limited(time.Second)
		case 9: // too many similar actions
			return platform.Limited(10 * time.Minute)
		case 29: // too many calls of the method
			return platform.Limited(time.Hour)
		case 22: // the upload has failed
			return platform.Busy()
		case 5:
			if t.Refresh != "" {
				return platform.TokenExpired()
			}
			return platform.Disconnected()
		case 17, 28:
			return platform.Disconnected()
		case 27:
			return platform.NeedsReconnect(platform.CodeMissingPermission, "The token of a community may post text "+
				"only: connect the community with the account of an editor.")
		case 1051:
			return platform.NeedsReconnect(platform.CodeMissingPermission, "VK has not given the application the "+
				"right to post on walls.")
		case 14:
			return platform.Reject(platform.CodeCaptchaRequired, "VK wants the account to solve a captcha: post by "+
				"hand once, then publish again.")
		case 211: // a comment that does not exist
			return platform.CommentGone()
		case 15, 203, 204, 214:
			return platform.NeedsReconnect(platform.CodeMissingPermission,
				"The account may not post on the wall of the community.")
		default:
			return platform.Reject(platform.CodeContentRefused, "VK refuses the post.")
		}
	}
}
