// Package pinterest publishes pins on the boards of Pinterest. An account is a board. Start with Platform in
// pinterest.go; publish.go makes pins.
package pinterest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/media"
)

// Name is the platform's id.
const Name = "pinterest"

// The platform's addresses.
const (
	site = "https://www.pinterest.com"
	api  = "https://api.pinterest.com"
)

var (
	image = &platform.File{MIMEs: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 20 << 20}
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 2 << 30, MinRatio: 0.5,
		MaxRatio: 1.91, MinTime: 4 * time.Second, MaxTime: 15 * time.Minute,
		// help.pinterest.com/en/business/article/video-pins: "H.264 or H.265". It says nothing of the sound.
		Form: platform.Form{Pictures: []media.Codec{media.H264, media.HEVC}}}

	title   = platform.Text{Max: 100}
	caption = platform.Text{Max: 800}
	noAlt   = []platform.Option{platform.OptionAlt}
	noCover = []platform.Option{platform.OptionCover, platform.OptionCoverAt}
)

// The options that only Pinterest has: the page that a pin leads to, and the part of the board that has it.
const (
	OptionLink    platform.Option = "link"
	OptionSection platform.Option = "board_section_id"
)

var capabilities = platform.Capabilities{
	Label:   "Pinterest",
	Connect: platform.ConnectOAuth,
	Scopes:  []string{"boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read"},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost: {Title: title, Caption: caption, MinMedia: 1, MaxMedia: 1, Image: image, Without: noCover},
		platform.KindVideo: {Title: title, Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: noAlt},
		platform.KindMusicClip: {Title: title, Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: noAlt},
		platform.KindCarousel: {Title: title, Caption: caption, MinMedia: 2, MaxMedia: 5, Image: image,
			Without: noCover},
	},
	Origin: platform.Origin{Reads: []platform.Mark{platform.MarkIPTC},
		Source: "https://help.pinterest.com/en/article/gen-ai-labels"},
	Hashtags: platform.Hashtags{Max: 20, Written: true},
	Alt:      platform.Text{Max: 500},
	Options: []platform.Option{platform.OptionAlt, platform.OptionCover, platform.OptionCoverAt,
		OptionLink, OptionSection},
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"impressions", "views", "saves", "clicks"},
	Account: platform.AccountFigures{Names: []string{"followers", "posts", "impressions", "views", "saves", "clicks"},
		History: true},
	Past:    platform.Past{Page: pastPage},
	Edits:   true,
	Deletes: true,
	Pulls:   true,
	Lookups: []platform.Lookup{{Kind: platform.LookupBoard}},
	Habits: platform.Habits{FirstLine: 50, Least: 100, Most: 350, Hashtags: 2,
		Action: "to save the pin, or to open its link",
		Form: "The description has the words that people search for in its first sentence, and says what " +
			"one can make or do with it."},
	Notes: []string{
		"An account is a board of Pinterest. The owner chooses one of the login's boards.",
		"Pinterest takes no posts without media, and applications can write no comments.",
		"A pin leads to the page of the option link, or else to the first link in the caption.",
		"The description of a pin with several images is that of its first image for people who cannot see it.",
		"While the operator's application has trial access, only its owner sees the pins.",
		"Pinterest has no mark of an application for content that was made by AI, and labels what it detects.",
	},
}

// Options are the options of posts on Pinterest, as callers send them.
type Options struct {
	platform.Described
	platform.Framed
	// Page that the pin leads to. Absent: the first link in the caption.
	Link string `json:"link,omitempty" format:"web-address"`
	// Section of the board. `GET /v1/publishing/lookups` with `kind=board` lists them. Absent: the board itself.
	Section string `json:"board_section_id,omitempty" format:"digits"`
}

// Platform is Pinterest.
type Platform struct {
	wire.Connector
	wire.Kept
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{
		Client: c, Root: c.Base(api) + "/v5", Refused: classes,
	}, OAuth: wire.OAuth{
		Authorize: c.Base(site) + "/oauth/", Token: c.Base(api) + "/v5/oauth/token", Scopes: capabilities.Scopes,
		Divider: ",", Basic: true, Refused: tokenRefused,
	}}}
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

var errIncomplete = errors.New("a member is missing")

const (
	pageSize = "250" // the most that Pinterest lists on a page
	// mostPages bounds the pages of a list.
	mostPages = 40
)

// pages lists boards or sections, page by page, until the end or until the function returns false.
func (p *Platform) pages(ctx context.Context, token platform.Secret, path string,
	each func([]platform.Found) bool) error {
	query := url.Values{"page_size": {pageSize}}
	for range mostPages {
		var page struct {
			Items    []platform.Found `json:"items"`
			Bookmark string           `json:"bookmark"`
		}
		if err := p.read(ctx, token, path, query, &page); err != nil {
			return err
		}
		if !each(page.Items) || page.Bookmark == "" || page.Bookmark == query.Get("bookmark") {
			return nil
		}
		query.Set("bookmark", page.Bookmark)
	}
	return nil
}

// read makes a call that reads. A refusal of it says nothing about the right to publish.
func (p *Platform) read(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	call := p.Call(http.MethodGet, path, token)
	call.Query = query
	return p.Client.JSON(ctx, call, refused(reads), out)
}

// granted returns an error of the first calls with a grant: one that may not read them does not connect.
func granted(err error) error {
	if platform.Denied(err) {
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Allow all that the page of Pinterest asks "+
			"for.").Because(err)
	}
	return err
}

// Connect implements platform.Connector. It returns the boards of the login.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	issued, err := p.Client.Exchange(ctx, p.OAuth, g, url.Values{"continuous_refresh": {"true"}})
	if err != nil {
		return nil, err
	}
	token := issued.As(p.Client.Now(), platform.Token{})
	if token.Lacks(capabilities.Scopes) {
		return nil, platform.NeedsReconnect(platform.CodeMissingPermission, "Allow all that the page of Pinterest "+
			"asks for.")
	}
	var me struct {
		Username string `json:"username"`
		Picture  string `json:"profile_image"`
	}
	if err := p.read(ctx, token.Access, "/user_account", nil, &me); err != nil {
		return nil, granted(err)
	}
	var all []platform.Account
	err = p.pages(ctx, token.Access, "/boards", func(boards []platform.Found) bool {
		for _, b := range boards {
			if b.ID != "" && (g.Choice == "" || g.Choice == b.ID || g.Choice == b.Name) {
				all = append(all, platform.Account{ID: b.ID, Handle: "@" + me.Username, Name: b.Name,
					AvatarURL: me.Picture, Token: token})
			}
		}
		return g.Choice == "" || len(all) == 0 || all[len(all)-1].ID != g.Choice
	})
	if err != nil {
		return nil, granted(err)
	}
	if len(all) == 0 {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, "The login has no such board. Make one at "+
			"Pinterest, then connect again.")
	}
	return all, nil
}
