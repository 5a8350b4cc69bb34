// Package facebook publishes on the pages of Facebook.
//
// Photos are uploaded unpublished, and one call publishes the post that has them. A Reel has an id
// before it is published, by which its outcome can be read.
package facebook

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
	Hashtags: platform.Hashtags{Max: 30, InCaption: true},
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
				"not published as a Reel."))
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
	Lookups:   []platform.Lookup{{Kind: platform.LookupLocation, Searches: true}},
	Habits: platform.Habits{FirstLine: 400, MinCaption: 80, MaxCaption: 600, Hashtags: 2, Links: true,
		Hours: []int{9, 12, 18, 15}, WeekendHours: []int{10, 13, 19, 16},
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
	platform.AltTextOption
	platform.FirstCommentOption
	platform.PartnersOption
	platform.LocationOption
}

// Platform is Facebook.
type Platform struct {
	wire.Connector
	wire.NoRevoke // only the login that granted the access can revoke it, and its token is not kept
	platform.Chain[state]
	graph.Commenter
	graph.Remover
	api graph.API
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	g := graph.New(c, c.Base(graphAddress)+version, refusals, known)
	p := &Platform{Connector: wire.Connector{API: g.API, OAuth: wire.OAuth{
		Authorize: c.Base(dialog) + version + "/dialog/oauth",
		Token:     c.Base(graphAddress) + version + "/oauth/access_token",
		Scopes:    capabilities.Scopes, Divider: ",", Classify: refusals.Code,
	}}, api: g}
	p.Commenter = graph.Commenter{Reader: graph.Reader{Via: g, Listing: "/comments", Hide: "is_hidden",
		List: url.Values{"filter": {"stream"}, "order": {"reverse_chronological"},
			"fields": {"id,message,created_time,from{id,name},parent{id},is_hidden"}}},
		Replies: "/comments", Object: "page", Field: "feed"}
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
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
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (m platform.Metrics,
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
	if err := p.api.OfPost(ctx, a.Token.Access, "/"+post.ID, url.Values{"fields": {fields}}, &node); err != nil {
		return m, err
	}
	m.Comments, m.Likes = platform.Count(node.Comments.Summary.Count), platform.Count(node.Reactions.Summary.Count)
	if !isPost(post.ID) {
		m.Views = platform.Count(node.Views)
		return m, nil
	}
	m.Shares = platform.Count(node.Shares.Count)
	var insights graph.Insights
	err = p.api.OfPost(ctx, a.Token.Access, "/"+post.ID+"/insights",
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

// page is a page with the rights of the login.
type page struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Username string          `json:"username"`
	Token    platform.Secret `json:"access_token"`
	// Tasks are what the login may do on the page. They are nil in a list of a business portfolio, which has tokens of
	// the pages alone on which the login has a role.
	Tasks   []string `json:"tasks"`
	Picture struct {
		Data struct {
			URL string `json:"url"`
		} `json:"data"`
	} `json:"picture"`
}

const ofPage = "id,name,username,access_token,picture{url}"

// publishing are the tasks that let a login publish, on pages of either kind
// (https://developers.facebook.com/docs/pages-api/overview#tasks).
var publishing = []string{"CREATE_CONTENT", "MANAGE", "PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_MANAGE",
	"PROFILE_PLUS_FULL_CONTROL"}

// publishes reports whether the login may publish on the page.
func (p page) publishes() bool {
	may := p.Tasks == nil || slices.ContainsFunc(p.Tasks, func(t string) bool { return slices.Contains(publishing, t) })
	return may && p.Token != ""
}

// Connect implements platform.Connector. It returns the pages on which the login may post, each with
// its own token, which does not end while the owner's grant stands.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	short, err := p.Client.Exchange(ctx, p.OAuth, g, nil)
	if err != nil {
		return nil, err
	}
	prolong := p.OAuth
	prolong.Classify = refusals.Token
	form := url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {short.Access.Reveal()}}
	long, err := p.Client.Issue(ctx, prolong, form, short.Access)
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
	var barred []string
	known := map[string]bool{}
	for _, page := range pages {
		if known[page.ID] || !graph.Number(page.ID) ||
			g.Choice != "" && g.Choice != page.ID && g.Choice != "@"+page.Username {
			continue
		}
		known[page.ID] = true
		if !page.publishes() {
			barred = append(barred, page.barred())
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
		message := "The login may create content on none of the chosen pages."
		if len(barred) > 0 {
			message += " " + strings.Join(barred[:min(len(barred), mostBarred)], " ")
		}
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, message)
	}
	return all, nil
}

// mostBarred bounds the pages that a message names.
const mostBarred = 3

// barred says what the login lacks on the page.
func (p page) barred() string {
	if len(p.Tasks) == 0 {
		return "On the page " + platform.Words(p.Name) + " it has no role."
	}
	return "On the page " + platform.Words(p.Name) + " it has " + strings.Join(p.Tasks, ", ") +
		", and lacks CREATE_CONTENT."
}

const (
	processing = 15 * time.Second // between two looks at a video
	// maxLooks bounds how often the adapter reads a post that was made.
	maxLooks = 40
)

// state is the adapter's part of a handle.
type state struct {
	Photos []string `json:"photos,omitempty"`
	Reel   string   `json:"reel,omitempty"`
	Upload string   `json:"upload,omitempty"` // address; empty once the file is registered
	Sent   bool     `json:"sent,omitempty"`   // Facebook reads the file
}

// isPost reports whether an id names a post of a page: the ids of both, with a line between.
func isPost(id string) bool {
	page, post, ok := strings.Cut(id, "_")
	return ok && graph.Number(page) && graph.Number(post)
}

// known reports whether an id is one of a post.
func known(id string) bool { return isPost(id) || graph.Number(id) }

// reel reports whether a post is published as a Reel.
func reel(post platform.Post) bool {
	if len(post.Media) != 1 || !post.Media[0].Video() {
		return false
	}
	m := post.Media[0]
	ratio := float64(m.Width) / float64(max(m.Height, 1))
	return m.Width >= 540 && m.Height >= 960 && ratio > 0.55 && ratio < 0.58 && m.Duration >= 3*time.Second &&
		m.Duration <= 90*time.Second
}

// Prepare implements platform.Steps. It uploads a photo, or lets Facebook read the file of a Reel.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	switch {
	case w.PostsMade > 0:
		return true, 0, nil
	case reel(w.Post):
		return p.prepareReel(ctx, w.Account, w.Post, s)
	case len(w.Post.Media) == 0 || w.Post.Media[0].Video() || len(s.Photos) == len(w.Post.Media):
		return true, 0, nil
	}
	m := w.Post.Media[len(s.Photos)]
	form := url.Values{"url": {m.URL}, "published": {"false"}}
	if m.Alt != "" {
		form.Set("alt_text_custom", m.Alt)
	}
	id, err := p.api.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+"/photos", form, false)
	if err != nil {
		return false, 0, err
	}
	s.Photos = append(s.Photos, id)
	return len(s.Photos) == len(w.Post.Media), 0, nil
}

func (p *Platform) prepareReel(ctx context.Context, a platform.Account, post platform.Post,
	s *state) (ready bool, wait time.Duration, err error) {
	if s.Reel == "" {
		call := p.Call(http.MethodPost, "/"+a.ID+"/video_reels", a.Token.Access)
		call.Form = url.Values{"upload_phase": {"start"}}
		var made struct {
			ID     string `json:"video_id"`
			Upload string `json:"upload_url"`
		}
		if err := p.Send(ctx, call, &made); err != nil {
			return false, 0, err
		}
		if !graph.Number(made.ID) || !p.Client.Trusts(made.Upload, "facebook.com") {
			return false, 0, p.Client.GarbledError(call, graph.ErrNoID)
		}
		s.Reel, s.Upload = made.ID, made.Upload
		return false, 0, nil
	}
	if !s.Sent {
		call := wire.Call{Name: "upload", Method: http.MethodPost, URL: s.Upload, Header: http.Header{
			"Authorization": {"OAuth " + a.Token.Access.Reveal()}, "File_url": {post.Media[0].URL},
		}, Secrets: []platform.Secret{a.Token.Access}}
		if err := p.api.Done(ctx, call, unsent); err != nil {
			return false, 0, err
		}
		s.Sent, s.Upload = true, ""
		return false, processing, nil
	}
	v, err := p.video(ctx, a, s.Reel)
	if err != nil {
		return false, 0, err
	}
	return v.Status.Upload.Status == complete, processing, v.failed(false)
}

// unsent classifies a refusal of the server that takes files, which has a form of its own.
func unsent(a wire.Answer) *platform.Error {
	var body struct {
		Info *struct {
			Retriable bool   `json:"retriable"`
			Message   string `json:"message"`
		} `json:"debug_info"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Info == nil {
		return refusals.Classify(false)(a)
	}
	if body.Info.Retriable || a.Status >= http.StatusInternalServerError {
		return platform.Busy().Saying(body.Info.Message)
	}
	return platform.Odd().Saying(body.Info.Message)
}

// complete is the state of a phase that has ended.
const complete = "complete"

// phase is a part of the work on a video.
type phase struct {
	Status string  `json:"status"`
	Error  trouble `json:"error"`
	// Errors are the errors of the phases that have several.
	Errors []trouble `json:"errors"`
}

// trouble is why a phase has failed.
type trouble struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// film is the state of a video.
type film struct {
	Permalink string `json:"permalink_url"`
	Status    struct {
		Video      string `json:"video_status"`
		Upload     phase  `json:"uploading_phase"`
		Processing phase  `json:"processing_phase"`
		Publishing phase  `json:"publishing_phase"`
	} `json:"status"`
}

// failed returns the error of a video that Facebook could not read or process, or nil. Until the video is posted, it is
// sent again if the reason may pass: Facebook could not read the file, or does not say why.
func (v film) failed(posted bool) error {
	const bad = "error"
	s := v.Status
	if s.Video != bad && s.Upload.Status != bad && s.Processing.Status != bad {
		return nil
	}
	var why trouble
	for _, p := range []phase{s.Processing, s.Upload, s.Publishing} {
		for _, t := range append([]trouble{p.Error}, p.Errors...) {
			if why == (trouble{}) {
				why = t
			}
		}
	}
	row := refusals.Find(why.Code, why.Code)
	passes := why.Message == "" || s.Upload.Status == bad || row != nil && row.Outcome == graph.Passing
	if passes && !posted {
		return platform.Again(nil).Saying(why.Message)
	}
	return platform.Reject(platform.CodeMediaRefused, "Facebook could not process the video.").Saying(why.Message)
}

func (p *Platform) video(ctx context.Context, a platform.Account, id string) (v film, err error) {
	err = p.Get(ctx, a.Token.Access, "/"+id, url.Values{"fields": {"status,permalink_url"}}, &v)
	return v, err
}

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	text := w.Text()
	own, _ := w.Post.Options.Own.(Options)
	switch {
	case w.IsComment():
		call := p.Call(http.MethodPost, "/"+w.First.ID+"/comments", w.Account.Token.Access)
		call.Form, call.Posts = url.Values{"message": {text}}, true
		return ref, p.Send(ctx, call, nil)
	case reel(w.Post):
		call := p.Call(http.MethodPost, "/"+w.Account.ID+"/video_reels", w.Account.Token.Access)
		call.Posts = true
		call.Form = url.Values{"upload_phase": {"finish"}, "video_id": {w.Own.Reel}, "video_state": {"PUBLISHED"},
			"description": {text}}
		own.place(call.Form)
		return platform.Ref{ID: w.Own.Reel}, p.api.Done(ctx, call, p.Classify(true))
	case len(w.Post.Media) == 1 && w.Post.Media[0].Video():
		form := url.Values{"file_url": {w.Post.Media[0].URL}, "description": {text}}
		if w.Post.Title != "" {
			form.Set("title", w.Post.Title)
		}
		ref.ID, err = p.api.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+"/videos", form, true)
		return ref, err
	}
	form := url.Values{"message": {text}}
	for i, id := range w.Own.Photos {
		form.Set(fmt.Sprintf("attached_media[%d]", i), `{"media_fbid":"`+id+`"}`)
	}
	if link := preview(text); len(w.Own.Photos) == 0 && link != "" {
		form.Set("link", link)
	}
	own.place(form)
	if own.Paid {
		// The partner may not advertise with the post: the owner of the page can permit that on Facebook.
		form.Set("sponsor_id", own.Partners[0])
		form.Set("direct_share_status", "0")
	}
	ref.ID, err = p.api.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+"/feed", form, true)
	return ref, err
}

// ownHosts are the hosts of Facebook, whose pages it refuses as the link of a post (1609008), but takes in its text.
var ownHosts = []string{"facebook.com", "fb.com", "fb.gg", "fb.me", "fb.watch"}

// preview returns the first link of a text of which Facebook makes a preview, or "".
func preview(text string) string {
	for _, l := range platform.Links(text) {
		address, err := url.Parse(l.Address(text))
		if err != nil || !l.Scheme {
			continue
		}
		host := strings.ToLower(address.Hostname())
		own := func(of string) bool { return host == of || strings.HasSuffix(host, "."+of) }
		if !slices.ContainsFunc(ownHosts, own) {
			return l.Address(text)
		}
	}
	return ""
}

// place adds the place that a post names.
func (o Options) place(form url.Values) {
	if o.LocationID != "" {
		form.Set("place", o.LocationID)
	}
}

// Find implements platform.Steps. A Reel is found by its id, and other posts among the newest ones of the page.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	if w.IsComment() {
		return ref, platform.StageReconcile, nil
	}
	if reel(w.Post) {
		v, err := p.video(ctx, w.Account, w.Own.Reel)
		if err != nil || v.Status.Publishing.Status != complete {
			return ref, platform.StageReconcile, err
		}
		return platform.Ref{ID: w.Own.Reel}, platform.StageDone, nil
	}
	edge, text := "/published_posts", "message"
	if len(w.Post.Media) == 1 && w.Post.Media[0].Video() {
		edge, text = "/videos", "description"
	}
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			Message     string `json:"message"`
			Description string `json:"description"`
			At          string `json:"created_time"`
		} `json:"data"`
	}
	if err := p.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+edge,
		url.Values{"fields": {"id," + text + ",created_time"}, "limit": {"25"}}, &list); err != nil {
		return ref, "", err
	}
	for _, d := range list.Data {
		at, err := time.Parse(graph.TimeLayout, d.At)
		if err == nil && known(d.ID) && !at.Before(w.SentAt.Add(-time.Minute)) &&
			platform.Same(d.Message+d.Description, w.Text()) {
			return platform.Ref{ID: d.ID}, platform.StageDone, nil
		}
	}
	return ref, platform.StageReconcile, nil
}

// End implements platform.Ender. It waits until a video is processed, and reads the address of the post,
// which is visible even if this fails.
func (p *Platform) End(ctx context.Context, w *platform.Work[state]) (ended bool, wait time.Duration, err error) {
	fields, v := "permalink_url", film{}
	if len(w.Post.Media) > 0 && w.Post.Media[0].Video() {
		fields = "status,permalink_url"
	}
	err = p.Get(ctx, w.Account.Token.Access, "/"+w.First.ID, url.Values{"fields": {fields}}, &v)
	switch {
	case err != nil && ctx.Err() != nil:
		return false, 0, err
	case err != nil:
		return platform.KindOf(err) != platform.Retry || w.Looks >= 3, 10 * time.Second, nil
	}
	if w.First.URL = v.Permalink; strings.HasPrefix(v.Permalink, "/") {
		w.First.URL = dialog + v.Permalink
	}
	if err := v.failed(true); err != nil {
		return false, 0, err
	}
	return v.Status.Video == "" || v.Status.Video == "ready" || w.Looks >= maxLooks, processing, nil
}

// Edit implements platform.Editor.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.PlacedPost, text string) error {
	name := "message"
	if graph.Number(post.ID) {
		name = "description" // of a video
	} else if !isPost(post.ID) {
		return p.api.NoPost()
	}
	call, gone := p.Call(http.MethodPost, "/"+post.ID, a.Token.Access), refusals
	call.Form, gone.Missing = url.Values{name: {text}}, p.api.NoPost
	return p.Client.JSON(ctx, call, gone.Classify(false), nil)
}

// Lookup implements platform.Finder. It finds the pages of places.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, _ platform.LookupKind,
	text string) ([]platform.LookupResult, error) {
	return p.api.Places(ctx, a, text)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	return p.api.Delete(ctx, a.Token.Access, post.ID)
}

const (
	// publisher is a public report: the answers that an open publisher has met.
	publisher = "gitroomhq/postiz-app facebook.provider.ts"
	unread    = "Facebook could not read the video."
)

var refusals = graph.Refusals{Label: "Facebook", Rows: []graph.Row{
	{Subcode: 1363047, Outcome: graph.Passing, Source: publisher},
	{Subcode: 1609010, Outcome: graph.Passing, Source: publisher},
	{Code: 6000, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 6000, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1363019, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1363030, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1363037, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1404112, Outcome: graph.Spent, After: time.Hour, Source: publisher,
		Message: "Facebook has limited the login of the page for some days. Its owner has to sign in at Facebook and " +
			"follow the instructions."},
	{Subcode: 1366051, Outcome: graph.Unclear, Source: publisher, Message: "The photos were already posted."},

	// The right to publish on the page is lost until its owner acts.
	{Subcode: 1363042, Outcome: graph.Ended, As: platform.CodeMissingPermission, Source: graph.VideoErrors,
		Message: "The login may not publish videos on the page. Connect the page again with a login that may."},
	{Subcode: 1404078, Outcome: graph.Ended, As: platform.CodeMissingPermission, Source: publisher,
		Message: "Facebook wants the owner of the page to be authorized to publish on it. Connect the page again " +
			"afterwards."},
	{Subcode: 4854002, Outcome: graph.Ended, As: platform.CodeNeedsReconnect, Source: publisher,
		Message: "Facebook wants the owner of the page to confirm who they are. Connect the page again afterwards."},

	refused(1363022, platform.CodeMediaRefused, graph.VideoErrors, "The video is too small for Facebook."),
	refused(1363023, platform.CodeMediaRefused, graph.VideoErrors, "The video is too large for Facebook."),
	refused(1366046, platform.CodeMediaRefused, publisher, "The image is too large for Facebook."),
	refused(2069019, platform.CodeMediaRefused, publisher, "Facebook does not take the file."),
	refused(1346003, platform.CodeContentPolicy, publisher,
		"Facebook refuses content that others have reported as abusive."),
	refused(1404102, platform.CodeContentPolicy, publisher, "Facebook refuses the text or the link of the post."),
	refused(1404006, platform.CodeContentPolicy, publisher,
		"Facebook asks the owner of the page for a security check before it takes the comment."),
	refused(1609008, platform.CodeContentRefused, publisher, "Facebook does not take the link of the post."),
	refused(2061006, platform.CodeContentRefused, publisher, "Facebook does not take a link of the post."),
	refused(1349125, platform.CodeContentRefused, publisher, "Facebook does not take the form of the post."),
}}

// refused returns the row of content that is refused.
func refused(subcode int, as platform.Code, source, message string) graph.Row {
	return graph.Row{Subcode: subcode, Outcome: graph.Refused, As: as, Message: message, Source: source}
}

// PastPosts implements platform.PastReader. Posts of others that the page has only passed on are left out, as are
// changes of the page itself, such as a new cover, which have no text of their own.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"fields": {"id,message,created_time,status_type,attachments{media_type}"},
		"limit": {strconv.Itoa(graph.PastPage)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	var answer struct {
		Data []struct {
			ID          string `json:"id"`
			Message     string `json:"message"`
			At          string `json:"created_time"`
			Status      string `json:"status_type"`
			Attachments struct {
				Data []struct {
					Type string `json:"media_type"`
				} `json:"data"`
			} `json:"attachments"`
		} `json:"data"`
		Paging graph.Paging `json:"paging"`
	}
	if err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/published_posts", query, &answer); err != nil {
		return nil, "", err
	}
	for _, d := range answer.Data {
		at, err := time.Parse(graph.TimeLayout, d.At)
		if err != nil || !isPost(d.ID) || d.Message == "" || d.Status == "shared_story" {
			continue
		}
		kind := platform.KindPost
		if media := d.Attachments.Data; len(media) > 0 {
			switch media[0].Type {
			case "video":
				kind = platform.KindVideo
			case "album":
				kind = platform.KindCarousel
			}
		}
		posts = append(posts, platform.PastPost{ID: d.ID, Kind: kind, Text: d.Message, At: at.UTC()})
	}
	return posts, answer.Paging.Cursor(), nil
}

var _ platform.Forgetter = (*Platform)(nil)
