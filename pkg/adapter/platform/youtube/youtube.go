// Package youtube publishes videos on YouTube.
//
// A video is uploaded to a session, whose address is the handle. YouTube makes the video after the last byte has
// arrived, and one session makes one video. So an upload always continues at the last received byte, even after a
// failure. Start with Platform in youtube.go; upload.go sends the file.
package youtube

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

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
	Habits: platform.Habits{FirstLine: 120, MinCaption: 150, MaxCaption: 1200, Hashtags: 3, Links: true,
		Hours: []int{17, 12, 20, 15}, WeekendHours: []int{11, 16, 19, 13},
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
			"If YouTube refuses them, the publication has a warning.",
		"The cover of a Short is set once YouTube has processed it. A cover that YouTube refuses does not fail the " +
			"publication: it is a warning.",
	},
}

// Platform is YouTube.
type Platform struct {
	wire.Connector
	platform.Chain[state]
	Part int64 // the length of a part but for the last
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{Client: c, Root: c.Base(api)}, OAuth: wire.OAuth{
		Authorize: c.Base(accounts) + "/o/oauth2/v2/auth", Token: c.Base(tokens) + "/token",
		Scopes: capabilities.Scopes, Optional: []string{reportScope},
		// Google issues no new refresh token to a returning user without the consent.
		Extra: url.Values{"access_type": {"offline"}, "prompt": {"consent"}},
	}}, Part: defaultPart}
	p.Classify = func(bool) wire.Classifier { return p.classifyCall }
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
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (platform.Metrics,
	error) {
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

// These options are members of the shape of YouTube alone.
const (
	optionKids     platform.Option = "made_for_kids"
	optionPlaylist platform.Option = "playlist_id"
	optionTags     platform.Option = "tags"
)

// Options are the options of posts on YouTube, as callers send them.
type Options struct {
	platform.Visible
	platform.AIOption
	// Declares that the content is made for children.
	MadeForKids bool `json:"made_for_kids,omitempty"`
	platform.SponsorOption
	platform.Quiet
	platform.CategoryOption
	// Playlist of the channel to which the video is added. `GET /v1/publishing/lookups` with `kind=playlist` lists
	// them.
	Playlist string `json:"playlist_id,omitempty" pattern:"^[A-Za-z0-9_-]{2,64}$" patternDescription:"a playlist id"`
	// Tags of the video, with up to 500 characters in all. Absent: the hashtags.
	Tags []string `json:"tags,omitempty" maxItems:"60" minLength:"1" maxLength:"100" nullable:"false"`
	// Adds the captions of the item as a track that viewers can turn on. An item without captions has none.
	Captions bool `json:"captions,omitempty"`
}

func optionsOf(p platform.Post) Options {
	own, _ := p.Options.Own.(Options)
	return own
}

// mostTags is the length of all tags of a video, with the commas between them and quotes around those with a space.
const mostTags = 500

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	length := 0
	for i, tag := range optionsOf(p).Tags {
		length += platform.Runes.Length(tag) + min(i, 1)
		if strings.Contains(tag, " ") {
			length += 2
		}
		if strings.ContainsAny(tag, "<>,\"") {
			found = append(found, platform.Wrong(Name, optionTags, "may not have the characters < > , and \"; %q does.",
				tag))
		}
	}
	if length > mostTags {
		found = append(found, platform.Wrong(Name, optionTags, "may have %d characters in all, with the commas "+
			"between them; there are %d.", mostTags, length))
	}
	return found
}

// mostDays bounds the days of a report.
const mostDays = 89

// Days implements platform.AccountReader. The number of subscribers is unknown if the owner hides it. Without a report,
// only the present day has figures.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	var answer struct {
		Items []struct {
			Statistics struct {
				Subscribers string `json:"subscriberCount"`
				Hidden      bool   `json:"hiddenSubscriberCount"`
				Videos      string `json:"videoCount"`
			} `json:"statistics"`
		} `json:"items"`
	}
	err := p.Get(ctx, a.Token.Access, "/youtube/v3/channels", url.Values{"part": {"statistics"}, "id": {a.ID}},
		&answer)
	if err != nil {
		return nil, err
	}
	if len(answer.Items) != 1 {
		return nil, platform.Reject(platform.CodePostNotFound, "YouTube does not have the channel.")
	}
	s := answer.Items[0].Statistics
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	rows, err := p.report(ctx, a, days[0].Date, url.Values{"dimensions": {"day"}, "sort": {"day"},
		"metrics": {"views,estimatedMinutesWatched,subscribersGained,subscribersLost"}})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if len(row) == 0 {
			continue
		}
		date, _ := row[0].(string)
		at, err := time.Parse(time.DateOnly, date)
		if day := days.At(at); err == nil && day != nil {
			day.Views, day.WatchTime = value(row, 1, 1), value(row, 2, 60)
			day.Gained, day.Lost = value(row, 3, 1), value(row, 4, 1)
		}
	}
	days.Last().Posts = number(s.Videos)
	if !s.Hidden {
		days.Last().Followers = number(s.Subscribers)
	}
	return days, nil
}

// reports is the address of the reports about channels.
const reports = "https://youtubeanalytics.googleapis.com"

// reportScope is the right to read reports. The owner of a channel may refuse it.
const reportScope = "https://www.googleapis.com/auth/yt-analytics.readonly"

// reportDays is how many days before the present one a report counts: those in which posts are read.
const reportDays = 91

// report reads a report about the channel since a day. It has no rows if the owner of the account has not granted the
// right, or YouTube has no report yet.
func (p *Platform) report(ctx context.Context, a platform.Account, from time.Time, query url.Values) ([][]any, error) {
	if !slices.Contains(a.Token.Scopes, reportScope) {
		return nil, nil
	}
	query.Set("ids", "channel==MINE")
	query.Set("startDate", from.UTC().Format(time.DateOnly))
	query.Set("endDate", p.Client.Now().UTC().Format(time.DateOnly))
	var answer struct {
		Rows [][]any `json:"rows"`
	}
	call := wire.Call{Name: "reports", Method: http.MethodGet, URL: p.Client.Base(reports) + "/v2/reports",
		Query: query, Bearer: a.Token.Access}
	err := p.Client.JSON(ctx, call, p.classifyCall, &answer)
	if platform.Untold(err) {
		return nil, nil
	}
	return answer.Rows, err
}

// value returns a number of a row, in the given unit. It returns nil if the row has none there.
func value(row []any, i int, unit float64) *int64 {
	if i >= len(row) {
		return nil
	}
	n, ok := row[i].(float64)
	if !ok {
		return nil
	}
	return platform.Count(int64(n * unit))
}

// watched returns the seconds for which a video was watched, or nil without a report.
func (p *Platform) watched(ctx context.Context, a platform.Account, video string) (*int64, error) {
	rows, err := p.report(ctx, a, p.Client.Now().AddDate(0, 0, -reportDays),
		url.Values{"metrics": {"estimatedMinutesWatched"}, "filters": {"video==" + video}})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return value(rows[0], 0, 60), nil
}

// pastPage is the number of videos on a page of earlier posts.
const pastPage = 50

// PastPosts implements platform.PastReader. The list is the playlist of all uploads of the channel; the watch time is
// known of videos of the service alone. The cursor is the playlist and the token of the page.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	uploads, token, _ := strings.Cut(cursor, " ")
	if uploads == "" {
		if uploads, err = p.uploads(ctx, a); err != nil || uploads == "" {
			return nil, "", err
		}
	}
	query := url.Values{"part": {"contentDetails"}, "playlistId": {uploads}, "maxResults": {strconv.Itoa(pastPage)}}
	if token != "" {
		query.Set("pageToken", token)
	}
	var list struct {
		Next  string `json:"nextPageToken"`
		Items []struct {
			Details struct {
				ID string `json:"videoId"`
			} `json:"contentDetails"`
		} `json:"items"`
	}
	if err := p.Get(ctx, a.Token.Access, "/youtube/v3/playlistItems", query, &list); err != nil {
		return nil, "", err
	}
	var ids []string
	for _, i := range list.Items {
		ids = append(ids, i.Details.ID)
	}
	if posts, err = p.videos(ctx, a, ids); err != nil {
		return nil, "", err
	}
	if list.Next != "" {
		next = uploads + " " + list.Next
	}
	return posts, next, nil
}

// uploads returns the playlist of all uploads of a channel, or none if the channel has no video.
func (p *Platform) uploads(ctx context.Context, a platform.Account) (string, error) {
	var answer struct {
		Items []struct {
			Details struct {
				Related struct {
					Uploads string `json:"uploads"`
				} `json:"relatedPlaylists"`
			} `json:"contentDetails"`
		} `json:"items"`
	}
	err := p.Get(ctx, a.Token.Access, "/youtube/v3/channels", url.Values{"part": {"contentDetails"}, "id": {a.ID}},
		&answer)
	if err != nil || len(answer.Items) == 0 {
		return "", err
	}
	return answer.Items[0].Details.Related.Uploads, nil
}

// videos reads videos by their ids, with their figures.
func (p *Platform) videos(ctx context.Context, a platform.Account, ids []string) (posts []platform.PastPost,
	err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var answer struct {
		Items []struct {
			ID      string `json:"id"`
			Snippet struct {
				Title string    `json:"title"`
				At    time.Time `json:"publishedAt"`
			} `json:"snippet"`
			Statistics struct {
				Views    string `json:"viewCount"`
				Likes    string `json:"likeCount"`
				Comments string `json:"commentCount"`
			} `json:"statistics"`
		} `json:"items"`
	}
	err = p.Get(ctx, a.Token.Access, "/youtube/v3/videos", url.Values{"part": {"snippet,statistics"},
		"id": {strings.Join(ids, ",")}}, &answer)
	for _, v := range answer.Items {
		posts = append(posts, platform.PastPost{ID: v.ID, Kind: platform.KindVideo, Text: v.Snippet.Title,
			At: v.Snippet.At.UTC(), Metrics: platform.Metrics{Views: number(v.Statistics.Views),
				Likes: number(v.Statistics.Likes), Comments: number(v.Statistics.Comments)}})
	}
	return posts, err
}

// reasonOf returns the reason of a refusal, or an empty text. Newer answers have it in their details as well, in
// capitals.
func reasonOf(a wire.Answer) string {
	type reasons []struct {
		Reason string `json:"reason"`
	}
	var body struct {
		Error struct {
			Errors  reasons `json:"errors"`
			Details reasons `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return ""
	}
	for _, r := range append(body.Error.Errors, body.Error.Details...) {
		if r.Reason != "" {
			return r.Reason
		}
	}
	return ""
}

// refusal is the call that YouTube has refused.
type refusal struct {
	now time.Time
	// publishes says that the call uploads a video. The refusal of another call, such as one that reads figures, says
	// nothing about the right to publish.
	publishes bool
}

// The reasons are those of developers.google.com/youtube/v3/docs/errors and of the pages of the methods, and of
// developers.google.com/webmaster-tools/v1/errors (the global errors of Google's APIs). Others are named.
var reasons = map[string]func(refusal) *platform.Error{
	// "If you get a 400 error with the reason uploadLimitExceeded, try again in 24 hours" (YouTube Data API, revision
	// history; gitlab.gnome.org/GNOME/shotwell #5019).
	"uploadLimitExceeded": func(refusal) *platform.Error { return platform.Full(24 * time.Hour) },
	// The quota of the operator's project starts again at midnight, Pacific time (Quota and Compliance Audits).
	"quotaExceeded": untilMidnight, "dailyLimitExceeded": untilMidnight, "dailyLimitExceededUnreg": untilMidnight,
	// Global errors: too many calls at once.
	"rateLimitExceeded": limitError, "userRateLimitExceeded": limitError, "RATE_LIMIT_EXCEEDED": limitError,
	"concurrentLimitExceeded": limitError, "servingLimitExceeded": limitError, "limitExceeded": limitError,
	// Global errors: failures inside Google, whatever the status.
	"backendError": busy, "internalError": busy, "notReady": busy, "backendNotConnected": busy,
	// General errors, forbidden: the account or the channel of the token. tokland/youtube-upload #288: no channel.
	"youtubeSignupRequired": ofPublisher(platform.Disconnected), "accountClosed": ofPublisher(platform.Disconnected),
	"accountSuspended": ofPublisher(platform.Disconnected), "channelClosed": ofPublisher(platform.Disconnected),
	"channelSuspended":                  ofPublisher(platform.Disconnected),
	"authenticatedUserAccountClosed":    ofPublisher(platform.Disconnected),
	"authenticatedUserAccountSuspended": ofPublisher(platform.Disconnected),
	"authenticatedUserNotChannel":       ofPublisher(platform.Disconnected),
	"accountDelegationForbidden":        ofPublisher(platform.Disconnected),
	// Global errors: the right was not granted.
	"insufficientPermissions":         ofPublisher(unentitled),
	"ACCESS_TOKEN_SCOPE_INSUFFICIENT": ofPublisher(unentitled),
	// Global errors: the operator's project is wrong, and the accounts stay valid.
	"accessNotConfigured": application, "SERVICE_DISABLED": application, "keyInvalid": application,
	"keyExpired": application, "ipRefererBlocked": application, "projectNotLinked": application,
	// videos, playlists and playlistItems.
	"videoNotFound":                         missing,
	"playlistNotFound":                      refusedError("YouTube does not have the playlist."),
	"playlistContainsMaximumNumberOfVideos": refusedError("The playlist is full."),
	"playlistItemsNotAccessible":            deniedError, "playlistForbidden": deniedError,
	"invalidTitle": wrongText, "invalidDescription": wrongText, "invalidTags": wrongText,
	"invalidVideoMetadata": wrongText, "invalidFilename": wrongText, "invalidPublishAt": wrongText,
	"defaultLanguageNotSet": wrongText,
	// videos.insert and videos.update: the account may not set these values.
	"forbiddenPrivacySetting": option, "forbiddenLicenseSetting": option, "forbiddenEmbedSetting": option,
	"forbiddenDefaultBroadcastPrivacySetting": option, "invalidCategoryId": option,
	"invalidDefaultBroadcastPrivacySetting": option,
	"uploadTooLarge":                        refusedError("The video is too large for YouTube."),
}

// classifyCall classifies the refusals of all calls but those of a session.
func (p *Platform) classifyCall(a wire.Answer) *platform.Error {
	return p.classify(a, refusal{now: p.Client.Now()})
}

// ClassifyUpload classifies the refusals of the calls that upload a video. A forbidden upload (reason forbidden) proves
// nothing about the account: it was a limit in tokland/youtube-upload #166, and the channel in postiz #1913.
func (p *Platform) ClassifyUpload(a wire.Answer) *platform.Error {
	return p.classify(a, refusal{now: p.Client.Now(), publishes: true})
}

// ClassifySession classifies the refusals of a session. One that is gone is told without a reason
// (developers.google.com/youtube/v3/guides/using_resumable_upload_protocol, Errors).
func (p *Platform) ClassifySession(a wire.Answer) *platform.Error {
	e := p.ClassifyUpload(a)
	gone := a.Status == http.StatusNotFound || a.Status == http.StatusGone
	if gone && (e == nil || reasonOf(a) == "" || e.Kind == platform.Unclear) {
		return platform.Again(nil)
	}
	return e
}

func (p *Platform) classify(a wire.Answer, of refusal) *platform.Error {
	if a.OK() || a.Status == http.StatusPermanentRedirect {
		return nil
	}
	reason := reasonOf(a)
	if means, ok := reasons[reason]; ok && a.Status < 500 {
		return means(of)
	}
	switch {
	case a.Status >= 500, a.Status == http.StatusTooManyRequests, a.Status == http.StatusUnauthorized,
		a.Status == http.StatusRequestTimeout:
		return nil // the status tells it
	case strings.HasPrefix(reason, "invalid"), strings.HasPrefix(reason, "media"):
		return platform.Reject(platform.CodeContentRefused, "YouTube refuses the video.")
	}
	return platform.Odd()
}

func limitError(refusal) *platform.Error { return platform.Limited(0) }
func busy(refusal) *platform.Error       { return platform.Busy() }

// untilMidnight is the meaning of a quota that starts again at midnight, Pacific time.
func untilMidnight(of refusal) *platform.Error {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		zone = time.FixedZone("PST", -8*60*60)
	}
	y, m, d := of.now.In(zone).Date()
	return platform.Full(time.Date(y, m, d+1, 0, 0, 0, 0, zone).Sub(of.now))
}

// ofPublisher is the meaning of a refusal that ends the account if the call uploads a video.
func ofPublisher(e func() *platform.Error) func(refusal) *platform.Error {
	return func(of refusal) *platform.Error {
		if of.publishes {
			return e()
		}
		return deniedError(of)
	}
}

func unentitled() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that the "+
		"page of Google asks for.")
}

func deniedError(refusal) *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "YouTube does not let the account do this. Connect the "+
		"account again and allow all that the page of Google asks for.")
}

func application(refusal) *platform.Error {
	return platform.Later(platform.CodeNotConfigured, "Google refuses the service's application.")
}

func missing(refusal) *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "YouTube does not have the video.")
}

func wrongText(refusal) *platform.Error {
	return platform.Reject(platform.CodeContentRefused, "YouTube refuses the title, the description or the tags.")
}

func option(refusal) *platform.Error {
	return platform.Reject(platform.CodeInvalidOption, "YouTube does not let the account choose this value of an "+
		"option.")
}

func refusedError(message string) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return platform.Reject(platform.CodeContentRefused, message) }
}
