// Package x publishes on X.
//
// Files are uploaded in parts and stay invisible. One call makes a post. X charges for most calls, so that the adapter
// reads as little as possible, and a budget bounds the cost of a day. Start with Platform in x.go; publish.go makes
// posts.
package x

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/base/format"
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

	// form is the form of docs.x.com/x-api/media/quickstart/best-practices.
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
	hashtags = platform.Hashtags{Max: 30, InCaption: true}
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
	Habits: platform.Habits{MinCaption: 60, MaxCaption: 170, Hashtags: 1, Links: true,
		Hours: []int{9, 12, 17, 20}, WeekendHours: []int{10, 13, 19},
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
		Scopes: capabilities.Scopes, Basic: true, Classify: classifyToken,
	}}}
	p.Classify = p.classes
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
	return p.Client.JSON(ctx, call, p.classify(reads), out)
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
	return platform.Revoked(p.Client.JSON(ctx, call, classifyToken, nil))
}

// number reports whether an id is a number. An id becomes part of a path.
func number(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil
}

var _ = format.Define("x-post", format.Format{Pattern: "^[0-9]{1,19}$",
	Wanted: "the id of a post: the digits at the end of its address"})

// Options are the options of posts on X, as callers send them.
type Options struct {
	platform.AltTextOption
	platform.FirstCommentOption
	platform.ThreadOption
	platform.AIOption
	platform.SponsorOption
	platform.PollOption
	// Who may reply. Absent: everyone.
	Replies string `json:"replies,omitempty" enum:"following,mentioned,subscribers,verified"`
	// Id of the post of X that the post quotes, in place of media.
	Quote string `json:"quote_post_id,omitempty" format:"x-post"`
}

const (
	// longestVote is how long a poll of X is open, in hours, and longestChoice the length of an answer.
	longestVote, longestChoice = 168, 25
)

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own, _ := p.Options.Own.(Options)
	wrong := func(option platform.Option, format string, args ...any) {
		found = append(found, platform.Wrong(Name, option, format, args...))
	}
	if own.Quote != "" && (len(p.Media) > 0 || own.Poll != nil) {
		wrong(OptionQuote, "is taken without media and without a poll.")
	}
	if own.Poll == nil {
		return found
	}
	if len(p.Media) > 0 {
		wrong(platform.OptionPoll, "is taken without media.")
	}
	if own.Poll.Question != "" {
		wrong(platform.OptionPoll+".question", "is the text of the post on X: leave it out, and put it into the "+
			"caption.")
	}
	if own.Poll.DurationHours > longestVote {
		wrong(platform.OptionPoll+".duration_hours", "is up to %d on X.", longestVote)
	}
	for _, choice := range own.Poll.Choices {
		if n := utf8.RuneCountInString(choice); n > longestChoice {
			wrong(platform.OptionPoll+".choices", "may have %d characters each on X; %q has %d.", longestChoice,
				choice, n)
		}
	}
	return found
}

// settings maps the option replies to the values of X.
var settings = map[string]string{"following": "following", "mentioned": "mentionedUsers", "subscribers": "subscribers",
	"verified": "verified"}

// describe adds the options of a post to its first post.
func (o Options) describe(body map[string]any) {
	if o.Replies != "" {
		body["reply_settings"] = settings[o.Replies]
	}
	if o.Quote != "" {
		body["quote_tweet_id"] = o.Quote
	}
	if o.Poll != nil {
		body["poll"] = map[string]any{"options": o.Poll.Choices, "duration_minutes": o.Poll.DurationHours * 60}
	}
}

// The ids of X have the milliseconds since idEpoch above their lowest 22 bits.
const (
	idEpoch = 1_288_834_974_657
	idBits  = 22
)

// clicksFor is the age of a post up to which X tells the clicks. It is less than the 30 days of X, because X refuses
// the whole post after them.
const clicksFor = 29 * 24 * time.Hour

// Metrics implements platform.Publisher. A reading is one call, with or without the clicks.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (m platform.Metrics,
	err error) {
	id, err := strconv.ParseUint(post.ID, 10, 63)
	if err != nil {
		return m, platform.Reject(platform.CodePostNotFound, "X does not have the post.")
	}
	fields := "public_metrics"
	if p.Client.Now().Sub(time.UnixMilli(int64(id>>idBits)+idEpoch)) < clicksFor {
		fields += ",non_public_metrics"
	}
	var answer struct {
		Data *struct {
			Counts counts `json:"public_metrics"`
			Own    struct {
				Clicks *int64 `json:"url_link_clicks"`
			} `json:"non_public_metrics"`
		} `json:"data"`
	}
	if err := p.Get(ctx, a.Token.Access, "/2/tweets/"+post.ID, url.Values{"tweet.fields": {fields}},
		&answer); err != nil {
		return m, err
	}
	if answer.Data == nil {
		return m, platform.Reject(platform.CodePostNotFound, "X does not have the post.")
	}
	m = answer.Data.Counts.metrics()
	m.Clicks = answer.Data.Own.Clicks
	return m, nil
}

// counts are the public counts of a post.
type counts struct {
	Views     int64 `json:"impression_count"`
	Likes     int64 `json:"like_count"`
	Replies   int64 `json:"reply_count"`
	Reposts   int64 `json:"retweet_count"`
	Quotes    int64 `json:"quote_count"`
	Bookmarks int64 `json:"bookmark_count"`
}

func (n counts) metrics() platform.Metrics {
	return platform.Metrics{Impressions: platform.Count(n.Views), Views: platform.Count(n.Views),
		Likes: platform.Count(n.Likes), Comments: platform.Count(n.Replies),
		Shares: platform.Count(n.Reposts + n.Quotes), Saves: platform.Count(n.Bookmarks)}
}

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var me struct {
		Data *struct {
			Counts struct {
				Followers *int64 `json:"followers_count"`
				Posts     *int64 `json:"tweet_count"`
			} `json:"public_metrics"`
		} `json:"data"`
	}
	err := p.Get(ctx, a.Token.Access, "/2/users/me", url.Values{"user.fields": {"public_metrics"}}, &me)
	if err != nil {
		return nil, err
	}
	day := platform.Day{Date: platform.Midnight(p.Client.Now())}
	if me.Data != nil {
		day.Followers, day.Posts = me.Data.Counts.Followers, me.Data.Counts.Posts
	}
	return []platform.Day{day}, nil
}

// pastPage is the number of posts on a page of earlier posts. X asks money for each, so that pages are small.
const pastPage = 20

// PastPosts implements platform.PastReader. Answers and posts that the account has only passed on are left out.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"max_results": {strconv.Itoa(pastPage)}, "exclude": {"replies,retweets"},
		"expansions": {"attachments.media_keys"}, "media.fields": {"type"},
		"tweet.fields": {"created_at,public_metrics,attachments"}}
	if cursor != "" {
		query.Set("pagination_token", cursor)
	}
	var answer struct {
		Data []struct {
			ID          string    `json:"id"`
			Text        string    `json:"text"`
			At          time.Time `json:"created_at"`
			Attachments struct {
				Media []string `json:"media_keys"`
			} `json:"attachments"`
			Counts counts `json:"public_metrics"`
		} `json:"data"`
		Includes struct {
			Media []struct {
				Key  string `json:"media_key"`
				Type string `json:"type"`
			} `json:"media"`
		} `json:"includes"`
		Meta struct {
			Next string `json:"next_token"`
		} `json:"meta"`
	}
	if err := p.Get(ctx, a.Token.Access, "/2/users/"+a.ID+"/tweets", query, &answer); err != nil {
		return nil, "", err
	}
	videos := map[string]bool{}
	for _, m := range answer.Includes.Media {
		videos[m.Key] = m.Type == "video"
	}
	for _, t := range answer.Data {
		kind := platform.KindPost
		switch keys := t.Attachments.Media; {
		case len(keys) > 1:
			kind = platform.KindCarousel
		case len(keys) == 1 && videos[keys[0]]:
			kind = platform.KindVideo
		}
		posts = append(posts, platform.PastPost{ID: t.ID, Kind: kind, Text: t.Text, At: t.At.UTC(),
			Metrics: t.Counts.metrics()})
	}
	return posts, answer.Meta.Next, nil
}

// use is what a call is for.
type use int

const (
	reads    use = iota // of figures, posts and comments: a refusal says nothing about the right to publish
	prepares            // uploads, which post nothing
	makes               // a post
)

// meaning is what a refusal of X means.
type meaning int

const (
	content   meaning = iota + 1 // X refuses the text, or another part of the post
	malformed                    // X refuses a request, and does not say why
	policy                       // X refuses the post by its rules
	file                         // X refuses the media
	reply                        // X does not permit the reply or the quotation
	duplicate                    // the account has posted an equal text lately
	gone                         // X does not have what was uploaded, or the post that the call names
	pause                        // X takes no posts of the account for a while
	service                      // X refuses the application of the service
	right                        // the token lacks the right to publish
	account                      // X has suspended or locked the account
)

// refusal is an answer of X. X tells most of its reasons in the detail alone: the type of those is about:blank.
type refusal struct {
	status int
	kind   string // end of the type, or empty
	detail string // part of the title, the detail or a message, in lower case, or empty
	meaning
}

// refusals are the answers of X, the first that fits. The pages are those of docs.x.com; a number is that of a public
// report. Only account and right end a connection. A 403 that is not here has an unknown reason.
var refusals = []refusal{
	// The account. "The user used for authentication is suspended" has the type user-suspended (reports of clients);
	// 64 and 326 are the codes of the same answers in version 1.1 of the API.
	{http.StatusForbidden, "user-suspended", "", account},
	{http.StatusForbidden, "", "used for authentication is suspended", account},
	{http.StatusForbidden, "", "your account is suspended", account},
	{http.StatusForbidden, "", "account is temporarily locked", account},
	// The token. client-forbidden: "App not enrolled or lacks required access"
	// (fundamentals/response-codes-and-errors); X asks for "keys and tokens" of another application (TwitterAPI #226,
	// tweepy #2098), so that no token of this one posts. oauth1-permissions: the token may read only.
	// unsupported-authentication: the API's OpenAPI document.
	{http.StatusForbidden, "client-forbidden", "", right},
	{http.StatusForbidden, "oauth1-permissions", "", right},
	{http.StatusForbidden, "unsupported-authentication", "", right},
	{http.StatusForbidden, "app-suspended", "", service}, // reports of clients
	// The post. Details that postiz (x.provider.ts) and other publishers have met, all with the type about:blank.
	{http.StatusForbidden, "", "duplicate", duplicate},                             // iembot #163, x-ruby #24
	{http.StatusForbidden, "", "cashtag", content},                                 // posts/manage-tweets/integrate
	{http.StatusForbidden, "", "video longer than", file},                          // postiz
	{http.StatusForbidden, "", "not permitted to perform this action", content},    // postiz, contentport #49
	{http.StatusForbidden, "", "not permitted to access this feature", content},    // postiz
	{http.StatusForbidden, "", "invalid url", content},                             // postiz
	{http.StatusForbidden, "", "maximum of 4 items", content},                      // postiz
	{http.StatusForbidden, "", "too long", content},                                // 186 of version 1.1
	{http.StatusForbidden, "", "malware", policy},                                  // reports of clients
	{http.StatusForbidden, "", "reply to this conversation is not allowed", reply}, // reports of clients
	{http.StatusForbidden, "", "not allowed to reply", reply},
	{http.StatusForbidden, "", "only reply to or quote", reply},
	{http.StatusForbidden, "", "quoting", reply},
	{http.StatusForbidden, "", "deleted or not visible", reply},
	{http.StatusForbidden, "not-authorized-for-resource", "", reply}, // of a private post: response-codes-and-errors
	// The rate. 226 and 185 of version 1.1: "Please try again later", "User is over daily status update limit".
	{http.StatusForbidden, "", "might be automated", pause},
	{http.StatusForbidden, "", "over daily status update limit", pause},
	{http.StatusForbidden, "", "daily limit", pause},
	// "Malformed request or invalid parameters" (response-codes-and-errors). Uploads live for 24 hours; X answers so to
	// an upload that it no longer has.
	{http.StatusBadRequest, "", "media ids are invalid", gone},
	{http.StatusBadRequest, "invalid-request", "", content},
	{http.StatusBadRequest, "", "", malformed},
	{http.StatusRequestEntityTooLarge, "", "", file},
	{http.StatusNotFound, "resource-not-found", "", gone},
	{http.StatusNotFound, "", "not found", gone}, // the title is "Not Found Error" or "Not Found"
}

// problem is the body of a refusal.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Period string `json:"period"` // of a cap: Daily or Monthly
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// kind returns the end of the type.
func (b problem) kind() string { return b.Type[strings.LastIndexByte(b.Type, '/')+1:] }

// words returns X's explanation: the first message where the detail only says that there is one.
func (b problem) words() string {
	if len(b.Errors) > 0 && b.Errors[0].Message != "" {
		return b.Errors[0].Message
	}
	return b.Detail
}

// problemOf reads a refusal, and returns what it means, or 0.
func problemOf(a wire.Answer) (b problem, m meaning) {
	if json.Unmarshal(a.Body, &b) != nil {
		return problem{}, 0
	}
	text := b.Title + "\n" + b.Detail
	for _, e := range b.Errors {
		text += "\n" + e.Message
	}
	text = strings.ToLower(text)
	for _, r := range refusals {
		if r.status == a.Status && (r.kind == "" || r.kind == b.kind()) && strings.Contains(text, r.detail) {
			return b, r.meaning
		}
	}
	return b, 0
}

// classes makes the classification that wire asks for. Calls with a body of their own prepare or make a post.
func (p *Platform) classes(posts bool) wire.Classifier {
	if posts {
		return p.classify(makes)
	}
	return p.classify(prepares)
}

// classify classifies the refusals of X of calls with a use.
func (p *Platform) classify(u use) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		if a.OK() || a.Status >= http.StatusInternalServerError || a.Status == http.StatusUnauthorized {
			return nil
		}
		b, m := problemOf(a)
		switch {
		case a.Status == http.StatusPaymentRequired, b.kind() == "credits":
			return platform.Full(time.Hour)
		case a.Status == http.StatusTooManyRequests, b.kind() == "usage-capped":
			return p.limitError(a, b)
		}
		if e := errorOf(m, u, a.Status); e != nil {
			return e.Saying(b.words())
		}
		return nil
	}
}

// errorOf returns the error of a refusal, or nil if its reason is not known.
func errorOf(m meaning, u use, status int) *platform.Error {
	switch {
	case m == account:
		return platform.NeedsReconnect(platform.CodeNeedsReconnect, "X has suspended or locked the account. Log in to "+
			"X, follow what X asks for, then connect the account again.")
	case m == service:
		return platform.Later(platform.CodeNotConfigured, "X has suspended the service's application.")
	case u == reads && m == gone:
		return platform.Reject(platform.CodePostNotFound, "X does not have the post.")
	case u == reads && status == http.StatusForbidden:
		return platform.Reject(platform.CodeMissingPermission, "X does not let the application read this.")
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "X does not let the application post. Connect "+
			"the account again and allow all that the page of X asks for.")
	case m == pause:
		return platform.Limited(time.Hour)
	case m == policy:
		return platform.Reject(platform.CodeContentPolicy, "X does not permit the post.")
	case m == gone && (u == prepares || status == http.StatusBadRequest):
		return platform.Again(nil) // nothing was posted
	case u == prepares && m == malformed:
		return platform.Perhaps(platform.CodeMediaRefused, "X refuses the file.")
	case m == file, u == prepares && m == content:
		return platform.Reject(platform.CodeMediaRefused, "X refuses the file.")
	case m == reply:
		return platform.Reject(platform.CodeContentRefused, "X does not let the account answer or quote the post.")
	case m == gone:
		return platform.Reject(platform.CodeContentRefused, "X does not have the post that is answered or quoted.")
	case m == duplicate:
		// The equal text may be that of another worker. If it is not found, the refusal is final.
		return platform.Perhaps(platform.CodeContentRefused, "X refuses the text: the account has posted an equal one "+
			"lately.")
	case m == content, m == malformed:
		return platform.Reject(platform.CodeContentRefused, "X refuses the post.")
	}
	return nil
}

// limitError returns the error of a limit of X, with the time at which X says that it ends.
func (p *Platform) limitError(a wire.Answer, b problem) *platform.Error {
	now := p.Client.Now()
	until := func(name string) (time.Duration, bool) {
		after, ok := p.Client.Wait(a, name)
		return max(after, time.Second), ok
	}
	// The limits of a day, of the account and of the application, have headers of their own.
	for _, whose := range []string{"User", "App"} {
		after, ok := until("X-" + whose + "-Limit-24hour-Reset")
		if ok && a.Header.Get("X-"+whose+"-Limit-24hour-Remaining") == "0" {
			return platform.Full(after)
		}
	}
	if b.kind() == "usage-capped" {
		if b.Period == "Daily" {
			return platform.Full(platform.Midnight(now).AddDate(0, 0, 1).Sub(now))
		}
		return platform.Full(24 * time.Hour) // of a month, unless the operator raises the cap
	}
	if after, ok := until("X-Rate-Limit-Reset"); ok {
		return platform.Limited(after)
	}
	if a.Header.Get("Retry-After") != "" {
		return platform.Limited(0)
	}
	return platform.Limited(15 * time.Minute)
}

// classifyToken classifies refusals of the token endpoint. X answers invalid_request to a code or a refresh token that
// is not valid: "Value passed for the token was invalid." (node-twitter-api-v2 #496 for codes).
func classifyToken(a wire.Answer) *platform.Error {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	grant := (a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized) &&
		json.Unmarshal(a.Body, &body) == nil && body.Error == "invalid_request" &&
		strings.HasPrefix(body.Description, "Value passed for the ") && strings.Contains(body.Description, "invalid")
	if grant {
		return platform.Disconnected()
	}
	return wire.ClassifyOAuth(a)
}
