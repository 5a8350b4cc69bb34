// Package instagram publishes on Instagram's professional accounts.
//
// It publishes by containers, as graph.Containers has them. Start with Platform in instagram.go.
package instagram

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the platform's id.
const Name = "instagram"

// The platform's addresses.
const (
	dialog       = "https://www.facebook.com"
	graphAddress = "https://graph.facebook.com"
)

// version is the version of the interface.
var version = "/" + platform.Versions[Name].Name

var (
	picture = &platform.File{MIMEs: []string{"image/jpeg"}, MaxBytes: 8 << 20, MinRatio: 4.0 / 5, MaxRatio: 1.91}
	reel    = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 300 << 20, MinRatio: 0.01,
		MaxRatio: 10, MaxWidth: 1920, MinTime: 3 * time.Second, MaxTime: 15 * time.Minute, Form: platform.Meta}
	clip = &platform.File{MIMEs: reel.MIMEs, MaxBytes: 100 << 20, MinRatio: 0.01, MaxRatio: 10,
		MaxWidth: 1920, MinTime: 3 * time.Second, MaxTime: time.Minute, Form: platform.Meta}
	still = &platform.File{MIMEs: picture.MIMEs, MaxBytes: 8 << 20} // a story may have any ratio

	caption = platform.Text{Max: 2200, MaxMentions: 20}

	// ofPosts lists the options that stories do not have.
	ofPosts = []platform.Option{platform.OptionAlt, platform.OptionCover, platform.OptionCoverAt, platform.OptionPaid,
		platform.OptionPartners, platform.OptionLocation, platform.OptionFirstComment, optionCollaborators, optionTags,
		optionFeed, optionTrial, optionAudio}
	// ofReels lists the options that pictures do not have.
	ofReels = []platform.Option{optionFeed, optionTrial, optionAudio}
)

var capabilities = platform.Capabilities{
	Label:   "Instagram",
	Connect: platform.ConnectOAuth,
	Scopes: []string{
		"instagram_basic", "instagram_content_publish", "instagram_manage_comments", "instagram_manage_insights",
		"pages_show_list", "pages_read_engagement", "business_management",
	},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost: {Caption: caption, MinMedia: 1, MaxMedia: 1, Image: picture,
			Without: ofReels},
		platform.KindVideo:     {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: reel},
		platform.KindMusicClip: {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: reel},
		platform.KindCarousel: {Caption: caption, MinMedia: 2, MaxMedia: 10, Image: picture, Video: clip,
			Without: ofReels},
		platform.KindStory: {Caption: caption, MinMedia: 1, MaxMedia: 1, Image: still, Video: clip,
			Without: ofPosts},
	},
	Origin: platform.Origin{Flag: true, Reads: []platform.Mark{platform.MarkIPTC, platform.MarkC2PA},
		Source: "https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media"},
	Hashtags: platform.Hashtags{Max: 5, Written: true, Strict: true},
	Alt:      platform.Text{Max: 1000},
	Comment:  platform.Text{Max: 300},
	Comments: platform.Commenting{Reads: true, Replies: true, Hides: true, Deletes: true,
		Text: platform.Text{Max: 300}},
	Options: []platform.Option{platform.OptionAlt, platform.OptionCover, platform.OptionCoverAt,
		platform.OptionFirstComment, platform.OptionGenerated, platform.OptionPaid, platform.OptionPartners,
		platform.OptionLocation, optionCollaborators, optionTags, optionFeed, optionTrial, optionAudio},
	Refuses:   refuses,
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"reach", "views", "likes", "comments", "shares", "saves"},
	Account: platform.AccountFigures{Names: []string{"followers", "followers_gained", "posts", "reach"},
		History: true},
	// The adapter reads the limit of the account, which is 50 or 100.
	DailyPosts: 100,
	Past:       platform.Past{Page: graph.PastPage},
	Budget:     &platform.Budget{Max: 400, Files: true},
	Pulls:      true,
	Lookups:    []platform.Lookup{{Kind: platform.LookupLocation, Searches: true}},
	Habits: platform.Habits{FirstLine: 125, Least: 150, Most: 900, Hashtags: 4,
		Action: "to save the post, send it to a friend or answer a question in a comment",
		Form: "The first line stands alone before an empty line. Paragraphs of one or two sentences; what " +
			"is worth saving is a list of short lines."},
	Notes: []string{
		"The account must be a professional one that is connected to a Facebook page.",
		"Instagram shows no caption on stories, and takes no comments on them.",
		"Hashtags in the caption count, too.",
		"Instagram takes 400 containers of an account in 24 hours: one for a post, and one more for each of several " +
			"media. What exceeds them waits.",
		"Access ends 90 days after the owner has granted it: connect the account again before.",
		"Accounts in collaborators are invited, and are shown as authors once they accept.",
		"A first comment that Instagram refuses does not fail the publication: it is a warning.",
	},
}

// Platform is Instagram.
type Platform struct {
	wire.Connector
	*graph.Containers
	platform.Chain[graph.Boxes]
	graph.Commenter
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	g := graph.New(c, c.Base(graphAddress)+version, refusals, graph.Number)
	p := &Platform{Connector: wire.Connector{API: g.API, OAuth: wire.OAuth{
		Authorize: c.Base(dialog) + version + "/dialog/oauth", Token: c.Base(graphAddress) + version +
			"/oauth/access_token",
		Scopes: capabilities.Scopes, Divider: ",", Refused: refusals.Code,
	}}, Containers: containers(g)}
	const comment = "id,text,timestamp,username,hidden,from"
	p.Commenter = graph.Commenter{Reader: graph.Reader{Via: g, Listing: "/comments",
		Hide: "hide", List: url.Values{"fields": {comment + ",replies.limit(50){" + comment + "}"}}},
		Replies: "/replies", Flat: true, Object: "instagram", Field: "comments"}
	p.Chain = platform.Chain[graph.Boxes]{Steps: p, ID: Name, Caps: capabilities, Every: again}
	return p
}

// Connect implements platform.Connector. It returns the Instagram accounts of the pages that the owner has chosen.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	short, err := p.Client.Exchange(ctx, p.OAuth, g, nil)
	if err != nil {
		return nil, err
	}
	token, err := p.extend(ctx, short.Access)
	if err != nil {
		return nil, err
	}
	token.EndsAt = graph.Ends(ctx, p.Graph, token.Access, p.Client.Now().Add(access))
	profiles, err := p.profiles(ctx, token.Access)
	if err != nil {
		return nil, err
	}
	grantor := graph.Grantor(ctx, p.Graph, token.Access)
	var all []platform.Account
	for _, i := range profiles {
		if g.Choice != "" && g.Choice != i.ID && g.Choice != "@"+i.Username {
			continue
		}
		name := i.Name
		if name == "" {
			name = i.Username
		}
		all = append(all, platform.Account{ID: i.ID, Handle: "@" + i.Username, Name: name, AvatarURL: i.Picture,
			Token: token, Grantor: grantor})
	}
	if len(all) == 0 {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, "None of the chosen Facebook pages has such "+
			"a professional Instagram account.")
	}
	return all, nil
}

// Lookup implements platform.Finder. It finds the pages of places.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, _ platform.LookupKind,
	text string) ([]platform.Found, error) {
	return p.Graph.Places(ctx, a, text)
}

// Revoke implements platform.Connector. It revokes every permission of the owner.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	err := p.Send(ctx, p.Call(http.MethodDelete, "/me/permissions", a.Token.Access), nil)
	if platform.KindOf(err) == platform.Reconnect {
		return nil // the token has ended already
	}
	return err
}
