// Package x publishes on X.
//
// Files are uploaded in parts and stay invisible. One call makes a post. X charges for most calls, so that the adapter
// reads as little as possible, and a budget bounds the cost of a day. Start with Platform in x.go; publish.go makes
// posts.
package x

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/media"
)

// Name is the platform's id.
const Name = "x"

// The platform's addresses.
const (
	site = "https://x.com"
	api  = "https://api.x.com"
)

// The prices of calls, in tenths of a cent.
const (
	postPrice = 15
	linkPrice = 200 // of a post with a link
	readPrice = 5
	userPrice = 10 // of a read of an account
	// deletePrice is the price of a deletion, and the assumed one of hiding a reply.
	deletePrice = 10
	// readPart is the part of the budget that readings of metrics may use: a fourth.
	readPart = 4
	// dailyPrice is the budget of a day, unless the operator has set another.
	dailyPrice = 10_000
)

// thread is the greatest number of posts in a thread.
const thread = 25

var (
	image = &platform.File{MIMEs: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 5_000_000}
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 512_000_000, MinRatio: 1.0 / 3,
		MaxRatio: 3, MinShort: 32, MinTime: 500 * time.Millisecond, MaxTime: 140 * time.Second,
		Form: form}

	// form is that of docs.x.com/x-api/media/quickstart/best-practices.
	form = platform.Form{Pictures: []media.Codec{media.H264}, Sounds: []media.Codec{media.AAC}, Chroma: "4:2:0",
		MaxDepth: 8, MaxRate: 60, LowComplexity: true, MaxChannels: 2}

	caption = platform.Text{Max: 280, Unit: platform.Weighted, MaxCashtags: 1}
	noAlt   = []platform.Option{platform.OptionAlt}

	kinds = map[platform.Kind]platform.Rule{
		platform.KindPost: {Caption: caption, Thread: thread, MaxMedia: 1, Image: image},
		platform.KindVideo: {Caption: caption, Thread: thread, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: noAlt},
		platform.KindMusicClip: {Caption: caption, Thread: thread, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: noAlt},
		platform.KindCarousel: {Caption: caption, Thread: thread, MinMedia: 2, MaxMedia: 4, Image: image},
	}
	hashtags = platform.Hashtags{Max: 30, Written: true}
)

// The options of X alone.
const (
	OptionReplies platform.Option = "replies"
	OptionQuote   platform.Option = "quote_post_id"
)

var capabilities = platform.Capabilities{
	Label:   "X",
	Reader:  texts.X,
	Connect: platform.ConnectOAuth,
	Scopes:  []string{"tweet.read", "tweet.write", "users.read", "media.write", hideScope, "offline.access"},
	Kinds:   kinds,
	Origin: platform.Origin{Flag: true,
		Source: "https://docs.x.com/x-api/posts/create-post"},
	Hashtags: hashtags,
	Alt:      platform.Text{Max: 1000},
	Comment:  caption,
	Comments: platform.Commenting{Reads: true, Replies: true, Hides: true, Deletes: true, Text: caption,
		ReadAt: commentReads,
		Uses:   platform.CommentUses{Reply: replyPrice, Hide: deletePrice, Delete: deletePrice}},
	Options: []platform.Option{platform.OptionAlt, platform.OptionFirstComment, platform.OptionThread,
		platform.OptionGenerated, platform.OptionPaid, OptionReplies, OptionQuote, platform.OptionPoll},
	Refuses:   refuses,
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"impressions", "views", "likes", "comments", "shares", "saves", "clicks"},
	Account:   platform.AccountFigures{Names: []string{"followers", "posts"}, Price: userPrice},
	Deletes:   true,
	Budget:    &platform.Budget{Max: dailyPrice, Shared: true, Cost: cost, Unit: 10, Least: 600},
	Reads:     &platform.Reads{Price: readPrice, Part: readPart},
	Past:      platform.Past{Page: pastPage, Figures: true, Price: pastPage * readPrice},
	Habits: platform.Habits{Least: 60, Most: 170, Hashtags: 1, Links: true,
		Action: "to answer, to share the post or to open a link",
		Form: "One thought, which stands alone without the picture. The first five words decide; no " +
			"introduction, no summary."},
	Notes: []string{
		"X charges the operator's application: 0.015 dollars for a post, 0.20 dollars for a post with a link, and " +
			"0.005 dollars for each read of a post, 0.01 dollars for a deletion. Each post of a thread counts, and " +
			"so does a first comment. The metrics of a post are read up to 92 times in 90 days.",
		"The operator bounds the cost of a day. Publications beyond it wait. Readings of metrics use at most a " +
			"fourth of it, and are left out beyond that.",
		"clicks are those on the links of a post, in its first 30 days.",
		"A link counts as 23 characters, and an emoji as 2.",
		"X takes one cashtag in a post.",
		"X refuses a text that the account has posted lately. Such a publication ends as content_refused, unless X " +
			"shows that it is the post of the publication itself.",
		"The replies to a post are read five times in seven days, the newest ten each time, and only if X counts " +
			"any. X charges 0.005 dollars for the count and for each reply, and 0.01 dollars for each author.",
		"Hiding a reply needs the right " + hideScope + ". An account deletes its own replies alone.",
		"A first comment is a reply of the account to its own post.",
		"A post cannot be changed after it was published.",
	},
}

// cost returns what the calls of a publication cost.
func cost(p platform.Post) (sum int) {
	posts := platform.Arrange(p, platform.Capabilities{Kinds: kinds, Hashtags: hashtags}).Posts()
	if p.Options.FirstComment != "" {
		posts = append(posts, p.Options.FirstComment)
	}
	for _, text := range posts {
		sum += replyPrice(text)
	}
	return sum
}

// Platform is X.
type Platform struct {
	wire.Connector
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{Client: c, Root: c.Base(api)}, OAuth: wire.OAuth{
		Authorize: c.Base(site) + "/i/oauth2/authorize", Token: c.Base(api) + "/2/oauth2/token",
		Scopes: capabilities.Scopes, Basic: true, Refused: tokenRefused,
	}}}
	p.Refused = p.classes
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities, Every: 3 * time.Minute}
	return p
}

var errIncomplete = errors.New("a member is missing")

// Connect implements platform.Connector.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	token, err := p.Client.Grant(ctx, p.OAuth, g, capabilities.Label)
	if err != nil {
		return nil, err
	}
	var me struct {
		Data struct {
			ID       string `json:"id"`
			Username string `json:"username"`
			Name     string `json:"name"`
			Picture  string `json:"profile_image_url"`
		} `json:"data"`
	}
	call := p.Call(http.MethodGet, "/2/users/me", token.Access)
	call.Query = url.Values{"user.fields": {"profile_image_url"}}
	err = p.Send(ctx, call, &me)
	if err != nil {
		return nil, err
	}
	if !number(me.Data.ID) {
		return nil, platform.Busy().Because(errIncomplete)
	}
	return []platform.Account{{ID: me.Data.ID, Handle: "@" + me.Data.Username, Name: me.Data.Name,
		AvatarURL: me.Data.Picture, Token: token}}, nil
}

// Get makes a call that reads. A refusal of it says nothing about the right to publish.
func (p *Platform) Get(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	call := p.Call(http.MethodGet, path, token)
	call.Query = query
	return p.Client.JSON(ctx, call, p.refused(reads), out)
}

// Revoke implements platform.Connector.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	app, err := p.Client.App(ctx)
	if err != nil {
		return err
	}
	proof := wire.Basic(app)
	call := wire.Call{Name: "revoke", Method: http.MethodPost, URL: p.Client.Base(api) + "/2/oauth2/revoke",
		Header:  http.Header{"Authorization": {proof.Reveal()}},
		Form:    url.Values{"token": {a.Token.Refresh.Reveal()}, "token_type_hint": {"refresh_token"}},
		Secrets: []platform.Secret{proof, a.Token.Refresh}}
	err = p.Client.JSON(ctx, call, tokenRefused, nil)
	if platform.KindOf(err) == platform.Reconnect {
		return nil // the token has ended already
	}
	return err
}

// number reports whether an id is a number. An id becomes part of a path.
func number(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil
}
