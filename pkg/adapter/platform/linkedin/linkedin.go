// Package linkedin publishes on LinkedIn: as a member, or as an organisation that the member administers.
//
// Files are uploaded first and stay invisible. One call makes the post. If its answer is lost, the outcome can be read
// for an organisation only: LinkedIn lets no application read the posts of members. Start with Platform in linkedin.go;
// publish.go makes posts.
package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
const Name = "linkedin"

// The platform's addresses.
const (
	site = "https://www.linkedin.com"
	api  = "https://api.linkedin.com"
)

// version is the month of the interface.
var version = platform.Versions[Name].Name

const (
	member       = "urn:li:person:"
	organization = "urn:li:organization:"
)

var (
	image = &platform.File{MIMEs: []string{"image/jpeg", "image/png"}, MaxBytes: 20 << 20,
		MaxPixels: 36_152_320 - 1}
	// LinkedIn takes videos of 500 MB. All parts of one are uploaded in one step.
	video = &platform.File{MIMEs: []string{"video/mp4"}, MaxBytes: 200 << 20, MinRatio: 1 / 2.4,
		MaxRatio: 2.4, MinShort: 144, MaxShort: 2304, MaxLong: 4096, MinTime: 3 * time.Second,
		MaxTime: 30 * time.Minute}

	caption = platform.Text{Max: 3000}
	noAlt   = []platform.Option{platform.OptionAlt}
)

// These options are members of the shape of LinkedIn alone.
const (
	OptionDocument platform.Option = "document"
	OptionReshare  platform.Option = "reshare_of"
	OptionMentions platform.Option = "mentions"
)

var (
	notCarousel = []platform.Option{OptionDocument}
	ofText      = []platform.Option{platform.OptionPoll, OptionReshare}
	ofVideos    = slices.Concat(noAlt, notCarousel, ofText)
)

var capabilities = platform.Capabilities{
	Label:   "LinkedIn",
	Connect: platform.ConnectOAuth,
	Scopes:  []string{"openid", "profile", "w_member_social"},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost:      {Caption: caption, MaxMedia: 1, Image: image, Without: notCarousel},
		platform.KindVideo:     {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video, Without: ofVideos},
		platform.KindMusicClip: {Caption: caption, MinMedia: 1, MaxMedia: 1, Video: video, Without: ofVideos},
		platform.KindCarousel:  {Caption: caption, MinMedia: 2, MaxMedia: 20, Image: image, Without: ofText},
	},
	Origin: platform.Origin{Reads: []platform.Mark{platform.MarkC2PA},
		Source: "https://www.linkedin.com/help/linkedin/answer/a6282984"},
	Hashtags: platform.Hashtags{Max: 30, InCaption: true},
	Alt:      platform.Text{Max: 4086},
	Comment:  platform.Text{Max: 1250},
	Comments: platform.Commenting{Reads: true, Replies: true, Deletes: true, Text: platform.Text{Max: 1250},
		ReadAt: platform.RisingReads},
	Options: []platform.Option{platform.OptionAlt, platform.OptionFirstComment, platform.OptionPrivacy,
		OptionDocument, platform.OptionPoll, OptionReshare, OptionMentions},
	Refuses:   refuses,
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public, platform.Friends},
	Metrics:   []string{"impressions", "reach", "likes", "comments", "shares", "clicks"},
	Account: platform.AccountFigures{Names: []string{"followers", "followers_gained", "impressions", "reach", "likes",
		"comments", "shares", "clicks"}, History: true},
	Past:    platform.Past{Page: pastPage},
	Edits:   true,
	Deletes: true,
	Lookups: []platform.Lookup{{Kind: platform.LookupMember, Searches: true},
		{Kind: platform.LookupOrganization, Searches: true}},
	Habits: platform.Habits{FirstLine: 200, MinCaption: 300, MaxCaption: 1300, Hashtags: 3, Links: true,
		Hours: []int{10, 8, 12, 16}, WeekendHours: []int{11, 17},
		Action: "to answer a question of the trade, or to share an experience in a comment",
		Form: "The first two lines make the claim in at most 200 characters, without a greeting, and the " +
			"second one makes readers want the third. Then an empty line, and paragraphs of one or two " +
			"sentences with an empty line after each."},
	Notes: []string{
		"An account is a member. If the operator's application has the Community Management API, organisations for " +
			"which the member may post can be connected, too.",
		"Members are found among the followers of a connected organisation, with the right r_organization_followers; " +
			"organisations by the name in the address of their page.",
		"The privacy friends is that of the member's connections. Organisations post publicly.",
		"With the option document, the images of a carousel are the pages of a PDF.",
		"Reactions and comments are counted with the right " + commentScope + ", or with the other rights to figures.",
		"If the answer to a post of a member is lost, the publication ends as outcome_unknown: LinkedIn lets nobody " +
			"read the posts of members.",
		"Comments on posts of organisations are read, answered and deleted. Those of members are not read, unless " +
			"LinkedIn has granted the application the right " + commentScope + ". The author of a comment is named " +
			"by a URN.",
		"LinkedIn has no mark for content that was made by AI, and adds its own to files with Content Credentials.",
		"impressions, reach and shares need the right " + adminScope + " for posts of organisations, and " +
			memberScope + " for those of members, which the scopes of the operator's application have to name. " +
			"clicks and the figures of accounts are those of organisations only, and follow after two days.",
		"Access ends after 60 days, unless LinkedIn lets the operator's application extend it.",
	},
}

// Platform is LinkedIn.
type Platform struct {
	wire.Connector
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	p := &Platform{Connector: wire.Connector{API: wire.API{
		Client: c, Root: c.Base(api),
		Header: http.Header{"Linkedin-Version": {version}, "X-Restli-Protocol-Version": {"2.0.0"}},
	}, OAuth: wire.OAuth{
		Authorize: c.Base(site) + "/oauth/v2/authorization", Token: c.Base(site) + "/oauth/v2/accessToken",
		Scopes: capabilities.Scopes, Classify: classifyToken,
	}}}
	p.Classify = p.classes
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// Connect implements platform.Connector. It returns the member, and the organisations that the member
// administers if the application may post for them.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	token, err := p.Client.Grant(ctx, p.OAuth, g, capabilities.Label)
	if err != nil {
		return nil, err
	}
	if token.Refresh == "" {
		// LinkedIn extends access only for approved applications.
		token.EndsAt, token.ExpiresAt = token.ExpiresAt, time.Time{}
	}
	var me struct {
		ID      string `json:"sub"`
		Name    string `json:"name"`
		Picture string `json:"picture"`
	}
	if err := p.Get(ctx, token.Access, "/v2/userinfo", nil, &me); err != nil {
		return nil, err
	}
	if me.ID == "" {
		return nil, platform.Busy().Because(errIncomplete)
	}
	all := []platform.Account{{ID: member + me.ID, Name: me.Name, AvatarURL: me.Picture, Token: token}}
	if slices.Contains(token.Scopes, "w_organization_social") {
		organizations, err := p.organizations(ctx, token)
		if err != nil {
			return nil, err
		}
		all = append(all, organizations...)
	}
	if g.Choice != "" {
		all = slices.DeleteFunc(all, func(a platform.Account) bool { return a.ID != g.Choice })
	}
	if len(all) == 0 {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect, "The login does not administer the chosen "+
			"organisation.")
	}
	return all, nil
}

// roles are the roles of an organisation that may post for it (Posts API: w_organization_social; Organization Access
// Control by Role). Its pages have both names for the administrator of the content.
var roles = []string{"ADMINISTRATOR", "CONTENT_ADMINISTRATOR", "CONTENT_ADMIN", "DIRECT_SPONSORED_CONTENT_POSTER",
	"RECRUITING_POSTER"}

const (
	rolePage = 100 // roles on a page
	// mostRolePages bounds the pages of roles, and nameBatch the organisations whose names one call reads.
	mostRolePages = 50
	nameBatch     = 50
)

// paging says where a list of LinkedIn continues.
type paging struct {
	Start int  `json:"start"`
	Total *int `json:"total"`
	Links []struct {
		Rel string `json:"rel"`
	} `json:"links"`
}

// more reports whether a list continues after a page with n elements, of which the call has asked for up to most.
func (p paging) more(start, n, most int) bool {
	for _, l := range p.Links {
		if l.Rel == "next" {
			return n > 0
		}
	}
	return n > 0 && (p.Total != nil && start+n < *p.Total || p.Total == nil && n >= most)
}

// organizations returns the organisations for which a member may post. Without the right to list roles there are none.
func (p *Platform) organizations(ctx context.Context, token platform.Token) (all []platform.Account, err error) {
	var ids []string
	start := 0
	for range mostRolePages {
		var page struct {
			Elements []struct {
				URN    string `json:"organization"`
				Target string `json:"organizationTarget"` // in older versions
				Role   string `json:"role"`
				State  string `json:"state"`
			} `json:"elements"`
			Paging paging `json:"paging"`
		}
		err := p.read(ctx, token.Access, "/rest/organizationAcls", url.Values{"q": {"roleAssignee"},
			"state": {"APPROVED"},
			"start": {strconv.Itoa(start)}, "count": {strconv.Itoa(rolePage)}}, &page)
		if platform.Denied(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, e := range page.Elements {
			id, ok := strings.CutPrefix(cmp.Or(e.URN, e.Target), organization)
			posts := e.Role == "" || slices.Contains(roles, e.Role)
			if ok && posts && (e.State == "" || e.State == "APPROVED") && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		if !page.Paging.more(start, len(page.Elements), rolePage) {
			break
		}
		start += len(page.Elements)
	}
	names := map[string]names{}
	for batch := range slices.Chunk(ids, nameBatch) {
		if err := p.names(ctx, token, batch, names); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		o := names[id]
		all = append(all, platform.Account{ID: organization + id, Handle: o.Vanity, Name: cmp.Or(o.Name, o.Vanity,
			"Organisation "+id), Token: token})
	}
	return all, nil
}

// names has the names of an organisation.
type names struct {
	Name   string `json:"localizedName"`
	Vanity string `json:"vanityName"`
}

// names reads the names of organisations with one call, and those that it does not tell one by one. An organisation
// whose name LinkedIn does not show can be connected nevertheless.
func (p *Platform) names(ctx context.Context, token platform.Token, ids []string, into map[string]names) error {
	var answer struct {
		Results map[string]names `json:"results"`
	}
	a := platform.Account{Token: token}
	err := p.query(ctx, a, "/rest/organizationsLookup", "ids=List("+strings.Join(ids, ",")+")", &answer)
	if err != nil && !platform.Untold(err) {
		return err
	}
	for _, id := range ids {
		if o, ok := answer.Results[id]; ok {
			into[id] = o
			continue
		}
		var o names
		err := p.read(ctx, token.Access, "/rest/organizations/"+url.PathEscape(id), nil, &o)
		if err != nil && !platform.Untold(err) {
			return err
		}
		into[id] = o
	}
	return nil
}

// read makes a call that reads. A refusal of it says nothing about the right to publish.
func (p *Platform) read(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	call := p.Call(http.MethodGet, path, token)
	call.Query = query
	return p.Client.JSON(ctx, call, p.classify(reads, false), out)
}

// Revoke implements platform.Connector.
func (p *Platform) Revoke(ctx context.Context, a platform.Account) error {
	app, err := p.Client.App(ctx)
	if err != nil {
		return err
	}
	call := wire.Call{Name: "revoke", Method: http.MethodPost, URL: p.Client.Base(site) + "/oauth/v2/revoke",
		Form: url.Values{"client_id": {app.ID}, "client_secret": {app.Secret.Reveal()},
			"token": {a.Token.Access.Reveal()}}, Secrets: []platform.Secret{app.Secret, a.Token.Access}}
	return platform.Revoked(p.Client.JSON(ctx, call, classifyToken, nil))
}

var errIncomplete = errors.New("a member is missing")

// Lookup implements platform.Finder. It finds members among the followers of the organisation that is connected, and
// organisations by the name in the address of their page.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, kind platform.LookupKind,
	text string) ([]platform.LookupResult, error) {
	if kind == platform.LookupOrganization {
		return p.findOrganizations(ctx, a, text)
	}
	if !strings.HasPrefix(a.ID, organization) {
		return nil, platform.Reject(platform.CodeInvalidOption, "LinkedIn finds members among the followers of an "+
			"organisation: name the account of an organisation.")
	}
	var answer struct {
		Elements []struct {
			Member   string `json:"member"`
			First    string `json:"firstName"`
			Last     string `json:"lastName"`
			Headline string `json:"headline"`
		} `json:"elements"`
	}
	err := p.read(ctx, a.Token.Access, "/rest/peopleTypeahead", url.Values{"q": {"organizationFollowers"},
		"keywords": {text}, "organization": {a.ID}}, &answer)
	var all []platform.LookupResult
	for _, e := range answer.Elements {
		if strings.HasPrefix(e.Member, member) {
			all = append(all, platform.LookupResult{ID: e.Member, Name: strings.TrimSpace(e.First + " " + e.Last),
				Detail: e.Headline})
		}
	}
	return all, err
}

func (p *Platform) findOrganizations(ctx context.Context, a platform.Account,
	text string) (all []platform.LookupResult, err error) {
	vanity := text
	if _, after, ok := strings.Cut(text, "/company/"); ok {
		vanity, _, _ = strings.Cut(after, "/")
	}
	var answer struct {
		Elements []struct {
			ID     int64  `json:"id"`
			Name   string `json:"localizedName"`
			Vanity string `json:"vanityName"`
		} `json:"elements"`
	}
	err = p.read(ctx, a.Token.Access, "/rest/organizations", url.Values{"q": {"vanityName"},
		"vanityName": {strings.ToLower(vanity)}}, &answer)
	for _, e := range answer.Elements {
		all = append(all, platform.LookupResult{ID: organization + strconv.FormatInt(e.ID, 10), Name: e.Name,
			Detail: site + "/company/" + e.Vanity})
	}
	return all, err
}

// meaning is what a refusal of LinkedIn means.
type meaning int

const (
	content   meaning = iota + 1 // LinkedIn refuses the post
	invalid                      // LinkedIn refuses a request, perhaps for what is in the post
	file                         // LinkedIn could not process a file
	waits                        // a file is not ready yet
	restart                      // what was uploaded is gone
	duplicate                    // the author has an equal post
	right                        // the token, or its member for the organisation, lacks the right
	absent                       // LinkedIn does not have what the call names
)

// refusal is an answer of LinkedIn. Its code is that of the answer or that of its first input error.
type refusal struct {
	status  int
	code    string // or empty
	message string // part of the message, or empty
	meaning
}

// refusals are the answers of LinkedIn, the first that fits. "Posts API", "Images API", "Videos API" and "Error
// handling" are pages of learn.microsoft.com/linkedin; a number is that of a public report. Only right ends a
// connection, and only of a call that publishes. A 401 is that of the token: it is refreshed once.
var refusals = []refusal{
	// ACCESS_DENIED has three forms. "Not enough permissions to access: posts.CREATE" names a scope that is missing
	// (Error handling; linkedin-api-python-client #47); with a URN in place of the call, it is about that post (Data
	// restrictions). "…while processing fields [/author]": the member may not post for the author (reports of
	// publishers); other fields are parts of the post.
	{http.StatusForbidden, "", "Not enough permissions to access urn:", content},
	{http.StatusForbidden, "", "Not enough permissions to access: ", right},
	{http.StatusForbidden, "", "[/author]", right},
	{http.StatusForbidden, "", "processing fields [/", content},
	{http.StatusForbidden, "ACCESS_DENIED", "", right}, // Posts API
	// Linkedin-RSS #5, composio #2710: "Content is a duplicate of urn:li:share:…".
	{http.StatusUnprocessableEntity, "DUPLICATE_POST", "", duplicate},
	{http.StatusUnprocessableEntity, "", "duplicate of urn:li:", duplicate},
	{http.StatusBadRequest, "MEDIA_ASSET_PROCESSING_FAILED", "", file}, // Videos API, Posts API
	{http.StatusBadRequest, "MEDIA_ASSET_WAITING_UPLOAD", "", waits},
	{http.StatusBadRequest, "EXPIRED_UPLOAD_URL", "", restart},
	// Posts API: INVALID_URN_TYPE, INVALID_URN_ID, MISSING_FIELD, FIELD_LENGTH_TOO_LONG, INVALID_VALUE_FOR_FIELD, ….
	{http.StatusBadRequest, "INVALID_", "", content},
	{http.StatusBadRequest, "MISSING_FIELD", "", content},
	{http.StatusBadRequest, "FIELD_LENGTH", "", content},
	{http.StatusBadRequest, "", "", invalid},
	{http.StatusUnprocessableEntity, "", "", invalid},
	{http.StatusRequestEntityTooLarge, "", "", file},
	{http.StatusNotFound, "", "", absent},
	{http.StatusGone, "", "", absent},
}

// problem is the body of a refusal.
type problem struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Details struct {
		Inputs []struct {
			Code        string `json:"code"`
			Description string `json:"description"`
		} `json:"inputErrors"`
	} `json:"errorDetails"`
}

// problemOf reads a refusal, and returns what it means, or 0. LinkedIn names some codes in the message alone.
func problemOf(a wire.Answer) (b problem, m meaning) {
	if json.Unmarshal(a.Body, &b) != nil {
		return problem{}, 0
	}
	codes := []string{b.Code, b.Message}
	for _, in := range b.Details.Inputs {
		codes = append(codes, in.Code)
	}
	text := strings.Join(codes, "\n")
	for _, r := range refusals {
		if r.status == a.Status && strings.Contains(text, r.code) && strings.Contains(b.Message, r.message) &&
			(r.meaning != absent || b.Status == a.Status) { // a proxy does not know what LinkedIn has
			return b, r.meaning
		}
	}
	return b, 0
}

// words returns LinkedIn's explanation. Its messages begin with the names of its own errors.
func (b problem) words() string {
	said := exceptions().ReplaceAllString(b.Message, "")
	if said == "" && len(b.Details.Inputs) > 0 {
		said = b.Details.Inputs[0].Description
	}
	return said
}

// exceptions are the names of errors at the beginning of a message.
var exceptions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:com\.linkedin\.[\w.]+: )+`) })

// use is what a call is for.
type use int

const (
	reads     use = iota // figures and earlier posts
	publishes            // uploads, and the call that makes the post
	changes              // the text of a post
)

// classes makes the classification that wire asks for.
func (p *Platform) classes(posts bool) wire.Classifier { return p.classify(publishes, posts) }

// classify classifies the refusals of LinkedIn of calls with a use; posts reports whether the call may have made a
// post.
func (p *Platform) classify(u use, posts bool) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		b, m := problemOf(a)
		switch {
		case a.OK() || a.Status >= http.StatusInternalServerError:
			return nil
		case a.Status == http.StatusUnauthorized:
			return platform.TokenExpired()
		case a.Status == http.StatusTooManyRequests:
			return p.limitError(a, b)
		case a.Status == http.StatusUpgradeRequired:
			return platform.Later(platform.CodePlatformUnavailable, "LinkedIn has ended the version of its interface.")
		}
		e := errorOf(m, u, posts, b)
		if u == reads && a.Status == http.StatusForbidden {
			e = deniedError()
		}
		if e != nil {
			e.Saying(b.words())
		}
		return e
	}
}

// errorOf returns the error of a refusal, or nil if its reason is not known.
func errorOf(m meaning, u use, posts bool, b problem) *platform.Error {
	switch {
	case m == right:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all that "+
			"the page of LinkedIn asks for. For an organisation, have a role that may post.")
	case m == absent && u != publishes:
		return platform.Reject(platform.CodePostNotFound, "LinkedIn does not have the post.")
	case m == duplicate:
		return platform.Reject(platform.CodeContentRefused, "LinkedIn refuses the post: an equal one exists already, "+
			twin(b.Message)+".")
	case m == waits:
		return platform.Later(platform.CodePlatformUnavailable, "LinkedIn has not processed a file "+
			"yet.").WithWait(processing)
	case m == restart, m == absent && !posts:
		return platform.Again(nil)
	case m == file:
		return platform.Reject(platform.CodeMediaRefused, "LinkedIn could not process the file.")
	case m == invalid && u == publishes && !posts:
		return platform.Perhaps(platform.CodeMediaRefused, "LinkedIn refuses the file.")
	case m == invalid && !posts:
		return platform.Odd()
	case m == content && u == publishes && !posts:
		return platform.Reject(platform.CodeMediaRefused, "LinkedIn refuses the file.")
	case m == content, m == invalid:
		return platform.Reject(platform.CodeContentRefused, "LinkedIn refuses the post.")
	}
	return nil
}

// deniedError returns the error of figures for which the token lacks the right. The account publishes nevertheless.
func deniedError() *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "LinkedIn does not let the application read this.")
}

// limitError returns the error of a limit. Those of LinkedIn are of a day, which ends at midnight UTC (Rate limits).
func (p *Platform) limitError(a wire.Answer, b problem) *platform.Error {
	if a.Header.Get("Retry-After") != "" {
		return platform.Limited(0).Saying(b.words())
	}
	now := p.Client.Now()
	return platform.Full(platform.Midnight(now).AddDate(0, 0, 1).Sub(now)).Saying(b.words())
}

// urns are the URNs of posts.
var urns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`urn:li:(?:share|ugcPost|activity):([0-9]{1,20})`)
})

// twin returns the URN of the equal post that a refusal names, or words for it.
func twin(message string) string {
	if urn := urns().FindString(message); urn != "" {
		return urn
	}
	return "which LinkedIn does not name"
}

// bornAt returns the time of a post from its URN: the number of LinkedIn's posts has the milliseconds above its lowest
// 22 bits.
func bornAt(urn string) time.Time {
	var n uint64
	if found := urns().FindStringSubmatch(urn); found != nil {
		n, _ = strconv.ParseUint(found[1], 10, 64) // 0 is long ago
	}
	return time.UnixMilli(int64(n >> 22))
}

// classifyToken classifies refusals of the token endpoint. LinkedIn answers invalid_request to codes and refresh tokens
// that are not valid (Authorization code flow, Refresh tokens with OAuth 2.0).
func classifyToken(a wire.Answer) *platform.Error {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	final := a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
	if json.Unmarshal(a.Body, &body) != nil || !final {
		return wire.ClassifyOAuth(a)
	}
	said := strings.ToLower(body.Description)
	switch {
	case strings.Contains(said, "is missing"):
		return platform.Busy() // a fault of the service
	case body.Error == "invalid_request" && (strings.Contains(said, "authorization code") ||
		strings.Contains(said, "authorization grant") || strings.Contains(said, "refresh token")):
		return platform.Disconnected()
	case body.Error == "invalid_client_id", body.Error == "invalid_client_secret", body.Error == "invalid_client":
		return platform.Later(platform.CodeNotConfigured, "The platform refuses the service's application.")
	}
	return wire.ClassifyOAuth(a)
}
