// Package linkedin publishes on LinkedIn: as a member, or as an organisation that the member administers.
//
// Files are uploaded first and stay invisible. One call makes the post. If its answer is lost, the outcome can be read
// for an organisation only: LinkedIn lets no application read the posts of members. Start with Platform in linkedin.go;
// publish.go makes posts.
package linkedin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
	Hashtags: platform.Hashtags{Max: 30, Written: true},
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
	Habits: platform.Habits{FirstLine: 200, Least: 300, Most: 1300, Hashtags: 3, Links: true,
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
		Scopes: capabilities.Scopes, Refused: tokenRefused,
	}}}
	p.Refused = p.classes
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
	names := map[string]named{}
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

// named has the names of an organisation.
type named struct {
	Name   string `json:"localizedName"`
	Vanity string `json:"vanityName"`
}

// names reads the names of organisations with one call, and those that it does not tell one by one. An organisation
// whose name LinkedIn does not show can be connected nevertheless.
func (p *Platform) names(ctx context.Context, token platform.Token, ids []string, into map[string]named) error {
	var answer struct {
		Results map[string]named `json:"results"`
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
		var o named
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
	return p.Client.JSON(ctx, call, p.refused(reads, false), out)
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
	err = p.Client.JSON(ctx, call, tokenRefused, nil)
	if platform.KindOf(err) == platform.Reconnect {
		return nil // the token has ended already
	}
	return err
}

var errIncomplete = errors.New("a member is missing")
