// Package bluesky publishes on Bluesky, by the AT Protocol.
//
// The client chooses the key of a post's record. The adapter derives it before the first call, so that a repeated call
// names the same record and never makes a second post. Start with Platform in bluesky.go; publish.go makes posts.
package bluesky

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the platform's id.
const Name = "bluesky"

// The platform's addresses.
const (
	server = "https://bsky.social"
	videos = "https://video.bsky.app"
)

const (
	// access is the life of an access token, which a session does not state.
	access = 2 * time.Hour
	// thread is the greatest number of posts in a thread.
	thread = 25
	// gallery is the number of images above which a post has a gallery.
	gallery = 4
)

var (
	image = &platform.File{MIMEs: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 2_000_000}
	video = &platform.File{MIMEs: []string{"video/mp4"}, MaxBytes: 300_000_000, MaxTime: 10 * time.Minute}

	caption = platform.Text{Max: 300, Unit: platform.Graphemes, MaxBytes: 3000}
)

var capabilities = platform.Capabilities{
	Label:   "Bluesky",
	Reader:  texts.Bluesky,
	Connect: platform.ConnectPassword,
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost: {Caption: caption, Thread: thread, MaxMedia: 1, Image: image},
		platform.KindVideo: {Caption: caption, Thread: thread, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: []platform.Option{platform.OptionAlt}},
		platform.KindMusicClip: {Caption: caption, Thread: thread, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: []platform.Option{platform.OptionAlt}},
		platform.KindCarousel: {Caption: caption, Thread: thread, MinMedia: 2, MaxMedia: 10, Image: image},
	},
	Hashtags:  platform.Hashtags{Max: 30, Written: true},
	Alt:       platform.Text{Max: 2000},
	Comment:   caption,
	Comments:  platform.Commenting{Reads: true, Replies: true, Text: caption},
	Options:   []platform.Option{platform.OptionAlt, platform.OptionFirstComment, platform.OptionThread},
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"likes", "comments", "shares", "saves"},
	Account:   platform.AccountFigures{Names: []string{"followers", "posts"}},
	Past:      platform.Past{Page: pastPage, Figures: true},
	Deletes:   true,
	Habits: platform.Habits{Least: 60, Most: 180, Hashtags: 1, Links: true,
		Action: "to answer, to share the post or to open a link",
		Form:   "A remark in a conversation: one thought, without a tone of advertising."},
	Notes: []string{
		"The password is an app password, which the owner makes in the settings of Bluesky. The password of the " +
			"account itself is refused.",
		"Accounts of other servers than Bluesky's own cannot be connected.",
		"Videos need a confirmed e-mail address of the account.",
		"Bluesky has no mark for content that was made by AI: say so in the caption where the law asks for it.",
		"A post cannot be changed after it was published.",
		"A first comment is a reply of the account to its own post.",
	},
}

// Options are the options of posts on Bluesky, as callers send them.
type Options struct {
	platform.Described
	platform.Commented
	platform.Threaded
}

// Platform is Bluesky.
type Platform struct {
	wire.API
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{API: wire.API{Client: c, Root: c.Base(server) + "/xrpc/"}}
	p.Refused = func(bool) wire.Refused { return p.refused }
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// Authorization implements platform.Connector.
func (p *Platform) Authorization(context.Context, platform.Authorization) (string, error) {
	return "", platform.Unsupported("OAuth here")
}

var appPassword = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}$`)
})

// session is a session of a login.
type session struct {
	DID     string          `json:"did"`
	Handle  string          `json:"handle"`
	Access  platform.Secret `json:"accessJwt"`
	Refresh platform.Secret `json:"refreshJwt"`
}

func (s session) token(now time.Time) platform.Token {
	return platform.Token{Access: s.Access, Refresh: s.Refresh, ExpiresAt: now.Add(access)}
}

// Connect implements platform.Connector. It opens a session with an app password, which cannot
// change the account or its password.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	if !appPassword().MatchString(g.Password.Reveal()) {
		return nil, platform.Reject(platform.CodeNeedsReconnect, "Send an app password, which has the form "+
			"xxxx-xxxx-xxxx-xxxx. The owner of the account makes one in the settings of Bluesky.")
	}
	var s session
	call := p.Call(http.MethodPost, "com.atproto.server.createSession", "")
	call.JSON = map[string]string{"identifier": strings.TrimPrefix(g.Username, "@"), "password": g.Password.Reveal()}
	call.Secrets = []platform.Secret{g.Password}
	if err := p.Client.JSON(ctx, call, p.sessionRefused, &s); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s.DID, "did:") || s.Access == "" || s.Refresh == "" {
		return nil, p.Client.Garbled(call, errIncomplete)
	}
	a := platform.Account{ID: s.DID, Handle: "@" + s.Handle, Name: s.Handle, Token: s.token(p.Client.Now())}
	var profile struct {
		Name   string `json:"displayName"`
		Avatar string `json:"avatar"`
	}
	if err := p.Get(ctx, s.Access, "app.bsky.actor.getProfile", url.Values{"actor": {s.DID}}, &profile); err != nil {
		return nil, err
	}
	if a.AvatarURL = profile.Avatar; profile.Name != "" {
		a.Name = profile.Name
	}
	return []platform.Account{a}, nil
}

// Refresh implements platform.Connector. The refresh token ends after 90 days without a refresh.
func (p *Platform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	var s session
	call := p.Call(http.MethodPost, "com.atproto.server.refreshSession", a.Token.Refresh)
	if err := p.Client.JSON(ctx, call, p.sessionRefused, &s); err != nil {
		return platform.Token{}, err
	}
	if s.Access == "" || s.Refresh == "" {
		return platform.Token{}, p.Client.Garbled(call, errIncomplete)
	}
	return s.token(p.Client.Now()), nil
}

// Revoke implements platform.Connector. It ends the session.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	err := p.Client.JSON(ctx, p.Call(http.MethodPost, "com.atproto.server.deleteSession", a.Token.Refresh),
		p.sessionRefused, nil)
	if platform.KindOf(err) == platform.Reconnect {
		return nil // the session has ended already
	}
	return err
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (platform.Metrics, error) {
	var answer struct {
		Posts []struct {
			Likes     int64 `json:"likeCount"`
			Reposts   int64 `json:"repostCount"`
			Quotes    int64 `json:"quoteCount"`
			Replies   int64 `json:"replyCount"`
			Bookmarks int64 `json:"bookmarkCount"`
		} `json:"posts"`
	}
	if err := p.Get(ctx, a.Token.Access, "app.bsky.feed.getPosts", url.Values{"uris": {post.ID}}, &answer); err != nil {
		return platform.Metrics{}, err
	}
	if len(answer.Posts) == 0 {
		return platform.Metrics{}, platform.Reject(platform.CodePostNotFound, "Bluesky does not have the post.")
	}
	n := answer.Posts[0]
	return platform.Metrics{Likes: platform.Count(n.Likes), Comments: platform.Count(n.Replies),
		Shares: platform.Count(n.Reposts + n.Quotes), Saves: platform.Count(n.Bookmarks)}, nil
}

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var profile struct {
		Followers *int64 `json:"followersCount"`
		Posts     *int64 `json:"postsCount"`
	}
	err := p.Get(ctx, a.Token.Access, "app.bsky.actor.getProfile", url.Values{"actor": {a.ID}}, &profile)
	if err != nil {
		return nil, err
	}
	return []platform.Day{{Date: platform.Midnight(p.Client.Now()), Followers: profile.Followers,
		Posts: profile.Posts}}, nil
}

// Delete implements platform.Deleter. The posts of a thread, and the first comment after them, have keys
// that follow each other. The deletion of a record that does not exist succeeds.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	first := post.ID[strings.LastIndexByte(post.ID, '/')+1:]
	for n := range max(post.Parts, 1) + 1 {
		call := p.Call(http.MethodPost, "com.atproto.repo.deleteRecord", a.Token.Access)
		call.JSON = map[string]string{"repo": a.ID, "collection": collection, "rkey": following(first, n)}
		if err := p.Send(ctx, call, nil); err != nil {
			return err
		}
	}
	return nil
}
