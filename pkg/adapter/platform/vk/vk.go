// Package vk publishes on the walls of VK's communities.
//
// Photos and videos are uploaded first, invisibly, and are then attached to a post. If the answer to a post is lost,
// the adapter looks for it among the newest posts of the wall, which only the token of a user can read. Start with
// Platform in vk.go; publish.go makes posts.
package vk

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	Habits: platform.Habits{FirstLine: 280, MinCaption: 150, MaxCaption: 1000, Hashtags: 3, Links: true,
		Hours: []int{19, 12, 21, 9}, WeekendHours: []int{12, 20, 16},
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
		if listed, err = p.communities(ctx, token); err != nil {
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

// communities lists the communities that the user of a token administers or edits. VK may give fewer than a page.
func (p *Platform) communities(ctx context.Context, token platform.Token) (all []group, err error) {
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
	if err := p.Client.JSON(ctx, call, p.classify(a.Token, method, posts), &envelope); err != nil {
		return err
	}
	if err := json.Unmarshal(envelope.Response, out); err != nil {
		return p.Client.GarbledError(call, err)
	}
	return nil
}

// These options are members of the shape of VK alone.
const (
	optionSigned platform.Option = "signed"
	optionSource platform.Option = "source_url"
)

// Options are the options of posts on VK, as callers send them.
type Options struct {
	platform.Visible
	platform.FirstCommentOption
	platform.Quiet
	platform.SponsorOption
	platform.CommentsOption
	// Shows the name of the person who connected the account below the post.
	Signed bool `json:"signed,omitempty"`
	// Page that the post is taken from, which VK shows below it.
	Source string `json:"source_url,omitempty" format:"web-address"`
}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own, _ := p.Options.Own.(Options)
	if own.DisableComments && p.Options.FirstComment != "" {
		found = append(found, platform.Wrong(Name, platform.OptionFirstComment, "cannot be written below a post with "+
			"disable_comments."))
	}
	return found
}

// describe adds the options of a post to the call that makes it.
func describe(params url.Values, p platform.Post) {
	own, _ := p.Options.Own.(Options)
	for name, on := range map[string]bool{"close_comments": own.DisableComments, "mute_notifications": own.Silent,
		"mark_as_ads": own.Paid, "signed": own.Signed} {
		if on {
			params.Set(name, "1")
		}
	}
	if own.Source != "" {
		params.Set("copyright", own.Source)
	}
}

// Metrics implements platform.Publisher. Only administrators of the community can read the reach and the clicks.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (m platform.Metrics,
	err error) {
	type count struct {
		Count int64 `json:"count"`
	}
	var answer struct {
		Items []struct {
			Views    count `json:"views"`
			Likes    count `json:"likes"`
			Comments count `json:"comments"`
			Reposts  count `json:"reposts"`
		} `json:"items"`
	}
	if a.Token.Refresh == "" {
		return m, platform.Unsupported("metrics with the token of a community")
	}
	if err := p.call(ctx, a, "wall.getById", url.Values{"posts": {a.ID + "_" + post.ID}}, false, &answer); err != nil {
		return m, err
	}
	if len(answer.Items) == 0 {
		return m, platform.Reject(platform.CodePostNotFound, "VK does not have the post.")
	}
	i := answer.Items[0]
	m = platform.Metrics{Views: &i.Views.Count, Likes: &i.Likes.Count, Comments: &i.Comments.Count,
		Shares: &i.Reposts.Count}
	var reached []struct {
		Reach *int64 `json:"reach_total"`
		Links *int64 `json:"links"`
	}
	err = p.call(ctx, a, "stats.getPostReach", url.Values{"owner_id": {a.ID}, "post_ids": {post.ID}}, false, &reached)
	if err != nil && !platform.Untold(err) {
		return platform.Metrics{}, err
	}
	if len(reached) > 0 {
		m.Reach, m.Clicks = reached[0].Reach, reached[0].Links
	}
	return m, nil
}

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader. Only administrators of the community can read more than the present number of
// its members.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	group := strings.TrimPrefix(a.ID, "-")
	var answer struct {
		Groups []struct {
			Members *int64 `json:"members_count"`
		} `json:"groups"`
	}
	err := p.call(ctx, a, "groups.getById", url.Values{"group_id": {group}, "fields": {"members_count"}}, false,
		&answer)
	if err != nil {
		return nil, err
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	if len(answer.Groups) > 0 {
		days.Last().Followers = answer.Groups[0].Members
	}
	if a.Token.Refresh == "" {
		return days, nil
	}
	var periods []struct {
		From     int64 `json:"period_from"`
		Visitors struct {
			Visitors *int64 `json:"visitors"`
		} `json:"visitors"`
		Reach struct {
			Reach *int64 `json:"reach"`
		} `json:"reach"`
		// Activity has only what has happened on the day.
		Activity struct {
			Likes    int64 `json:"likes"`
			Comments int64 `json:"comments"`
			Copies   int64 `json:"copies"`
			Gained   int64 `json:"subscribed"`
			Lost     int64 `json:"unsubscribed"`
		} `json:"activity"`
	}
	err = p.call(ctx, a, "stats.get", url.Values{"group_id": {group}, "interval": {"day"},
		"timestamp_from": {strconv.FormatInt(days[0].Date.Unix(), 10)},
		"timestamp_to":   {strconv.FormatInt(p.Client.Now().Unix(), 10)}}, false, &periods)
	if err != nil && !platform.Untold(err) {
		return nil, err
	}
	for _, d := range periods {
		// The days of VK begin at midnight in Moscow: each has its middle in the day of UTC with the same date.
		day := days.At(time.Unix(d.From, 0).Add(12 * time.Hour))
		if day == nil {
			continue
		}
		did := d.Activity
		day.Gained, day.Lost, day.Visitors = &did.Gained, &did.Lost, d.Visitors.Visitors
		day.Metrics = platform.Metrics{Reach: d.Reach.Reach, Likes: &did.Likes, Comments: &did.Comments,
			Shares: &did.Copies}
	}
	return days, nil
}

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 100

// PastPosts implements platform.PastReader. The cursor is the number of posts that were listed before. Posts that the
// community has only passed on are left out. The reach and the clicks are known of posts of the service alone.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	if a.Token.Refresh == "" {
		return nil, "", platform.Unsupported("earlier posts with the token of a community")
	}
	offset, _ := strconv.Atoi(cursor)
	type count struct {
		Count *int64 `json:"count"`
	}
	var answer struct {
		Count int `json:"count"`
		Items []struct {
			ID          int64      `json:"id"`
			At          int64      `json:"date"`
			Text        string     `json:"text"`
			Copied      []struct{} `json:"copy_history"`
			Attachments []struct {
				Type string `json:"type"`
			} `json:"attachments"`
			Views    count `json:"views"`
			Likes    count `json:"likes"`
			Comments count `json:"comments"`
			Reposts  count `json:"reposts"`
		} `json:"items"`
	}
	err = p.call(ctx, a, "wall.get", url.Values{"owner_id": {a.ID}, "filter": {"owner"},
		"count": {strconv.Itoa(pastPage)}, "offset": {strconv.Itoa(offset)}}, false, &answer)
	if err != nil {
		return nil, "", err
	}
	for _, i := range answer.Items {
		if len(i.Copied) > 0 {
			continue
		}
		kind := platform.KindPost
		switch {
		case len(i.Attachments) > 1:
			kind = platform.KindCarousel
		case len(i.Attachments) == 1 && i.Attachments[0].Type == "video":
			kind = platform.KindVideo
		}
		posts = append(posts, platform.PastPost{ID: strconv.FormatInt(i.ID, 10), Kind: kind, Text: i.Text,
			At: time.Unix(i.At, 0).UTC(), Metrics: platform.Metrics{Views: i.Views.Count, Likes: i.Likes.Count,
				Comments: i.Comments.Count, Shares: i.Reposts.Count}})
	}
	if offset += len(answer.Items); len(answer.Items) > 0 && offset < answer.Count {
		next = strconv.Itoa(offset)
	}
	return posts, next, nil
}

// refusal is the call that VK has refused.
type refusal struct {
	now    time.Time
	renews bool // its token can be refreshed
	posts  bool // it may have made a post
	// publishes says that it makes a post or prepares one. The refusal of another call, such as one that reads figures,
	// says nothing about the right to publish.
	publishes bool
}

// publishing are the methods that make a post or prepare one.
var publishing = []string{"wall.post", "photos.getWallUploadServer", "photos.saveWallPhoto", "video.save"}

// rule says what the error of VK with a code means. The first rule counts whose text the message has.
type rule struct {
	code    int
	pattern func() *regexp.Regexp // nil for any message
	means   func(refusal) *platform.Error
}

// The names and the texts of the errors are those of github.com/VKCOM/vk-api-schema, errors.json (version 5.199), and
// of the pages of the methods there. Other sources are named.
var rules = []rule{
	{1, nil, brokenError},                         // Unknown error occurred
	{10, nil, brokenError},                        // Internal server error
	{13, nil, brokenError},                        // Runtime error occurred during code invocation
	{36, nil, brokenError},                        // Method execution was interrupted due to timeout
	{6, nil, limitError(time.Second)},             // Too many requests per second
	{9, nil, limitError(10 * time.Minute)},        // Flood control: too many actions of the same kind
	{223, nil, limitError(10 * time.Minute)},      // Too many replies
	{29, nil, limitError(time.Hour)},              // Rate limit reached: that of the method
	{1105, nil, limitError(time.Hour)},            // Too many auth attempts, try again later
	{32, nil, limitError(time.Minute)},            // Need wait
	{43, nil, fixed(platform.Busy)},               // This section is temporary unavailable
	{22, nil, fixed(platform.Busy)},               // Upload error
	{118, nil, fixed(uploadAgain)},                // Invalid server, of photos.saveWallPhoto
	{121, nil, fixed(uploadAgain)},                // Invalid hash, likewise
	{122, nil, fixed(uploadAgain)},                // Invalid photos
	{129, nil, fixed(uploadAgain)},                // Invalid photo
	{105, nil, fixed(uploadAgain)},                // Couldn't save file
	{601, nil, untilTomorrow},                     // You have requested too many actions this day. Try later.
	{224, nil, untilTomorrow},                     // Too many ads posts, of wall.post
	{219, nil, full(time.Hour)},                   // Advertisement post was recently added, of wall.post
	{214, daily, untilTomorrow},                   // vknet/vk #597: you can only add 50 posts a day
	{214, scheduled, refusedError("")},            // a post is already scheduled for this time
	{214, unentitled, fixed(wallClosed)},          // Access to adding post denied
	{5, nil, token},                               // User authorization failed
	{1117, nil, token},                            // Access token has expired
	{1114, nil, token},                            // Anonymous token has expired
	{1116, nil, token},                            // Anonymous token is invalid
	{3609, nil, token},                            // Token extension required
	{17, nil, fixed(platform.Disconnected)},       // Validation required: VK gives a new token after it
	{25, nil, fixed(platform.Disconnected)},       // Token confirmation required
	{28, nil, fixed(platform.Disconnected)},       // Application authorization failed: not the token of a user
	{3610, nil, fixed(platform.Disconnected)},     // User is deactivated
	{3611, nil, fixed(platform.Disconnected)},     // Service is deactivated for user
	{18, nil, ofPublisher(platform.Disconnected)}, // User was deleted or banned
	{37, nil, ofPublisher(platform.Disconnected)}, // User was banned
	{27, nil, fixed(communityToken)},              // Group authorization failed; vk-api-schema #242
	{1051, nil, fixed(idToken)},                   // Method is unavailable for the token of VK ID
	{7, nil, ofPublisher(wallClosed)},             // Permission to perform this action is denied: no such right
	{15, nil, ofPublisher(wallClosed)},            // Access denied; subcode 1133: not with the scopes of the token
	{203, nil, ofPublisher(wallClosed)},           // Access to group denied
	{200, nil, deniedError},                       // Access to album denied: a post without photos may go
	{204, nil, deniedError},                       // Access to video denied: a post without videos may go
	{201, nil, deniedError},                       // Access to audio denied
	{210, nil, deniedError},                       // Access to wall's post denied
	{260, nil, deniedError},                       // Access to the groups list is denied due to privacy settings
	{14, nil, fixed(captcha)},                     // Captcha needed
	{3300, nil, fixed(captcha)},                   // Recaptcha needed
	{24, nil, fixed(confirm)},                     // Confirmation required
	{3301, nil, fixed(confirm)},                   // Phone validation needed
	{3302, nil, fixed(confirm)},                   // Password validation needed
	{3303, nil, fixed(confirm)},                   // Otp app validation needed
	{3304, nil, fixed(confirm)},                   // Email confirmation needed
	{11500, nil, fixed(confirm)},                  // CheckUserAction confirmation required
	{703, nil, fixed(confirm)},                    // You need to enable 2FA for this action
	{704, nil, fixed(confirm)},                    // User needs to enable 2FA for this action
	{2, nil, fixed(application)},                  // Application is disabled
	{20, nil, fixed(application)},                 // Denied for non-standalone applications
	{21, nil, fixed(application)},                 // Allowed only for standalone and OpenAPI applications
	{34, nil, fixed(application)},                 // Client version deprecated
	{101, nil, fixed(application)},                // Invalid application API ID
	{19, nil, fixed(blockedError)},                // Content blocked
	{30, nil, refusedError("")},                   // This profile is private
	{100, nil, refusedError("")},                  // One of the parameters specified was missing or invalid
	{113, nil, refusedError("")},                  // Invalid user id
	{114, nil, refusedError("")},                  // Invalid album id
	{119, nil, refusedError("")},                  // Invalid title
	{125, nil, refusedError("")},                  // Invalid group id
	{150, nil, refusedError("")},                  // Invalid timestamp
	{220, nil, refusedError("")},                  // Too many recipients, of wall.post
	{222, nil, noLinks},                           // Hyperlinks are forbidden, of wall.post
	{225, nil, refusedError("")},                  // Donut is disabled
	{300, nil, albumFull},                         // This album is full
	{302, nil, tooManyAlbums},                     // Albums number limit is reached
	{3102, nil, noSource},                         // Specified link is incorrect
	{104, nil, fixed(notFound)},                   // Not found
	{211, nil, fixed(platform.CommentGone)},       // Access to wall's comment denied: it does not exist
	{212, nil, fixed(uncommented)},                // Access to post comments denied
	{213, nil, fixed(uncommented)},                // Access to status replies denied
	{801, nil, fixed(uncommented)},                // Comments for this video are closed
}

// Refusals whose reason is known.
var (
	noLinks       = refusedError("VK takes no links in the text of this post.")
	albumFull     = refusedError("The album of the community is full.")
	tooManyAlbums = refusedError("The community has too many albums.")
	noSource      = refusedError("VK does not find the page of source_url.")
)

// The meanings of 214 beside "Access to adding post denied".
var (
	daily = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(a|per|this) day\b|\bdaily\b|\blimit (is |was )?(reached|exceeded)`)
	})
	scheduled = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bscheduled\b|publish[ _]date|\bpostponed\b`)
	})
	unentitled = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^access to adding post denied\W*$|\b(editor|administrator|admin|rights?|` +
			`permissions?|no access|not allowed|wall is closed)\b`)
	})
)

// classify classifies refusals by their number, and by their text where the number has several meanings.
func (p *Platform) classify(t platform.Token, method string, posts bool) wire.Classifier {
	of := refusal{now: p.Client.Now(), renews: t.Refresh != "", posts: posts,
		publishes: slices.Contains(publishing, method)}
	return func(a wire.Answer) *platform.Error {
		var body struct {
			Error *struct {
				Code int    `json:"error_code"`
				Said string `json:"error_msg"`
			} `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &body); err != nil || body.Error == nil {
			return nil
		}
		for _, r := range rules {
			said := strings.TrimSpace(body.Error.Said)
			if r.code == body.Error.Code && (r.pattern == nil || r.pattern().MatchString(said)) {
				return r.means(of)
			}
		}
		if !a.OK() {
			return nil // the status tells it
		}
		return platform.Odd()
	}
}

func fixed(e func() *platform.Error) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return e() }
}

// brokenError is the meaning of a failure inside VK, which may have made the post.
func brokenError(of refusal) *platform.Error {
	if of.posts {
		return platform.Lost(nil)
	}
	return platform.Busy()
}

func limitError(after time.Duration) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return platform.Limited(after) }
}

func full(after time.Duration) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return platform.Full(after) }
}

// moscow is the distance of the clock of Moscow, whose midnight begins the day of VK.
const moscow = 3 * time.Hour

// untilTomorrow is the meaning of a quota of the day.
func untilTomorrow(of refusal) *platform.Error {
	local := of.now.UTC().Add(moscow)
	return platform.Full(local.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(local))
}

// token is the meaning of a token that has ended. The token of a community is not refreshed.
func token(of refusal) *platform.Error {
	if of.renews {
		return platform.TokenExpired()
	}
	return platform.Disconnected()
}

// ofPublisher is the meaning of a right that ends the account if the call publishes. Another call is refused alone.
func ofPublisher(e func() *platform.Error) func(refusal) *platform.Error {
	return func(of refusal) *platform.Error {
		if of.publishes {
			return e()
		}
		return deniedError(of)
	}
}

func deniedError(refusal) *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "VK does not let the account do this in the community.")
}

func refusedError(message string) func(refusal) *platform.Error {
	message = cmp.Or(message, "VK refuses the post.")
	return func(refusal) *platform.Error { return platform.Reject(platform.CodeContentRefused, message) }
}

// uploadAgain is the error of an upload that VK does not know any more.
func uploadAgain() *platform.Error { return platform.Again(nil) }

func wallClosed() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission,
		"The account may not post on the wall of the community.")
}

func communityToken() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission, "The token of a community may post text only: "+
		"connect the community with the account of an editor.")
}

func idToken() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission, "VK has not given the application the right to "+
		"post on walls.")
}

func captcha() *platform.Error {
	return platform.Reject(platform.CodeCaptchaRequired, "VK wants the account to solve a captcha: post by hand once, "+
		"then publish again.")
}

func confirm() *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "VK wants the owner of the account to confirm something: "+
		"open VK, then publish again.")
}

func application() *platform.Error {
	return platform.Later(platform.CodeNotConfigured, "VK refuses the service's application.")
}

func blockedError() *platform.Error {
	return platform.Reject(platform.CodeContentPolicy, "VK has blocked the content.")
}

func notFound() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "VK does not have the post.")
}

func uncommented() *platform.Error { return platform.Unsupported("comments below this post") }

// uploadError returns the error that an upload server has answered. Its names of files that it does not take begin
// with ERR_UPLOAD, such as ERR_UPLOAD_BAD_IMAGE_SIZE. After another one, the file is uploaded again.
func uploadError(said string) *platform.Error {
	if strings.Contains(strings.ToUpper(said), "ERR_UPLOAD") || strings.Contains(strings.ToLower(said), "invalid") {
		return platform.Reject(platform.CodeMediaRefused, "VK refuses the file.").Saying(said)
	}
	return platform.Again(nil).Saying(said)
}
