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
		MaxRatio: 20, MaxSides: 14_000}
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

// groupPage is the number of communities of a page, the most that groups.get gives, and mostGroups bounds all pages.
const (
	groupPage  = 1000
	mostGroups = 20_000
)

// Connect implements platform.Connector. It returns the communities that the user administers or edits, because
// moderators may not post, or the community of the given token.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	token := platform.Token{Access: g.Token}
	var listed []group
	if g.Token == "" {
		issued, err := p.Client.Exchange(ctx, p.OAuth, g, url.Values{"device_id": {g.Device}})
		if err != nil {
			return nil, err
		}
		token = issued.As(p.Client.Now(), platform.Token{Device: g.Device})
		if listed, err = p.edited(ctx, token); err != nil {
			return nil, err
		}
	} else {
		var answer struct {
			Groups []group `json:"groups"`
		}
		err := p.call(ctx, platform.Account{Token: token}, "groups.getById", url.Values{}, false, &answer)
		if err != nil {
			return nil, err
		}
		listed = answer.Groups
	}
	var all []platform.Account
	for _, c := range listed {
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

// edited lists the communities that the user of a token administers or edits. VK may give fewer than a page.
func (p *Platform) edited(ctx context.Context, token platform.Token) (all []group, err error) {
	for len(all) < mostGroups {
		var page struct {
			Count int     `json:"count"`
			Items []group `json:"items"`
		}
		if err := p.call(ctx, platform.Account{Token: token}, "groups.get", url.Values{"filter": {"editor"},
			"extended": {"1"}, "count": {strconv.Itoa(groupPage)}, "offset": {strconv.Itoa(len(all))}}, false,
			&page); err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); len(page.Items) == 0 || len(all) >= page.Count {
			break
		}
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
	if err := p.Client.JSON(ctx, call, p.refused(a.Token, method, posts), &envelope); err != nil {
		return err
	}
	if err := json.Unmarshal(envelope.Response, out); err != nil {
		return p.Client.Garbled(call, err)
	}
	return nil
}
