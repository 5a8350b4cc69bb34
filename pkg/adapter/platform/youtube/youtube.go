// Package youtube publishes videos on YouTube.
//
// A video is uploaded to a session, whose address is the handle. YouTube makes the video after the last byte has
// arrived, and one session makes one video. So an upload always continues at the last received byte, even after a
// failure. Start with Platform in youtube.go; upload.go sends the file.
package youtube

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the platform's id.
const Name = "youtube"

// The platform's addresses.
const (
	accounts = "https://accounts.google.com"
	tokens   = "https://oauth2.googleapis.com"
	api      = "https://www.googleapis.com"
)

var (
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime", "video/webm"}, MaxBytes: 256 << 30,
		MaxTime: 12 * time.Hour}
	title       = platform.Text{Max: 100, Forbidden: "<>", Required: true}
	description = platform.Text{Max: 5000, Unit: platform.Bytes, Forbidden: "<>"}
)

var capabilities = platform.Capabilities{
	Label:   "YouTube",
	Connect: platform.ConnectOAuth,
	Scopes: []string{"https://www.googleapis.com/auth/youtube.upload",
		"https://www.googleapis.com/auth/youtube.readonly", commentScope},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindVideo:     {Title: title, Caption: description, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindMusicClip: {Title: title, Caption: description, MinMedia: 1, MaxMedia: 1, Video: video},
	},
	Origin: platform.Origin{Flag: true,
		Source: "https://developers.google.com/youtube/v3/docs/videos"},
	Hashtags: platform.Hashtags{Max: 60, Tags: true, Total: 500},
	Options: []platform.Option{platform.OptionPrivacy, optionKids, platform.OptionCover, platform.OptionGenerated,
		platform.OptionPaid,
		platform.OptionSilent, platform.OptionCategory, optionPlaylist, optionTags, platform.OptionCaptions},
	Refuses: refuses,
	Comments: platform.Commenting{Reads: true, Replies: true, Hides: true, Deletes: true,
		Text: platform.Text{Max: 10_000}, ReadAt: platform.RisingReads,
		Uses: platform.CommentUses{Reply: func(string) int { return writeUnits }, Hide: writeUnits,
			Delete: 2 * writeUnits}},
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public, platform.Unlisted, platform.Private},
	Metrics:   []string{"views", "watch_time_seconds", "likes", "comments"},
	Past:      platform.Past{Page: pastPage, Figures: true},
	// Of the 10,000 units of a day, a reading takes one, and calls about comments take units, too.
	Reads:   &platform.Reads{Max: 5000},
	Lookups: []platform.Lookup{{Kind: platform.LookupPlaylist, Units: 1}},
	Account: platform.AccountFigures{Names: []string{"followers", "followers_gained", "followers_lost", "posts",
		"views", "watch_time_seconds"}, History: true},
	// The day of Google's quotas begins at midnight in California.
	Budget: &platform.Budget{Max: 100, Shared: true, Starts: 8 * time.Hour},
	Habits: platform.Habits{FirstLine: 120, Least: 150, Most: 1200, Hashtags: 3, Links: true,
		Action: "to subscribe, or to watch a related video",
		Form: "The title begins with the words that people type into a search, and makes one promise. The " +
			"first two sentences of the description say in such words what the video answers; then come " +
			"details and names that viewers look for."},
	Notes: []string{
		"watch_time_seconds and the earlier days of an account need the right " + reportScope + ", which the owner " +
			"of the channel may refuse. YouTube tells them with a delay of some days.",
		"By default Google lets the operator's application upload 100 videos a day, those of all accounts together. " +
			"They are spread over the day: a quarter can be used at any time, and the rest as the day passes. What " +
			"exceeds them waits.",
		"Comments need the right " + commentScope + ". An account that was connected without it has to be connected " +
			"again. A hidden comment is held for review. A deletion rejects a comment of others, and deletes one of " +
			"the account itself.",
		"Hashtags become the tags of the video, unless the option tags has others.",
		"A playlist and captions need the right " + commentScope + ", and 50 and 400 of the units of Google's quota. " +
			"If " +
			"YouTube refuses them, the publication has a warning.",
		"The cover of a Short is set once YouTube has processed it. A cover that YouTube refuses does not fail the " +
			"publication: it is a warning.",
	},
}

// Platform is YouTube.
type Platform struct {
	wire.Connector
	platform.Chain[state]
	part int64
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{Client: c, Root: c.Base(api)}, OAuth: wire.OAuth{
		Authorize: c.Base(accounts) + "/o/oauth2/v2/auth", Token: c.Base(tokens) + "/token",
		Scopes: capabilities.Scopes, Optional: []string{reportScope},
		// Google issues no new refresh token to a returning user without the consent.
		Extra: url.Values{"access_type": {"offline"}, "prompt": {"consent"}},
	}}, part: defaultPart}
	p.Refused = func(bool) wire.Refused { return p.refused }
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// Connect implements platform.Connector. It returns the channels of the user who has allowed it.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	token, err := p.Client.Grant(ctx, p.OAuth, g, "Google")
	if err != nil {
		return nil, err
	}
	channels, err := p.channels(ctx, token)
	if err != nil {
		return nil, err
	}
	var all []platform.Account
	for _, c := range channels {
		if g.Choice == "" || g.Choice == c.ID || g.Choice == c.Snippet.CustomURL {
			all = append(all, platform.Account{ID: c.ID, Handle: c.Snippet.CustomURL, Name: c.Snippet.Title,
				AvatarURL: c.Snippet.Thumbnails.Default.URL, Token: token})
		}
	}
	if len(all) == 0 {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect,
			"The Google account has no such YouTube channel.")
	}
	return all, nil
}

// mostPages bounds the pages of a list.
const mostPages = 100

// channel is a channel of a user.
type channel struct {
	ID      string `json:"id"`
	Snippet struct {
		Title      string `json:"title"`
		CustomURL  string `json:"customUrl"`
		Thumbnails struct {
			Default struct {
				URL string `json:"url"`
			} `json:"default"`
		} `json:"thumbnails"`
	} `json:"snippet"`
}

// channels lists the channels of the user of a token.
func (p *Platform) channels(ctx context.Context, token platform.Token) (all []channel, err error) {
	query := url.Values{"part": {"snippet"}, "mine": {"true"}, "maxResults": {"50"}}
	for range mostPages {
		var page struct {
			Items []channel `json:"items"`
			Next  string    `json:"nextPageToken"`
		}
		if err := p.Get(ctx, token.Access, "/youtube/v3/channels", query, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); page.Next == "" {
			break
		}
		query.Set("pageToken", page.Next)
	}
	return all, nil
}

// Revoke implements platform.Connector.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	form := url.Values{"token": {a.Token.Refresh.Reveal()}}
	return p.Client.Revoke(ctx, p.Client.Base(tokens)+"/revoke", form, a.Token.Refresh)
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (platform.Metrics, error) {
	var answer struct {
		Items []struct {
			Statistics struct {
				Views    string `json:"viewCount"`
				Likes    string `json:"likeCount"`
				Comments string `json:"commentCount"`
			} `json:"statistics"`
		} `json:"items"`
	}
	err := p.Get(ctx, a.Token.Access, "/youtube/v3/videos", url.Values{"part": {"statistics"}, "id": {post.ID}},
		&answer)
	if err != nil {
		return platform.Metrics{}, err
	}
	if len(answer.Items) != 1 {
		return platform.Metrics{}, platform.Reject(platform.CodePostNotFound, "YouTube does not have the video.")
	}
	s := answer.Items[0].Statistics
	m := platform.Metrics{Views: number(s.Views), Likes: number(s.Likes), Comments: number(s.Comments)}
	m.WatchTime, err = p.watched(ctx, a, post.ID)
	return m, err
}

// number reads a count. It returns nil if the count is absent, because the owner can hide it.
func number(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
