// Package pinterest publishes pins on the boards of Pinterest. An account is a board. Start with Platform.
package pinterest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/media"
)

// Name is the platform's id.
const Name = "pinterest"

// The platform's addresses.
const (
	site = "https://www.pinterest.com"
	api  = "https://api.pinterest.com"
)

var (
	image = &platform.File{MIMEs: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 20 << 20}
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 2 << 30, MinRatio: 0.5,
		MaxRatio: 1.91, MinTime: 4 * time.Second, MaxTime: 15 * time.Minute,
		// help.pinterest.com/en/business/article/video-pins: "H.264 or H.265". It says nothing of the sound.
		Form: platform.Form{Pictures: []media.Codec{media.H264, media.HEVC}}}

	title   = platform.Text{Max: 100}
	caption = platform.Text{Max: 800}
	noAlt   = []platform.Option{platform.OptionAlt}
	noCover = []platform.Option{platform.OptionCover, platform.OptionCoverAt}
)

// The options that only Pinterest has: the page that a pin leads to, and the part of the board that has it.
const (
	OptionLink    platform.Option = "link"
	OptionSection platform.Option = "board_section_id"
)

var capabilities = platform.Capabilities{
	Label:   "Pinterest",
	Connect: platform.ConnectOAuth,
	Scopes:  []string{"boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read"},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost: {Title: title, Caption: caption, MinMedia: 1, MaxMedia: 1, Image: image, Without: noCover},
		platform.KindVideo: {Title: title, Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: noAlt},
		platform.KindMusicClip: {Title: title, Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: noAlt},
		platform.KindCarousel: {Title: title, Caption: caption, MinMedia: 2, MaxMedia: 5, Image: image,
			Without: noCover},
	},
	Origin: platform.Origin{Reads: []platform.Mark{platform.MarkIPTC},
		Source: "https://help.pinterest.com/en/article/gen-ai-labels"},
	Hashtags: platform.Hashtags{Max: 20, InCaption: true},
	Alt:      platform.Text{Max: 500},
	Options: []platform.Option{platform.OptionAlt, platform.OptionCover, platform.OptionCoverAt,
		OptionLink, OptionSection},
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"impressions", "views", "saves", "clicks"},
	Account: platform.AccountFigures{Names: []string{"followers", "posts", "impressions", "views", "saves", "clicks"},
		History: true},
	Past:    platform.Past{Page: pastPage},
	Edits:   true,
	Deletes: true,
	Lookups: []platform.Lookup{{Kind: platform.LookupBoard}},
	Habits: platform.Habits{FirstLine: 50, MinCaption: 100, MaxCaption: 350, Hashtags: 2,
		Hours: []int{20, 14, 21, 12}, WeekendHours: []int{20, 11, 15},
		Action: "to save the pin, or to open its link",
		Form: "The description has the words that people search for in its first sentence, and says what " +
			"one can make or do with it."},
	Notes: []string{
		"An account is a board of Pinterest. The owner chooses one of the login's boards.",
		"Pinterest takes no posts without media, and applications can write no comments.",
		"A pin leads to the page of the option link, or else to the first link in the caption.",
		"The description of a pin with several images is that of its first image for people who cannot see it.",
		"While the operator's application has trial access, only its owner sees the pins.",
		"Pinterest has no mark of an application for content that was made by AI, and labels what it detects.",
	},
}

// Options are the options of posts on Pinterest, as callers send them.
type Options struct {
	platform.AltTextOption
	platform.CoverAtOption
	// Page that the pin leads to. Absent: the first link in the caption.
	Link string `json:"link,omitempty" format:"web-address"`
	// Section of the board. `GET /v1/publishing/lookups` with `kind=board` lists them. Absent: the board itself.
	Section string `json:"board_section_id,omitempty" format:"digits"`
}

// Platform is Pinterest.
type Platform struct {
	wire.Connector
	wire.NoRevoke
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{Client: c, Root: c.Base(api) + "/v5"}, OAuth: wire.OAuth{
		Authorize: c.Base(site) + "/oauth/", Token: c.Base(api) + "/v5/oauth/token", Scopes: capabilities.Scopes,
		Divider: ",", Basic: true, Classify: classifyToken,
	}}}
	p.Classify = p.classes
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

var errIncomplete = errors.New("a member is missing")

const (
	pageSize = "250" // the most that Pinterest lists on a page
	// mostPages bounds the pages of a list.
	mostPages = 40
)

// pages lists boards or sections, page by page, until the end or until the function returns false.
func (p *Platform) pages(ctx context.Context, token platform.Secret, path string,
	each func([]platform.LookupResult) bool) error {
	query := url.Values{"page_size": {pageSize}}
	for range mostPages {
		var page struct {
			Items    []platform.LookupResult `json:"items"`
			Bookmark string                  `json:"bookmark"`
		}
		if err := p.read(ctx, token, path, query, &page); err != nil {
			return err
		}
		if !each(page.Items) || page.Bookmark == "" || page.Bookmark == query.Get("bookmark") {
			return nil
		}
		query.Set("bookmark", page.Bookmark)
	}
	return nil
}

// read makes a call that reads. A refusal of it says nothing about the right to publish.
func (p *Platform) read(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	call := p.Call(http.MethodGet, path, token)
	call.Query = query
	return p.Client.JSON(ctx, call, p.classify(reads), out)
}

// grantError returns an error of the first calls with a grant: one that may not read them does not connect.
func grantError(err error) error {
	if platform.Denied(err) {
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Allow all that the page of Pinterest asks "+
			"for.").Because(err)
	}
	return err
}

// Connect implements platform.Connector. It returns the boards of the login.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	issued, err := p.Client.Exchange(ctx, p.OAuth, g, url.Values{"continuous_refresh": {"true"}})
	if err != nil {
		return nil, err
	}
	token := issued.As(p.Client.Now(), platform.Token{})
	if token.Lacks(capabilities.Scopes) {
		return nil, platform.NeedsReconnect(platform.CodeMissingPermission, "Allow all that the page of Pinterest "+
			"asks for.")
	}
	var me struct {
		Username string `json:"username"`
		Picture  string `json:"profile_image"`
	}
	if err := p.read(ctx, token.Access, "/user_account", nil, &me); err != nil {
		return nil, grantError(err)
	}
	var all []platform.Account
	err = p.pages(ctx, token.Access, "/boards", func(boards []platform.LookupResult) bool {
		for _, b := range boards {
			if b.ID != "" && (g.Choice == "" || g.Choice == b.ID || g.Choice == b.Name) {
				all = append(all, platform.Account{ID: b.ID, Handle: "@" + me.Username, Name: b.Name,
					AvatarURL: me.Picture, Token: token})
			}
		}
		return g.Choice == "" || len(all) == 0 || all[len(all)-1].ID != g.Choice
	})
	if err != nil {
		return nil, grantError(err)
	}
	if len(all) == 0 {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, "The login has no such board. Make one at "+
			"Pinterest, then connect again.")
	}
	return all, nil
}

const (
	// processing is the time between two looks at a video.
	processing = 15 * time.Second
	longest    = 64 // of an id
	// findPages bounds the pages of the newest pins among which a lost one is looked for.
	findPages = 4
)

// state is the adapter's part of a handle.
type state struct {
	Video string `json:"video,omitempty"` // id of the uploaded video
}

// Prepare implements platform.Steps. It uploads a video, or looks at it.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	if !w.Post.Media[0].Video() {
		return true, 0, nil
	}
	if w.Own.Video == "" {
		w.Own.Video, err = p.upload(ctx, w.Account, w.Post.Media[0])
		return false, processing, err
	}
	var media struct {
		Status string `json:"status"`
	}
	if err := p.Get(ctx, w.Account.Token.Access, "/media/"+url.PathEscape(w.Own.Video), nil, &media); err != nil {
		return false, 0, err
	}
	if media.Status == "failed" { // Pinterest names no reason, which may be its own
		return false, 0, platform.Again(errors.New("pinterest: processing failed without a reason"))
	}
	return media.Status == "succeeded", processing, nil
}

// upload uploads a video with the form that Pinterest states.
func (p *Platform) upload(ctx context.Context, a platform.Account, m platform.Media) (string, error) {
	var made struct {
		ID         string            `json:"media_id"`
		URL        string            `json:"upload_url"`
		Parameters map[string]string `json:"upload_parameters"`
	}
	call := p.Call(http.MethodPost, "/media", a.Token.Access)
	call.JSON = map[string]string{"media_type": "video"}
	if err := p.Send(ctx, call, &made); err != nil {
		return "", err
	}
	if made.ID == "" || len(made.ID) > longest || !p.Client.Trusts(made.URL, "amazonaws.com") {
		return "", p.Client.GarbledError(call, errIncomplete)
	}
	fields := url.Values{}
	for name, value := range made.Parameters {
		fields.Set(name, value)
	}
	body, err := wire.Multipart(ctx, fields, wire.File{Field: "file", Name: wire.FileName(m), Media: m})
	if err != nil {
		return "", p.Client.GarbledError(call, err)
	}
	put := wire.Call{Name: "upload", Method: http.MethodPost, URL: made.URL, Body: body, Timeout: wire.UploadTimeout}
	answer, err := p.Client.Do(ctx, put)
	if err != nil {
		return "", err
	}
	return made.ID, p.Client.Check(put, answer, nil)
}

// link returns the page that a pin leads to.
func link(post platform.Post) string {
	if own, ok := post.Options.Own.(Options); ok && own.Link != "" {
		return own.Link
	}
	for _, l := range platform.Links(post.Caption) {
		if l.Scheme {
			return post.Caption[l.Start:l.End]
		}
	}
	return ""
}

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	pin := map[string]any{"board_id": w.Account.ID, "description": w.Text(), "media_source": source(w.Post, w.Own)}
	own, _ := w.Post.Options.Own.(Options)
	for name, value := range map[string]string{"title": w.Post.Title, "link": link(w.Post),
		"alt_text": w.Post.Media[0].Alt, "board_section_id": own.Section} {
		if value != "" {
			pin[name] = value
		}
	}
	call := p.Call(http.MethodPost, "/pins", w.Account.Token.Access)
	call.JSON, call.Posts = pin, true
	var made struct {
		ID string `json:"id"`
	}
	if err := p.Send(ctx, call, &made); err != nil {
		return ref, err
	}
	if made.ID == "" || len(made.ID) > longest {
		return ref, p.Client.GarbledError(call, errIncomplete)
	}
	return refOf(made.ID), nil
}

func refOf(id string) platform.Ref {
	return platform.Ref{ID: id, URL: site + "/pin/" + url.PathEscape(id) + "/"}
}

// source returns the media of a pin.
func source(post platform.Post, s state) map[string]any {
	switch {
	case s.Video != "":
		m := map[string]any{"source_type": "video_id", "media_id": s.Video}
		if post.Cover != nil && post.Cover.URL != "" {
			m["cover_image_url"] = post.Cover.URL
		} else {
			m["cover_image_key_frame_time"] = int64(post.Options.CoverAt.Seconds()) // Pinterest counts seconds
		}
		return m
	case len(post.Media) > 1:
		var items []map[string]string
		for _, m := range post.Media {
			items = append(items, map[string]string{"url": m.URL})
		}
		return map[string]any{"source_type": "multiple_image_urls", "items": items}
	default:
		return map[string]any{"source_type": "image_url", "url": post.Media[0].URL}
	}
}

// Find implements platform.Steps. It looks at the newest pins of the board.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	since := w.SentAt.Add(-time.Minute).UTC().Truncate(time.Second)
	query := url.Values{"page_size": {"50"}}
	for range findPages {
		var list struct {
			Items []struct {
				ID          string `json:"id"`
				Title       string `json:"title"`
				Description string `json:"description"`
				Link        string `json:"link"`
				At          string `json:"created_at"`
			} `json:"items"`
			Bookmark string `json:"bookmark"`
		}
		err = p.read(ctx, w.Account.Token.Access, "/boards/"+url.PathEscape(w.Account.ID)+"/pins", query, &list)
		if platform.KindOf(err) == platform.BadContent {
			return ref, "", platform.Lost(err) // the pin may exist although Pinterest does not show it
		}
		if err != nil {
			return ref, "", err
		}
		older := false
		for _, i := range list.Items {
			at, err := timeOf(i.At)
			older = older || err == nil && at.Before(since)
			if err == nil && platform.Same(i.Title, w.Post.Title) && i.Link == link(w.Post) &&
				platform.Same(i.Description, w.Text()) && i.ID != "" && len(i.ID) <= longest &&
				!at.Before(since) {
				return refOf(i.ID), platform.StageDone, nil
			}
		}
		if older || list.Bookmark == "" {
			break
		}
		query.Set("bookmark", list.Bookmark)
	}
	return ref, platform.StageReconcile, nil
}

// timeOf reads a time of Pinterest, which is in UTC and may say so, also as "-00:00".
func timeOf(s string) (time.Time, error) {
	s, _, _ = strings.Cut(strings.TrimSuffix(s, "Z"), "-00:00")
	return time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(s, "+00:00"))
}

// Lookup implements platform.Finder. It lists the sections of the board.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, _ platform.LookupKind,
	_ string) (all []platform.LookupResult, err error) {
	err = p.pages(ctx, a.Token.Access, "/boards/"+url.PathEscape(a.ID)+"/sections",
		func(page []platform.LookupResult) bool {
			all = append(all, page...)
			return true
		})
	return all, err
}

// Edit implements platform.Editor. It replaces the description of a pin.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.PlacedPost, text string) error {
	call := p.Call(http.MethodPatch, "/pins/"+url.PathEscape(post.ID), a.Token.Access)
	call.JSON = map[string]string{"description": text}
	return p.Client.JSON(ctx, call, p.classify(changes), nil)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	call := p.Call(http.MethodDelete, "/pins/"+url.PathEscape(post.ID), a.Token.Access)
	err := p.Client.JSON(ctx, call, p.classify(reads), nil)
	return platform.Except(platform.CodePostNotFound, err)
}

// Metrics implements platform.Publisher. Pinterest counts the last 90 days. An impression counts as a view, too,
// because a pin has no other views.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (m platform.Metrics,
	err error) {
	now := p.Client.Now().UTC()
	var answer struct {
		All struct {
			Summary counts `json:"summary_metrics"`
		} `json:"all"`
	}
	err = p.read(ctx, a.Token.Access, "/pins/"+url.PathEscape(post.ID)+"/analytics", url.Values{
		"start_date": {now.AddDate(0, 0, -mostDays).Format(time.DateOnly)}, "end_date": {now.Format(time.DateOnly)},
		"metric_types": {"IMPRESSION,SAVE,PIN_CLICK,OUTBOUND_CLICK"}}, &answer)
	if err != nil {
		return m, err
	}
	return answer.All.Summary.metrics(), nil
}

// mostDays is how many days before the present one Pinterest counts.
const mostDays = 89

// counts are the figures of a pin or an account by their names.
type counts map[string]float64

func (c counts) metrics() (m platform.Metrics) {
	count := func(names ...string) *int64 {
		n := 0.0
		for _, name := range names {
			n += c[name]
		}
		return platform.Count(int64(n))
	}
	return platform.Metrics{Impressions: count("IMPRESSION"), Views: count("IMPRESSION"), Saves: count("SAVE"),
		Clicks: count("PIN_CLICK", "OUTBOUND_CLICK")}
}

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	var me struct {
		Followers *int64 `json:"follower_count"`
		Pins      *int64 `json:"pin_count"`
	}
	told := p.read(ctx, a.Token.Access, "/user_account", nil, &me)
	if told != nil && !platform.Untold(told) {
		return nil, told
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var answer struct {
		All struct {
			Daily []struct {
				Date    string `json:"date"`
				Metrics counts `json:"metrics"`
			} `json:"daily_metrics"`
		} `json:"all"`
	}
	err := p.read(ctx, a.Token.Access, "/user_account/analytics", url.Values{
		"start_date":   {days[0].Date.Format(time.DateOnly)},
		"end_date":     {days.Last().Date.Format(time.DateOnly)},
		"metric_types": {"IMPRESSION,SAVE,PIN_CLICK,OUTBOUND_CLICK"}}, &answer)
	if err != nil && (told != nil || !platform.Untold(err)) {
		return nil, err // else the other figures are known
	}
	for _, d := range answer.All.Daily {
		at, err := time.Parse(time.DateOnly, d.Date)
		if day := days.At(at); err == nil && day != nil && len(d.Metrics) > 0 {
			day.Metrics = d.Metrics.metrics()
		}
	}
	days.Last().Followers, days.Last().Posts = me.Followers, me.Pins
	return days, nil
}

// pastPage is the number of pins on a page of earlier pins.
const pastPage = 100

// PastPosts implements platform.PastReader. It lists the pins of the board, but for those of others that the owner has
// saved there.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"page_size": {strconv.Itoa(pastPage)}}
	if cursor != "" {
		query.Set("bookmark", cursor)
	}
	var answer struct {
		Items []struct {
			ID          string `json:"id"`
			Title       string `json:"title"`
			Description string `json:"description"`
			At          string `json:"created_at"`
			Own         bool   `json:"is_owner"`
			Media       struct {
				Type string `json:"media_type"`
			} `json:"media"`
		} `json:"items"`
		Bookmark string `json:"bookmark"`
	}
	if err := p.read(ctx, a.Token.Access, "/boards/"+url.PathEscape(a.ID)+"/pins", query, &answer); err != nil {
		return nil, "", err
	}
	for _, i := range answer.Items {
		at, err := timeOf(i.At)
		if err != nil || !i.Own || i.ID == "" || len(i.ID) > longest {
			continue
		}
		kind := platform.KindPost
		switch i.Media.Type {
		case "video":
			kind = platform.KindVideo
		case "multiple_images":
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: i.ID, Kind: kind, Text: cmp.Or(i.Description, i.Title), At: at})
	}
	return posts, answer.Bookmark, nil
}

// meaning is what a refusal of Pinterest means.
type meaning int

const (
	content meaning = iota + 1 // Pinterest refuses the pin
	other                      // Pinterest refuses a call, perhaps for what is in the pin
	again                      // Pinterest could not read a file, or had a fault
	pause                      // Pinterest takes no pins of the account for a while
	service                    // Pinterest does not let the service's application make pins
	right                      // the token lacks the right to make pins
	absent                     // Pinterest does not have what the call names
)

// refusal is an answer of Pinterest. A status or a code of 0 stands for any.
type refusal struct {
	status, code int
	message      string // part of the message, in lower case, or empty
	meaning
}

// refusals are the answers of Pinterest, the first that fits. Pinterest documents the statuses alone (openapi.yaml,
// v5.x); the codes and messages are those that publishers have met. Only right ends a connection, and only of a call
// that publishes. A 401 is that of the token: it is refreshed once.
var refusals = []refusal{
	{http.StatusUnauthorized, 3, "standard access", service}, // reports of publishers
	{http.StatusUnauthorized, 3, "consumer type", service},
	// 29 and 3: "Apps with Trial access may not create Pins in production".
	{http.StatusForbidden, 0, "trial access", service},
	{http.StatusForbidden, 0, "standard access", service},
	{http.StatusForbidden, 0, "consumer type", service},
	// 29: "Your token does not have sufficient permissions to perform this operation."
	{http.StatusForbidden, 0, "token does not have", right},
	{http.StatusForbidden, 0, "required scope", right},
	{http.StatusForbidden, 0, "insufficient scope", right},
	{http.StatusForbidden, 0, "missing scope", right},
	// postiz (pinterest.provider.ts): "… block (Pins) we have in place to combat spam …", which ends.
	{http.StatusForbidden, 0, "spam", pause},
	{http.StatusBadRequest, 0, "combat spam", pause},
	{http.StatusForbidden, 0, "", other}, // "Not authorized to access board or Pin." (openapi.yaml)
	// Pinterest reaches these addresses later (postiz; the code of the first is 1 or 235).
	{http.StatusBadRequest, 0, "unable to reach the url", again},
	{http.StatusBadRequest, 0, "could not fetch the image", again},
	{0, 0, "something went wrong on our end", again},
	{http.StatusConflict, 0, "", again},     // "Could not get exclusive access to the board …" (openapi.yaml)
	{http.StatusBadRequest, 1, "", content}, // "Invalid request", with the member
	{http.StatusBadRequest, 0, "", other},
	{http.StatusRequestEntityTooLarge, 0, "", content},
	{http.StatusNotFound, 0, "not found", absent}, // 40 "Board not found.", 50 "Pin not found."
}

// problem is the body of a refusal.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// problemOf reads a refusal, and returns what it means, or 0.
func problemOf(a wire.Answer) (b problem, m meaning) {
	if json.Unmarshal(a.Body, &b) != nil || b.Message == "" {
		return problem{}, 0
	}
	text := strings.ToLower(b.Message)
	for _, r := range refusals {
		if (r.status == 0 || r.status == a.Status) && (r.code == 0 || r.code == b.Code) &&
			strings.Contains(text, r.message) {
			return b, r.meaning
		}
	}
	return b, 0
}

// use is what a call is for.
type use int

const (
	reads    use = iota // of figures, boards and pins
	prepares            // uploads
	makes               // a pin
	changes             // the text of a pin
)

// classes makes the classification that wire asks for.
func (p *Platform) classes(posts bool) wire.Classifier {
	if posts {
		return p.classify(makes)
	}
	return p.classify(prepares)
}

// classify classifies the refusals of Pinterest of calls with a use.
func (p *Platform) classify(u use) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		_, m := problemOf(a)
		switch {
		case a.OK():
			return nil
		case a.Status == http.StatusTooManyRequests:
			return p.limitError(a)
		case a.Status >= http.StatusInternalServerError && u == makes:
			return nil // the pin may exist
		}
		return errorOf(m, u, a.Status)
	}
}

// errorOf returns the error of a refusal, or nil if its reason is not known.
func errorOf(m meaning, u use, status int) *platform.Error {
	switch {
	case m == again:
		return platform.Busy()
	case m == service && u != reads:
		return platform.Reject(platform.CodeNotConfigured, "Pinterest has given the service's application no access "+
			"to make pins yet.")
	case (u == reads || u == changes) && m == absent:
		return platform.Reject(platform.CodePostNotFound, "Pinterest does not have the pin or the board.")
	case u == reads && status == http.StatusForbidden:
		return platform.Reject(platform.CodeMissingPermission, "Pinterest does not let the application read this.")
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of Pinterest asks for.")
	case m == pause:
		return platform.Limited(time.Hour)
	case m == absent && u == prepares:
		return platform.Again(nil) // the upload is gone
	case m == absent:
		return platform.Reject(platform.CodeContentRefused, "Pinterest does not have the board or its section.")
	case m == other && u == prepares:
		return platform.Perhaps(platform.CodeMediaRefused, "Pinterest refuses the file.")
	case m == content && u == prepares:
		return platform.Reject(platform.CodeMediaRefused, "Pinterest refuses the file.")
	case m == content, m == other:
		return platform.Reject(platform.CodeContentRefused, "Pinterest refuses the pin.")
	}
	return nil
}

// limitError returns the error of a limit. Pinterest states the seconds until its end (Rate limits).
func (p *Platform) limitError(a wire.Answer) *platform.Error {
	if after, _ := p.Client.Wait(a, "X-RateLimit-Reset"); after > 0 && a.Header.Get("Retry-After") == "" {
		return platform.Limited(after)
	}
	return platform.Limited(0)
}

// grants are the words of messages about a code or a refresh token that is not valid.
var grants = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(token|grant|code|expired|revoked|authenticat\w+|authori[sz]\w+)\b`)
})

// classifyToken classifies refusals of the token endpoint, which differ from those of RFC 6749: a code or a refresh
// token that is not valid has the status 400, and an application the status 401.
func classifyToken(a wire.Answer) *platform.Error {
	if a.OK() {
		return nil
	}
	var body struct {
		problem
		Error string `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Message == "" && body.Error == "" {
		return wire.ClassifyOAuth(a)
	}
	text := strings.ToLower(body.Message)
	switch {
	case body.Error != "" || a.Status != http.StatusBadRequest && a.Status != http.StatusUnauthorized:
		return wire.ClassifyOAuth(a)
	case a.Status == http.StatusUnauthorized && !strings.Contains(text, "token"):
		return platform.Later(platform.CodeNotConfigured, "The platform refuses the service's application.")
	case strings.Contains(text, "missing") || strings.Contains(text, "grant_type"):
		return platform.Busy() // a fault of the service
	case grants().MatchString(text):
		return platform.Disconnected()
	}
	return platform.Busy()
}
