// Package bluesky publishes on Bluesky, by the AT Protocol.
//
// The client chooses the key of a post's record. The adapter derives it before the first call, so that a repeated call
// names the same record and never makes a second post. Start with Platform in bluesky.go; publish.go makes posts.
package bluesky

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
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
	Hashtags:  platform.Hashtags{Max: 30, InCaption: true},
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
	Habits: platform.Habits{MinCaption: 60, MaxCaption: 180, Hashtags: 1, Links: true,
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
	platform.AltTextOption
	platform.FirstCommentOption
	platform.ThreadOption
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
	p.Classify = func(bool) wire.Classifier { return p.classify }
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
	if err := p.Client.JSON(ctx, call, p.classifySession, &s); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s.DID, "did:") || s.Access == "" || s.Refresh == "" {
		return nil, p.Client.GarbledError(call, errIncomplete)
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
	if err := p.Client.JSON(ctx, call, p.classifySession, &s); err != nil {
		return platform.Token{}, err
	}
	if s.Access == "" || s.Refresh == "" {
		return platform.Token{}, p.Client.GarbledError(call, errIncomplete)
	}
	return s.token(p.Client.Now()), nil
}

// Revoke implements platform.Connector. It ends the session.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	call := p.Call(http.MethodPost, "com.atproto.server.deleteSession", a.Token.Refresh)
	return platform.Revoked(p.Client.JSON(ctx, call, p.classifySession, nil))
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (platform.Metrics,
	error) {
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
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
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

// fault is a refusal of the AT Protocol (atproto.com/specs/xrpc, Error Responses).
type fault struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// suspendedErrors are the errors of accounts that are taken down, suspended or deactivated (atproto,
// lexicons/com/atproto/server/createSession.json and lexicons/com/atproto/sync; packages/pds/src/auth-verifier.ts).
var suspendedErrors = map[string]bool{"AccountTakedown": true, "AccountSuspended": true, "AccountDeactivated": true,
	"AccountNotFound": true, "RepoTakendown": true, "RepoSuspended": true, "RepoDeactivated": true}

// expiredErrors are the errors of a token (packages/pds/src/auth-verifier.ts). A refresh tells whether the session has
// ended.
var expiredErrors = map[string]bool{
	"ExpiredToken":           true, // Token has expired, Token has been revoked
	"InvalidToken":           true, // Token could not be verified, Bad token scope, Malformed token
	"AuthMissing":            true, // the header was lost on the way
	"AuthenticationRequired": true, // Authentication Required
}

// refusals are the other errors that name their cause.
var refusals = map[string]func() *platform.Error{
	// packages/pds/src/repo: another commit came first. Nothing was written.
	"InvalidSwap": platform.Busy,
	// packages/xrpc-server/src/errors.ts. They come with statuses from 500 as well.
	"UpstreamFailure": platform.Busy, "UpstreamTimeout": platform.Busy, "NotEnoughResources": platform.Busy,
	"InternalServerError": platform.Busy,
	// lexicons/com/atproto/repo/getRecord.json; app/bsky/feed/getPostThread.json
	"RecordNotFound": notFound, "NotFound": notFound,
	// packages/xrpc-server and packages/repo: what was sent does not fit the lexicon.
	"InvalidRequest": contentRefused, "InvalidRecord": contentRefused, "InvalidRecordKey": contentRefused,
	// packages/pds/src/actor-store/blob
	"BlobTooLarge": mediaRefused, "InvalidMimeType": mediaRefused, "PayloadTooLarge": mediaRefused,
	// lexicons/com/atproto/identity/resolveHandle.json
	"HandleNotFound": contentRefused,
}

func notFound() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "Bluesky does not have the post.")
}

func contentRefused() *platform.Error {
	return platform.Reject(platform.CodeContentRefused, "Bluesky refuses the post.")
}

func mediaRefused() *platform.Error {
	return platform.Reject(platform.CodeMediaRefused, "Bluesky refuses the file.")
}

func accountSuspended() *platform.Error {
	return platform.NeedsReconnect(platform.CodeNeedsReconnect, "Bluesky has suspended the account, or its owner has "+
		"deactivated it.")
}

// limitError returns the error of too many calls. Bluesky names the second at which the next is taken
// (docs.bsky.app, Rate Limits).
func (p *Platform) limitError(a wire.Answer) *platform.Error {
	after, _ := p.Client.Wait(a, "RateLimit-Reset")
	return platform.Limited(after)
}

// classify classifies the refusals of the server of the account, which name an error.
func (p *Platform) classify(a wire.Answer) *platform.Error {
	var f fault
	named := json.Unmarshal(a.Body, &f) == nil && f.Error != ""
	switch {
	case a.OK() || a.Status >= 500: // the status tells the failures inside Bluesky
		return nil
	case a.Status == http.StatusTooManyRequests, f.Error == "RateLimitExceeded":
		return p.limitError(a)
	case !named:
		return nil
	case expiredErrors[f.Error]:
		return platform.TokenExpired()
	case suspendedErrors[f.Error]:
		return accountSuspended()
	}
	if means, ok := refusals[f.Error]; ok {
		return means()
	}
	return platform.Odd()
}

// classifySession classifies the refusals of the calls that open, renew and end a session. Only an answer with the
// status 400 or 401 and an error of the token or of the account ends a connection.
func (p *Platform) classifySession(a wire.Answer) *platform.Error {
	var f fault
	named := json.Unmarshal(a.Body, &f) == nil && f.Error != ""
	own := a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
	switch {
	case a.OK():
		return nil
	case a.Status == http.StatusTooManyRequests, own && f.Error == "RateLimitExceeded":
		return p.limitError(a)
	case own && named && suspendedErrors[f.Error]:
		return accountSuspended()
	case own && f.Error == "AuthFactorTokenRequired":
		return platform.NeedsReconnect(platform.CodeNeedsReconnect, "Bluesky wants a code sent by e-mail. Connect the "+
			"account with an app password.")
	case own && named && expiredErrors[f.Error]:
		return platform.Disconnected()
	}
	return platform.Busy()
}

// The refusals of the video service, by the texts that github.com/bluesky-social/social-app knows
// (getUploadErrorMessage), and unconfirmed_email of atproto #3097.
var (
	videoQuota = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)exceeded daily upload|daily limit`)
	})
	videoLater = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)disabled at the moment|failed to get user's upload stats`)
	})
	videoSize = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)larger than the maximum|too large`)
	})
	videoMail = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)unconfirmed_email|confirm your email`)
	})
	videoRight = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)not allowed to upload|not old enough`)
	})
)

// classifyVideo classifies the refusals of the video service. It has tokens of its own, so that a refusal of one says
// nothing about the session of the account: after some attempts the refusal is final.
func (p *Platform) classifyVideo(a wire.Answer) *platform.Error {
	var f fault
	_ = json.Unmarshal(a.Body, &f) // an answer in another form explains nothing
	switch {
	case a.OK() || a.Status >= 500:
		return nil
	case a.Status == http.StatusTooManyRequests, f.Error == "RateLimitExceeded":
		return p.limitError(a)
	case a.Status == http.StatusRequestEntityTooLarge:
		return mediaRefused()
	}
	if e := videoMeans(f.Error + " " + f.Message); e != nil {
		return e
	}
	return platform.Perhaps(platform.CodeContentRefused, "Bluesky's video service refuses the video.")
}

// videoMeans returns what a text of the video service says, or nil.
func videoMeans(said string) *platform.Error {
	switch {
	case videoQuota().MatchString(said):
		return platform.Full(24 * time.Hour)
	case videoLater().MatchString(said):
		return platform.Later(platform.CodePlatformUnavailable, "Bluesky takes no videos at the moment.").
			WithWait(10 * time.Minute)
	case videoSize().MatchString(said):
		return mediaRefused()
	case videoMail().MatchString(said):
		return platform.Reject(platform.CodeMissingPermission, "Bluesky takes no videos of the account. Its e-mail "+
			"address must be confirmed.")
	case videoRight().MatchString(said):
		return platform.Reject(platform.CodeMissingPermission, "Bluesky takes no videos of the account.")
	}
	return nil
}

// failures are the codes with which the processing of a video fails for good: app.bsky.video.defs#jobStatus,
// failureCode, and the errors that social-app shows for services without that member. After another failure, such as
// pds_upload_failure, the video is uploaded again (twitter-to-bluesky #55 and #78: usually transient).
var failures = map[string]bool{
	"validation_failure": true, "encoding_failure": true, "pds_upload_unsupported_blob_size": true,
	"video_too_long": true, "bad_aspect_ratio": true, "unsupported_codec": true, "encoded_video_too_large": true,
}

// words returns what the video service says about a failure.
func (j progress) words() string {
	for _, text := range []string{j.Message, j.Error, j.Failure} {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// lasts reports whether the processing would fail again.
func (j progress) lasts() bool { return failures[j.Failure] || j.Failure == "" && failures[j.Error] }

// unprocessed is the error of a video that Bluesky could not process.
func unprocessed(words string) *platform.Error {
	return platform.Reject(platform.CodeMediaRefused, "Bluesky could not process the video.").Saying(words)
}

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 100

// PastPosts implements platform.PastReader. Posts that the account has only passed on are left out.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"actor": {a.ID}, "filter": {"posts_no_replies"}, "limit": {strconv.Itoa(pastPage)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	var answer struct {
		Cursor string `json:"cursor"`
		Feed   []struct {
			Reason *struct{} `json:"reason"` // of a post that was passed on
			Post   struct {
				URI    string `json:"uri"`
				Record struct {
					Text string    `json:"text"`
					At   time.Time `json:"createdAt"`
				} `json:"record"`
				Embed struct {
					Type   string     `json:"$type"`
					Images []struct{} `json:"images"`
				} `json:"embed"`
				Likes     int64 `json:"likeCount"`
				Reposts   int64 `json:"repostCount"`
				Quotes    int64 `json:"quoteCount"`
				Replies   int64 `json:"replyCount"`
				Bookmarks int64 `json:"bookmarkCount"`
			} `json:"post"`
		} `json:"feed"`
	}
	if err := p.Get(ctx, a.Token.Access, "app.bsky.feed.getAuthorFeed", query, &answer); err != nil {
		return nil, "", err
	}
	for _, f := range answer.Feed {
		if f.Reason != nil {
			continue
		}
		n, kind := f.Post, platform.KindPost
		switch {
		case n.Embed.Type == "app.bsky.embed.video#view":
			kind = platform.KindVideo
		case len(n.Embed.Images) > 1:
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: n.URI, Kind: kind, Text: n.Record.Text, At: n.Record.At,
			Metrics: platform.Metrics{Likes: platform.Count(n.Likes), Comments: platform.Count(n.Replies),
				Shares: platform.Count(n.Reposts + n.Quotes), Saves: platform.Count(n.Bookmarks)}})
	}
	return posts, answer.Cursor, nil
}
