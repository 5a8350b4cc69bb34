// Package instagram publishes on Instagram's professional accounts.
//
// It publishes by containers, as graph.Containers has them. Start with Platform in instagram.go.
package instagram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/base/format"
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
	Hashtags: platform.Hashtags{Max: 5, InCaption: true, Strict: true},
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
	Lookups:    []platform.Lookup{{Kind: platform.LookupLocation, Searches: true}},
	Habits: platform.Habits{FirstLine: 125, MinCaption: 150, MaxCaption: 900, Hashtags: 4,
		Hours: []int{12, 18, 9, 15}, WeekendHours: []int{11, 19, 14, 9},
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
	graph.Remover
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	g := graph.New(c, c.Base(graphAddress)+version, Refusals, graph.Number)
	p := &Platform{Connector: wire.Connector{API: g.API, OAuth: wire.OAuth{
		Authorize: c.Base(dialog) + version + "/dialog/oauth", Token: c.Base(graphAddress) + version +
			"/oauth/access_token",
		Scopes: capabilities.Scopes, Divider: ",", Classify: Refusals.Code,
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
	text string) ([]platform.LookupResult, error) {
	return p.Graph.Places(ctx, a, text)
}

// Revoke implements platform.Connector. It revokes every permission of the owner.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	return platform.Revoked(p.Send(ctx, p.Call(http.MethodDelete, "/me/permissions", a.Token.Access), nil))
}

const (
	// long is the life of a token, unless Facebook states a different one.
	long = 60 * 24 * time.Hour
	// access is how long an application may act for an owner, unless Facebook states otherwise.
	// A refresh does not extend it.
	access = 90 * 24 * time.Hour
	// prolonged is the least extension by a refresh of a token that Facebook still prolongs.
	prolonged = 24 * time.Hour
)

// profile is an Instagram account of a page.
type profile struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Name     string `json:"name"`
	Picture  string `json:"profile_picture_url"`
}

// page is a page of Facebook.
type page struct {
	Instagram *profile `json:"instagram_business_account"`
}

// profiles returns the accounts of the pages that the owner has chosen, without duplicates.
func (p *Platform) profiles(ctx context.Context, token platform.Secret) (all []profile, err error) {
	pages, err := graph.Pages[page](ctx, p.Graph, token,
		"instagram_business_account{id,username,name,profile_picture_url}")
	for _, page := range pages {
		if i := page.Instagram; i != nil &&
			!slices.ContainsFunc(all, func(known profile) bool { return known.ID == i.ID }) {
			all = append(all, *i)
		}
	}
	return all, err
}

// extend exchanges a token for one of about 60 days.
func (p *Platform) extend(ctx context.Context, token platform.Secret) (platform.Token, error) {
	form := url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {token.Reveal()}}
	prolong := p.OAuth
	prolong.Classify = Refusals.Token
	issued, err := p.Client.Issue(ctx, prolong, form, token)
	if err != nil {
		return platform.Token{}, err
	}
	if issued.Seconds == 0 {
		issued.Seconds = int64(long.Seconds())
	}
	t := issued.As(p.Client.Now(), platform.Token{Scopes: capabilities.Scopes})
	t.Refresh = t.Access
	return t, nil
}

// Refresh implements platform.Connector. A token that has ended cannot be refreshed, and no token
// outlives the access that its owner has granted.
func (p *Platform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	t, err := p.extend(ctx, a.Token.Access)
	if err != nil {
		return platform.Token{}, err
	}
	t.EndsAt = graph.Ends(ctx, p.Graph, t.Access, a.Token.EndsAt)
	if !a.Token.ExpiresAt.IsZero() && t.ExpiresAt.Before(a.Token.ExpiresAt.Add(prolonged)) &&
		p.Client.Now().Add(long/2).After(t.ExpiresAt) {
		t.EndsAt = t.ExpiresAt // Facebook no longer prolongs it
	}
	return t, nil
}

// Refusals are how the refusals of Instagram are read.
var Refusals = graph.Refusals{Label: "Instagram", Rows: graph.ContainerAnswers}

var _ = format.Define("instagram-name", format.Format{Pattern: "^[A-Za-z0-9._]{1,30}$",
	Wanted: "a user name of Instagram"})

// These options are members of the shape of Instagram alone.
const (
	optionCollaborators platform.Option = "collaborators"
	optionTags          platform.Option = "user_tags"
	optionFeed          platform.Option = "share_to_feed"
	optionTrial         platform.Option = "trial"
	optionAudio         platform.Option = "audio_name"
)

// Options are the options of posts on Instagram, as callers send them.
type Options struct {
	platform.Visible
	platform.AltTextOption
	platform.CoverAtOption
	platform.FirstCommentOption
	platform.AIOption
	platform.PartnersOption
	platform.LocationOption
	// User names of up to three accounts that are invited as authors, without @.
	Collaborators []string `json:"collaborators,omitempty" format:"instagram-name" maxItems:"3" nullable:"false"`
	// Accounts that are tagged.
	UserTags []UserTag `json:"user_tags,omitempty" maxItems:"20" nullable:"false"`
	// Whether a Reel is also shown on the profile. Absent: true.
	ShareToFeed *bool `json:"share_to_feed,omitempty"`
	// Shows a Reel to people who do not follow the account first. manual: the owner shares it with the followers in
	// Instagram; performance: Instagram does, if it performs well.
	Trial string `json:"trial,omitempty" enum:"manual,performance"`
	// Name of the original audio of a Reel. It cannot be changed here later.
	AudioName string `json:"audio_name,omitempty" minLength:"1" maxLength:"100"`
}

// UserTag names an account in a picture or a Reel.
type UserTag struct {
	// User name of the account that is tagged, without @.
	Username string `json:"username" format:"instagram-name"`
	// Place of the tag in a picture, from the left edge (0) to the right one (1). A Reel has none.
	X *float64 `json:"x,omitempty" minimum:"0" maximum:"1"`
	// Place of the tag in a picture, from the top (0) to the bottom (1). A Reel has none.
	Y *float64 `json:"y,omitempty" minimum:"0" maximum:"1"`
	// Number of the picture of a carousel, from 1. Absent: 1.
	Slide int `json:"slide,omitempty" minimum:"1" maximum:"10"`
}

// at returns the index of the tagged file.
func (t UserTag) at() int { return max(t.Slide, 1) - 1 }

func optionsOf(p platform.Post) Options {
	own, _ := p.Options.Own.(Options)
	return own
}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) []platform.Problem {
	own := optionsOf(p)
	found := own.Refused(Name, 0, 2)
	if own.Trial != "" && (len(own.Collaborators) > 0 || own.ShareToFeed != nil) {
		found = append(found, platform.Wrong(Name, optionTrial, "takes no collaborators and no share_to_feed: a trial "+
			"Reel is shown to people who do not follow the account."))
	}
	for i, tag := range own.UserTags {
		option := platform.Option(fmt.Sprintf("%s[%d]", optionTags, i))
		switch at := tag.at(); {
		case at >= len(p.Media):
			found = append(found, platform.Wrong(Name, option+".slide", "is %d, but the post has %d files.", at+1,
				len(p.Media)))
		case p.Media[at].Video() && p.Kind == platform.KindCarousel:
			found = append(found, platform.Wrong(Name, option+".slide", "is that of a video. Instagram tags accounts "+
				"in the pictures of a carousel."))
		case p.Media[at].Video() && (tag.X != nil || tag.Y != nil):
			found = append(found, platform.Wrong(Name, option, "has a place, which tags of a Reel do not have: leave "+
				"out x and y."))
		case !p.Media[at].Video() && (tag.X == nil || tag.Y == nil):
			found = append(found, platform.Wrong(Name, option, "needs x and y: the place of the tag in the picture."))
		}
	}
	return found
}

// tag adds the accounts that are tagged in the i-th file to its container.
func tag(form url.Values, p platform.Post, i int) {
	type place struct {
		Username string   `json:"username"`
		X        *float64 `json:"x,omitempty"`
		Y        *float64 `json:"y,omitempty"`
	}
	var all []place
	for _, t := range optionsOf(p).UserTags {
		if t.at() == i {
			all = append(all, place{t.Username, t.X, t.Y})
		}
	}
	if raw, err := json.Marshal(all); err == nil && len(all) > 0 {
		form.Set("user_tags", string(raw))
	}
}

// graduation maps the option trial to the values of Instagram.
var graduation = map[string]string{"manual": "MANUAL", "performance": "SS_PERFORMANCE"}

// adorn adds the options of a post to its container.
func adorn(form url.Values, p platform.Post) {
	own := optionsOf(p)
	if own.Paid {
		form.Set("is_paid_partnership", "true")
		if len(own.Partners) > 0 {
			form.Set("branded_content_sponsor_ids", strings.Join(own.Partners, ","))
		}
	}
	if raw, err := json.Marshal(own.Collaborators); err == nil && len(own.Collaborators) > 0 {
		form.Set("collaborators", string(raw))
	}
	if own.ShareToFeed != nil {
		form.Set("share_to_feed", strconv.FormatBool(*own.ShareToFeed))
	}
	if own.Trial != "" {
		form.Set("trial_params", `{"graduation_strategy":"`+graduation[own.Trial]+`"}`)
	}
	for name, value := range map[string]string{"location_id": own.LocationID, "audio_name": own.AudioName} {
		if value != "" {
			form.Set(name, value)
		}
	}
}

// The delays of looks at containers and posts.
const (
	image   = 5 * time.Second // the first look at the container of an image
	again   = time.Minute     // between two looks at a container
	settled = 2 * time.Minute // until a post is in the list of posts
)

// containers returns the protocol by which Instagram publishes.
func containers(g graph.API) *graph.Containers {
	return &graph.Containers{
		Graph: g,
		Edge:  "/media", Limit: "/content_publishing_limit", State: "status_code", Detail: "status", Caption: "caption",
		Image: image, ListDelay: settled, File: file, Describe: describe,
		List: func(w *platform.Work[graph.Boxes]) (edge, text string) {
			if w.Post.Kind == platform.KindStory {
				return "/stories", ""
			}
			return "/media", w.Text()
		},
	}
}

// file returns the container of the i-th file.
func file(p platform.Post, i int) url.Values {
	form, m := url.Values{}, p.Media[i]
	tag(form, p, i)
	if m.Video() {
		form.Set("video_url", m.URL)
	} else {
		form.Set("image_url", m.URL)
		if m.Alt != "" && p.Kind != platform.KindStory {
			form.Set("alt_text", m.Alt)
		}
	}
	switch {
	case p.Kind == platform.KindStory:
		form.Set("media_type", "STORIES")
	case p.Kind == platform.KindCarousel && m.Video():
		form.Set("media_type", "VIDEO")
	case m.Video():
		form.Set("media_type", "REELS")
		if p.Cover != nil && p.Cover.URL != "" {
			form.Set("cover_url", p.Cover.URL)
		} else if at := p.Options.CoverAt; at > 0 {
			form.Set("thumb_offset", strconv.FormatInt(at.Milliseconds(), 10))
		}
	}
	return form
}

// describe adds the caption to the container of a post. A carousel declares on this container only that AI has made it.
func describe(form url.Values, w *platform.Work[graph.Boxes]) {
	if w.Post.Kind != platform.KindStory {
		form.Set("caption", w.Text())
	}
	if w.Post.Options.Generated {
		form.Set("is_ai_generated", "true")
	}
	adorn(form, w.Post)
}

// Begin implements platform.Steps. It makes the first container, too.
func (p *Platform) Begin(ctx context.Context, w *platform.Work[graph.Boxes]) error {
	err := p.Containers.Begin(ctx, w)
	if err == nil {
		_, w.Wait, err = p.Prepare(ctx, w)
	}
	return err
}

// Prepare implements platform.Steps. Before the first comment, which needs no container, it reads the address of the
// post.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[graph.Boxes]) (ready bool, wait time.Duration,
	err error) {
	if !w.IsComment() {
		return p.Containers.Prepare(ctx, w)
	}
	w.Looks++
	ready, wait, err = p.End(ctx, w)
	if ready {
		wait = 0
	}
	return ready, wait, err
}

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[graph.Boxes]) (platform.Ref, error) {
	if !w.IsComment() {
		return p.Containers.Make(ctx, w)
	}
	id, err := p.Graph.Create(ctx, w.Account.Token.Access, "/"+url.PathEscape(w.First.ID)+"/comments",
		url.Values{"message": {w.Text()}}, true)
	return platform.Ref{ID: id}, err
}

// Find implements platform.Steps. A comment is in doubt: it is not looked for.
func (p *Platform) Find(ctx context.Context, w *platform.Work[graph.Boxes]) (platform.Ref, platform.Stage, error) {
	if w.IsComment() {
		return platform.Ref{}, platform.StageReconcile, nil
	}
	return p.Containers.Find(ctx, w)
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (m platform.Metrics,
	err error) {
	if !graph.Number(post.ID) {
		return m, p.Graph.NoPost()
	}
	var insights graph.Insights
	read := func(metrics string) error {
		return p.Graph.OfPost(ctx, a.Token.Access, "/"+post.ID+"/insights", url.Values{"metric": {metrics}}, &insights)
	}
	err = read("reach,views,likes,comments,shares,saved")
	if uncounted(err) {
		// Instagram refuses to count the other metrics of a story.
		err = read("reach,views,shares")
	}
	if err != nil {
		return m, err
	}
	insights.Lifetime(map[string]**int64{"reach": &m.Reach, "views": &m.Views, "likes": &m.Likes,
		"comments": &m.Comments, "shares": &m.Shares, "saved": &m.Saves})
	return m, nil
}

// uncounted reports whether an error says that Instagram does not count one of several figures.
func uncounted(err error) bool {
	return platform.Untold(err) && !platform.Denied(err)
}

// mostDays bounds the days of one call.
const mostDays = 29

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	var account struct {
		Followers *int64 `json:"followers_count"`
		Posts     *int64 `json:"media_count"`
	}
	err := p.Get(ctx, a.Token.Access, "/"+a.ID, url.Values{"fields": {"followers_count,media_count"}}, &account)
	if err != nil {
		return nil, err
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var insights graph.Insights
	read := func(metrics string) error {
		return p.Get(ctx, a.Token.Access, "/"+a.ID+"/insights", graph.Query(days, p.Client.Now(), metrics), &insights)
	}
	err = read("reach,follower_count")
	if uncounted(err) {
		err = read("reach") // accounts with fewer than 100 followers have no follower_count
	}
	if err != nil {
		return nil, err
	}
	insights.Days(days, map[string]string{"reach": "reach", "follower_count": "followers_gained"})
	days.Last().Followers, days.Last().Posts = account.Followers, account.Posts
	return days, nil
}

var _ platform.Forgetter = (*Platform)(nil)
