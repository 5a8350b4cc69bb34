// Package facebook publishes on the pages of Facebook.
//
// Photos are uploaded unpublished, and one call publishes the post that has them. A Reel has an id
// before it is published, by which its outcome can be read.
package facebook

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the platform's id.
const Name = "facebook"

// The platform's addresses.
const (
	dialog       = "https://www.facebook.com"
	graphAddress = "https://graph.facebook.com"
)

// version is the version of the interface.
var version = "/" + platform.Versions[Name].Name

// access is how long an application may act for an owner, unless Facebook states otherwise.
const access = 90 * 24 * time.Hour

var (
	image = &platform.File{MIMEs: []string{"image/jpeg", "image/png"}, MaxBytes: 4 << 20}
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 1 << 30,
		MinTime: time.Second, MaxTime: 4 * time.Hour}

	caption = platform.Text{Max: 63_206}
	// A Reel takes no partner, and a video may become one.
	still = []platform.Option{platform.OptionAlt, platform.OptionPaid, platform.OptionPartners}
)

var capabilities = platform.Capabilities{
	Label:   "Facebook",
	Connect: platform.ConnectOAuth,
	Scopes: []string{
		"pages_show_list", "pages_manage_posts", "pages_read_engagement", "pages_manage_engagement", "read_insights",
		"pages_read_user_content", "business_management",
	},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost:      {Caption: caption, MaxMedia: 1, Image: image},
		platform.KindVideo:     {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video, Without: still},
		platform.KindMusicClip: {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video, Without: still},
		platform.KindCarousel:  {Caption: caption, MinMedia: 2, MaxMedia: 10, Image: image},
	},
	Origin: platform.Origin{Reads: []platform.Mark{platform.MarkIPTC, platform.MarkC2PA},
		Source: "https://about.fb.com/news/2024/02/labeling-ai-generated-images-on-facebook-instagram-and-threads/"},
	Hashtags: platform.Hashtags{Max: 30, Written: true},
	Alt:      platform.Text{Max: 1000},
	Comment:  platform.Text{Max: 8000},
	Comments: platform.Commenting{Reads: true, Replies: true, Hides: true, Deletes: true,
		Text: platform.Text{Max: 8000}},
	Options: []platform.Option{platform.OptionAlt, platform.OptionFirstComment, platform.OptionPaid,
		platform.OptionPartners, platform.OptionLocation},
	Refuses: func(p platform.Post) []platform.Problem {
		own, _ := p.Options.Own.(Options)
		found := own.Refused(Name, 1, 1)
		if own.LocationID != "" && len(p.Media) == 1 && p.Media[0].Video() && !reel(p) {
			found = append(found, platform.Wrong(Name, platform.OptionLocation, "is not taken with a video that is "+
				"not "+
				"published as a Reel."))
		}
		return found
	},
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"reach", "views", "likes", "comments", "shares", "clicks"},
	Account:   platform.AccountFigures{Names: []string{"followers", "followers_gained", "views"}, History: true},
	Past:      platform.Past{Page: graph.PastPage},
	Edits:     true,
	Deletes:   true,
	Pulls:     true,
	Lookups:   []platform.Lookup{{Kind: platform.LookupLocation, Searches: true}},
	Habits: platform.Habits{FirstLine: 400, Least: 80, Most: 600, Hashtags: 2, Links: true,
		Action: "to comment, to share the post or to open a link",
		Form: "It is told to people who know each other: a small story, then a question that can be " +
			"answered from experience."},
	Notes: []string{
		"Posts are those of a page. Facebook lets no application post as a person.",
		"A vertical video of 3 to 90 seconds is published as a Reel. Facebook takes 30 Reels of a page in 24 hours.",
		"Facebook has no mark of an application for content that was made by AI. It may add its own.",
		"Access ends 90 days after the owner has granted it: connect the page again before.",
		"Facebook does not count the shares of a video.",
	},
}

// Options are the options of posts on Facebook, as callers send them.
type Options struct {
	platform.Described
	platform.Commented
	platform.Partnered
	platform.Located
}

var refusals = graph.Refusals{
	Label: "Facebook", Published: []int{506},
	Codes: map[int]func() *platform.Error{
		368: func() *platform.Error { return platform.Full(time.Hour) },
	},
	Subcodes: map[int]func() *platform.Error{
		1390008: func() *platform.Error { return platform.Full(time.Hour) },
		1404112: locked, 4854002: locked,
		1366046: graph.Media("The image is too large for Facebook."),
		1346003: graph.Media("Facebook could not read the media."),
		1404102: func() *platform.Error {
			return platform.Reject(platform.CodeContentPolicy, "Facebook refuses the text or the link of the post.")
		},
		1609008: graph.Media("Facebook does not take the link of the post."),
	},
}

func locked() *platform.Error {
	return platform.NeedsReconnect(platform.CodeNeedsReconnect, "Facebook has locked the login. Its owner has to sign "+
		"in at Facebook and follow the instructions, then connect the page again.")
}

// Platform is Facebook.
type Platform struct {
	wire.Connector
	wire.Kept // only the login that granted the access can revoke it, and its token is not kept
	platform.Chain[state]
	graph.Commenter
	api graph.API
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	g := graph.New(c, c.Base(graphAddress)+version, refusals, known)
	p := &Platform{Connector: wire.Connector{API: g.API, OAuth: wire.OAuth{
		Authorize: c.Base(dialog) + version + "/dialog/oauth",
		Token:     c.Base(graphAddress) + version + "/oauth/access_token",
		Scopes:    capabilities.Scopes, Divider: ",", Refused: refusals.Token,
	}}, api: g}
	p.Commenter = graph.Commenter{Reader: graph.Reader{Via: g, Listing: "/comments", Hide: "is_hidden",
		List: url.Values{"filter": {"stream"}, "order": {"reverse_chronological"},
			"fields": {"id,message,created_time,from{id,name},parent{id},is_hidden"}}},
		Replies: "/comments", Object: "page", Field: "feed"}
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// page is a page with the rights of the login.
type page struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Username string          `json:"username"`
	Token    platform.Secret `json:"access_token"`
	Tasks    []string        `json:"tasks"`
	Picture  struct {
		Data struct {
			URL string `json:"url"`
		} `json:"data"`
	} `json:"picture"`
}

const ofPage = "id,name,username,access_token,tasks,picture{url}"

// Connect implements platform.Connector. It returns the pages on which the login may post, each with
// its own token, which does not end while the owner's grant stands.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	short, err := p.Client.Exchange(ctx, p.OAuth, g, nil)
	if err != nil {
		return nil, err
	}
	form := url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {short.Access.Reveal()}}
	long, err := p.Client.Issue(ctx, p.OAuth, form, short.Access)
	if err != nil {
		return nil, err
	}
	pages, err := graph.Pages[page](ctx, p.api, long.Access, ofPage)
	if err != nil {
		return nil, err
	}
	ends := graph.Ends(ctx, p.api, long.Access, p.Client.Now().Add(access))
	grantor := graph.Grantor(ctx, p.api, long.Access)
	var all []platform.Account
	for _, page := range pages {
		known := slices.ContainsFunc(all, func(a platform.Account) bool { return a.ID == page.ID })
		if known || g.Choice != "" && g.Choice != page.ID && g.Choice != "@"+page.Username ||
			!slices.Contains(page.Tasks, "CREATE_CONTENT") || !graph.Number(page.ID) || page.Token == "" {
			continue
		}
		a := platform.Account{ID: page.ID, Name: page.Name, AvatarURL: page.Picture.Data.URL, Grantor: grantor,
			Token: platform.Token{Access: page.Token, Scopes: capabilities.Scopes, EndsAt: ends}}
		if page.Username != "" {
			a.Handle = "@" + page.Username
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, "The login may create content on none of the "+
			"chosen pages.")
	}
	return all, nil
}

// Refresh implements platform.Connector. The token of a page does not end.
func (p *Platform) Refresh(_ context.Context, a platform.Account) (platform.Token, error) {
	return a.Token, nil
}

// total is the number of entries of an edge.
type total struct {
	Summary struct {
		Count int64 `json:"total_count"`
	} `json:"summary"`
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (m platform.Metrics,
	err error) {
	if !known(post.ID) {
		return m, p.api.NoPost()
	}
	const sums = "comments.summary(true).limit(0),reactions.summary(true).limit(0)"
	var node struct {
		Views     int64 `json:"views"`
		Comments  total `json:"comments"`
		Reactions total `json:"reactions"`
		Shares    struct {
			Count int64 `json:"count"`
		} `json:"shares"`
	}
	fields := "views," + sums
	if isPost(post.ID) {
		fields = "shares," + sums
	}
	if err := p.Get(ctx, a.Token.Access, "/"+post.ID, url.Values{"fields": {fields}}, &node); err != nil {
		return m, err
	}
	m.Comments, m.Likes = platform.Count(node.Comments.Summary.Count), platform.Count(node.Reactions.Summary.Count)
	if !isPost(post.ID) {
		m.Views = platform.Count(node.Views)
		return m, nil
	}
	m.Shares = platform.Count(node.Shares.Count)
	var insights graph.Insights
	err = p.Get(ctx, a.Token.Access, "/"+post.ID+"/insights",
		url.Values{"metric": {"post_media_view,post_total_media_view_unique,post_clicks"}}, &insights)
	if err != nil {
		return m, err
	}
	insights.Lifetime(map[string]**int64{"post_media_view": &m.Views, "post_total_media_view_unique": &m.Reach,
		"post_clicks": &m.Clicks})
	return m, nil
}

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var insights graph.Insights
	err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/insights",
		graph.Query(days, p.Client.Now(), "page_follows,page_daily_follows,page_media_view"), &insights)
	if err != nil {
		return nil, err
	}
	insights.Days(days, map[string]string{"page_follows": "followers", "page_daily_follows": "followers_gained",
		"page_media_view": "views"})
	return days, nil
}
