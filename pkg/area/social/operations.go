// Package social holds the operations on social accounts: connecting them to the platforms, and attaching them to
// factories. Service.Register in operations.go has the operations, and Record in account.go what is stored.
package social

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service connects social accounts.
type Service struct {
	db        *store.DB
	platforms *Platforms
	vault     Vault
	secret    seal.Secret // signs the states of authorizations
	now       func() time.Time
	random    io.Reader
	audit     httpapi.Recorder // for the ends of authorizations

	accounts     *kind.Kind[Record]
	applications *kind.Kind[applicationRecord]
}

var accounts = kind.Kind[Record]{Name: Kind, ID: id.SocialAccount, Path: "/v1/social/accounts/{social_account_id}",
	Function: "social", Tag: "Social accounts", Reads: auth.SocialManage, Writes: auth.SocialManage}

// NewService returns the service. It makes no call.
func NewService(db *store.DB, audit httpapi.Recorder, platforms *Platforms, vault Vault,
	secret seal.Secret, now func() time.Time, random io.Reader) *Service {
	return &Service{db, platforms, vault, secret, now, random, audit, accounts.On(db, now), applications.On(db, now)}
}

// Open opens the service of a function.
func Open(e area.Env) *Service {
	return NewService(e.DB, e.Audit, OpenPlatforms(e), Vault{Envelope: e.Envelope, DB: e.DB}, e.Seal, e.Now, e.Random)
}

// OpenPlatforms returns the adapters of a function.
func OpenPlatforms(e area.Env) *Platforms {
	c := PlatformsConfig{Endpoint: e.PlatformEndpoint, Now: e.Now, Only: e.Platforms}
	if e.Apps != nil {
		c.Apps = NewApps(e.Apps, e.Now).Get
	}
	return NewPlatforms(c)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { Open(e).Register(r) }

// maxLine bounds the letters of a text of a platform.
const maxLine = 200

// fill copies the platform's description of the account. The texts are untrusted data: they are
// cut, and the service never calls their addresses.
func fill(r *Record, a platform.Account) {
	r.PlatformID, r.Handle = a.ID, resource.Text(text.ClipLine(a.Handle, maxLine))
	r.DisplayName = resource.Text(text.ClipLine(a.Name, maxLine))
	r.AvatarURL = nil
	if strings.HasPrefix(a.AvatarURL, "https://") && len(a.AvatarURL) <= 2048 {
		r.AvatarURL = &a.AvatarURL
	}
}

// invalidState returns the error of an operation that the state of the account does not permit.
func invalidState(r *Record, message string, allowed ...string) error {
	return errs.New(errs.InvalidState, "%s", message).In(string(r.State), allowed...)
}

type connectInput struct {
	Body connectBody
}

type disconnectInput struct {
	httpapi.IfMatch
	// Whether to disconnect an account that items are scheduled to. It is removed from them; an item without another
	// account is unscheduled.
	Force bool `query:"force"`
}

type attachInput struct {
	// Id of the social account.
	ID string `path:"social_account_id" example:"soc_01h455vb4pex5vsknk084sn02q"`
	httpapi.IfMatch
	// Id of the factory.
	FactoryID string `path:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	httpapi.Search
	// Only accounts of these platforms, separated by commas.
	Platform []string `query:"platform" filter:"platform" format:"platform" nullable:"false"`
	// Only accounts in these states, separated by commas.
	State []string `query:"state" filter:"state" enum:"pending,connected,needs_reconnect,disconnected" nullable:"false"`
	// Only accounts of this factory.
	FactoryID string `query:"factory_id"`
	// Only accounts that were connected with this application.
	ApplicationID string `query:"application_id"`
}

// Register adds the operations of the area to the router.
func (s *Service) Register(r *httpapi.Router) {
	const attached = "/v1/factories/{factory_id}/social-accounts/{social_account_id}"
	op := httpapi.ScopedOps("social", "Social accounts", auth.SocialManage)
	platforms := op("listPlatforms", http.MethodGet, "/v1/social/platforms", "List the platforms",
		"The platforms, with what each takes and how an account is connected. An account of a platform that is not "+
			"`configured` cannot be connected.").Opening(httpapi.Nothing)
	platforms.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, platforms, s.listPlatforms)

	kind.List(r, s.accounts, httpapi.Op{ID: "listSocialAccounts", Summary: "List the social accounts",
		Description: "Newest first."}, view, serving)
	httpapi.Write(r, s.accounts.Op(httpapi.Op{ID: "connectSocialAccount", Summary: "Connect a social account",
		Description: "What to send depends on the platform's `connect`, see listPlatforms:\n\n" +
			"- `oauth2`: the account is `pending`. Its owner opens `authorization_url` in a browser within 30 " +
			"minutes and grants access. Where they have several pages or channels, they choose one; a `channel` in " +
			"the request chooses it before. Then the account is `connected`, and the event " +
			"`social_account.connected` is sent. With a test key no platform asks: open `authorization_url`.\n" +
			"- `bot_token`: send `bot_token` and `channel`. The account is `connected` at once.\n" +
			"- `password`: send `username` and `password`. The password is used once and not stored. The account is " +
			"`connected` at once. After 10 refused passwords of a user name within an hour, or 50 of all user names, " +
			"the answer is `rate_limited`.\n\n" +
			"To connect an account again, such as one in state `needs_reconnect`, send its `social_account_id`. It " +
			"is connected with the newest of your own applications, see createApplication, or else with that of the " +
			"operator. Connecting an account of a platform that is connected already returns or updates that " +
			"account: there is never a second one.", Opens: httpapi.Address | httpapi.Credential,
		Errors: []errs.Code{errs.NotFound, errs.InvalidState}}, http.MethodPost, "/v1/social/accounts"), s.connect)
	kind.Get(r, s.accounts, httpapi.Op{ID: "getSocialAccount", Summary: "Get a social account"}, view)
	httpapi.Write(r, s.accounts.Op(httpapi.Op{ID: "disconnectSocialAccount", Summary: "Disconnect a social account",
		Description: "Its tokens are deleted here and revoked at the platform, where the platform can do that. It is " +
			"detached from its factories. An account that items are scheduled to is disconnected with `force=true` " +
			"only. The response shows the account in state `disconnected`; it is deleted after 90 days. Connecting " +
			"the same account of the platform before revives it.", Errors: []errs.Code{errs.InvalidState}},
		http.MethodDelete, accounts.Path), s.disconnect)

	attach := op("attachSocialAccount", http.MethodPut, attached, "Attach a social account to a factory",
		"The factory publishes to it from now on, unless a request names other accounts. An account may serve "+
			"several factories. Attaching it again changes nothing. `If-Match` takes the ETag of the account.").
		Opening(httpapi.Publishing)
	attach.Errors = []errs.Code{errs.InvalidState, errs.VersionMismatch}
	httpapi.Write(r, attach, s.attach)

	detach := op("detachSocialAccount", http.MethodDelete, attached, "Detach a social account from a factory",
		"What is scheduled to the account stays scheduled. Detaching it again changes nothing. `If-Match` takes the "+
			"ETag of the account.").Opening(httpapi.Deletion)
	detach.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, detach, s.detach)
	s.registerApplications(r)
	s.registerCreator(r)
	s.registerLookup(r)
}

// view returns an account as the caller sees it.
func view(_ context.Context, f *kind.Found[Record]) (Account, error) { return f.Record.View(), nil }

// serving bounds a list to the accounts of a factory, and to those of an application.
func serving(_ context.Context, in *listInput, q *store.Query) error {
	if in.FactoryID != "" {
		q.Filters[FactoryFilter(in.FactoryID)] = "yes"
	}
	if in.ApplicationID != "" {
		q.Filters[applicationFilter] = in.ApplicationID
	}
	return nil
}

func (s *Service) disconnect(ctx context.Context, tx *store.Tx, in *disconnectInput) (out Account, err error) {
	accountID := httpapi.PathID(ctx)
	f, err := s.accounts.FindWith(ctx, accountID, []httpapi.IfMatch{in.IfMatch}, ScheduledKey(accountID))
	if err != nil {
		return out, err
	}
	r := f.Record
	if r.State == Disconnected {
		return r.View(), nil
	}
	scheduled := f.Beside[0].Count()
	if scheduled > 0 && !in.Force {
		return out, invalidState(r, "Items are scheduled to the account, or are being published to it. Unschedule "+
			"them, or repeat the request with force=true.", "disconnect with force=true")
	}
	if !in.Force {
		tx.CounterIs(ScheduledKey(r.ID), scheduled)
	}
	if err := r.Disconnect(tx, s.now(), f.Item); err != nil {
		return out, err
	}
	return r.View(), nil
}

// both reads a factory and an account of the caller.
func (s *Service) both(ctx context.Context, in *attachInput) (of, it store.Item, r Record, err error) {
	if !id.Valid(id.Factory, in.FactoryID) {
		return of, it, r, errs.Missing(factoryrecord.Kind, in.FactoryID)
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.SocialAccount, []string{in.ID},
		factoryrecord.Key(in.FactoryID))
	if err != nil {
		return of, it, r, err
	}
	if of = beside[0]; !factoryrecord.Usable(of, auth.FromContext(ctx).Owner) {
		return of, it, r, errs.Missing(factoryrecord.Kind, in.FactoryID)
	}
	it, ok := found[in.ID]
	if !ok {
		return of, it, r, errs.Missing(Kind, in.ID)
	}
	if it.Owner != of.Owner {
		return of, it, r, errs.Invalid("social_account_id", "is of another profile than the factory")
	}
	r, err = Decode(&it)
	return of, it, r, err
}

func (s *Service) attach(ctx context.Context, tx *store.Tx, in *attachInput) (out Account, err error) {
	of, it, r, err := s.both(ctx, in)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	if r.State == Disconnected {
		return out, invalidState(&r, "The account is disconnected. Connect it again first.", "connect")
	}
	added := r.Attach(in.FactoryID)
	changed, err := factoryrecord.Attach(&of, r.ID, s.now())
	if err != nil {
		return out, err
	}
	if changed && !auth.FromContext(ctx).Has(auth.ContentPublish) {
		factory.Steer(&of)
	}
	ids, err := factoryrecord.Accounts(&of)
	switch {
	case err != nil:
		return out, err
	case changed && len(ids) > MaxPerFactory:
		return out, invalidState(&r, "The factory already has the most accounts that it can have. Detach another one "+
			"first.", "detach")
	case added && len(r.FactoryIDs) > MaxFactories:
		return out, invalidState(&r, "The account already serves the most factories that it can serve. Detach it from "+
			"another one first.", "detach")
	}
	return s.replaceBoth(tx, of, it, &r, changed, added)
}

func (s *Service) detach(ctx context.Context, tx *store.Tx, in *attachInput) (out Account, err error) {
	of, it, r, err := s.both(ctx, in)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	changed, err := factoryrecord.Detach(&of, r.ID, s.now())
	if err != nil {
		return out, err
	}
	return s.replaceBoth(tx, of, it, &r, changed, r.Detach(in.FactoryID))
}

// replaceBoth adds a factory and an account to the transaction, each only if it has changed.
func (s *Service) replaceBoth(tx *store.Tx, of, it store.Item, r *Record, factoryChanged,
	changed bool) (Account, error) {
	if factoryChanged {
		tx.Replace(of)
		if err := factory.NotifyItem(tx, of); err != nil {
			return Account{}, err
		}
	}
	if changed {
		if err := r.Replace(tx, s.now(), it, ""); err != nil {
			return Account{}, err
		}
	}
	return r.View(), nil
}

type platformsInput struct {
	httpapi.SliceInput
}

// Platform is a platform as callers see it.
type Platform struct {
	// Id of the platform.
	ID string `json:"id"`
	// Name of the platform.
	Name string `json:"name" example:"YouTube"`
	// How an account is connected: see connectSocialAccount.
	Connect string `json:"connect" enum:"oauth2,bot_token,password"`
	// Whether accounts can be connected: the operator of the service, or you, have an application with the platform,
	// where it needs one: see createApplication.
	Configured bool `json:"configured"`
	// Whether the platform documents its interface badly, so that it may stop working without notice.
	Beta bool `json:"beta"`
	// What each kind of content may have.
	Accepts []Accept `json:"accepts" nullable:"false"`
	// Maximum number of hashtags. 0: none.
	MaxTags int `json:"max_hashtags"`
	// Options that publishing to the platform takes.
	Options []string `json:"options" nullable:"false"`
	// Values of the option privacy. The first is the default.
	Privacies []string `json:"privacies" nullable:"false"`
	// Metrics that the platform has.
	Metrics []string `json:"metrics" nullable:"false"`
	// Members of listAccountMetrics that the platform has.
	AccountHas []string `json:"account_metrics" nullable:"false"`
	// Whether the platform tells the figures of an account of earlier days. Otherwise, they are read once a day from
	// the connection on.
	History bool `json:"account_history"`
	// Whether the platform lists the posts that an account has had before it was connected, for importPosts.
	Past bool `json:"past_posts"`
	// Whether media may show no logo and no name of a brand. Finished media of a factory with an account of the
	// platform are made without, unless its logo_places say otherwise, and others are refused.
	Plain bool `json:"plain_media"`
	// Whether the text of published posts can be changed.
	Edits bool `json:"edits_posts"`
	// Whether published posts can be deleted.
	Deletes bool `json:"deletes_posts"`
	// How the platform learns that AI has made a post.
	AIDeclaration AIDeclaration `json:"ai_declaration"`
	// What can be done with the comments on posts.
	Comments Comments `json:"comments"`
	// Maximum number of posts of an account in 24 hours. Null: no known limit.
	DailyLimit *int `json:"daily_limit"`
	// Unit of daily_limit.
	DailyLimitUnit string `json:"daily_limit_unit" enum:"posts"`
	// What else to know.
	Notes []string `json:"notes" nullable:"false"`
}

// AIDeclaration tells how a platform learns that AI has made a post. A post uses each way that the platform has.
type AIDeclaration struct {
	// Whether a member of the post declares it: see the option is_aigc.
	Flag bool `json:"flag"`
	// Marks in files that the platform reads: iptc is the digital source type of IPTC, c2pa are Content Credentials.
	FileMarks []string `json:"file_marks" enum:"iptc,c2pa" nullable:"false"`
	// Whether only the caption can say it, because the platform has neither.
	CaptionOnly bool `json:"caption_only"`
}

// Comments tells what can be done with the comments on posts of a platform.
type Comments struct {
	Abilities
	// Limit of a reply.
	MaxReply TextLimit `json:"max_reply"`
}

// Accept bounds the posts of one kind.
type Accept struct {
	// Kind of content.
	Kind string `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Title.
	Title TextLimit `json:"title"`
	// Caption. A longer one is refused, but where the platform takes the rest as a message of its own.
	Caption TextLimit `json:"caption"`
	// Maximum length of a caption whose end is published as a message of its own. 0: none is.
	LongestIn2 int `json:"max_with_rest"`
	// Maximum number of posts of a thread, with the option thread. 1: the platform has no threads.
	MaxPosts int `json:"max_posts"`
	// Minimum number of media.
	MinMedia int `json:"min_media"`
	// Maximum number of media.
	MaxMedia int `json:"max_media"`
	// Limits of each image. Null: none is taken.
	Image *FileLimit `json:"image"`
	// Limits of each video. Null: none is taken.
	Video *FileLimit `json:"video"`
	// Options of the platform that posts of the kind do not take.
	Without []string `json:"without_options" nullable:"false"`
}

// TextLimit bounds a text.
type TextLimit struct {
	// Maximum length. 0: there is no such text.
	Max int `json:"max"`
	// Unit of the length. graphemes: what readers see as characters. weighted_characters: 23 for a link, 2 for an emoji
	// and for a character of the scripts of East Asia, 1 for others.
	Unit string `json:"unit" format:"text-unit"`
	// Further maximum of the length in bytes of UTF-8. Null: none.
	MaxBytes *int `json:"max_bytes"`
	// Whether it is required.
	Required bool `json:"required"`
	// Maximum number of different links in a text. Null: none.
	MaxLinks *int `json:"max_links"`
	// Maximum number of mentions of accounts in a text. Null: none.
	MaxMentions *int `json:"max_mentions"`
	// Maximum number of cashtags, such as $ACME, in a text. Null: none.
	MaxCashtags *int `json:"max_cashtags"`
}

// FileLimit bounds a file.
type FileLimit struct {
	// Media types.
	MIMETypes []string `json:"mime_types" nullable:"false"`
	// Maximum size in bytes.
	MaxBytes int64 `json:"max_bytes"`
	// Minimum of width divided by height. Null: none.
	MinRatio *float64 `json:"min_aspect_ratio"`
	// Maximum of width divided by height. Null: none.
	MaxRatio *float64 `json:"max_aspect_ratio"`
	// Maximum of width and height together, in pixels. Null: none.
	MaxSides *int `json:"max_sides_pixels"`
	// Maximum width in pixels. Null: none.
	MaxWidth *int `json:"max_width_pixels"`
	// Minimum of the shorter of width and height, in pixels. Null: none.
	MinShort *int `json:"min_shorter_side_pixels"`
	// Maximum of the shorter of width and height, in pixels. Null: none.
	MaxShort *int `json:"max_shorter_side_pixels"`
	// Maximum of the longer of width and height, in pixels. Null: none.
	MaxLong *int `json:"max_longer_side_pixels"`
	// Maximum of width multiplied by height. Null: none.
	MaxPixels *int `json:"max_pixels"`
	// Minimum duration. Null: none.
	MinSeconds *float64 `json:"min_seconds"`
	// Maximum duration. Null: none.
	MaxSeconds *float64 `json:"max_seconds"`
}

func (s *Service) listPlatforms(ctx context.Context, in *platformsInput) (httpapi.Page[Platform], error) {
	var all []Platform
	var own []string
	looked, p := false, auth.FromContext(ctx)
	for _, name := range s.platforms.Names() {
		mode := p.Mode
		configured, err := s.platforms.Configured(ctx, mode, name)
		if err != nil {
			return httpapi.Page[Platform]{},
				errs.Wrap(err, errs.ProviderUnavailable, "The settings of the platforms cannot be read at the "+
					"moment. Try again in a few seconds.")
		}
		if !configured && !looked {
			if own, err = s.ownPlatforms(ctx, p.Owner); err != nil {
				return httpapi.Page[Platform]{}, err
			}
			looked = true
		}
		configured = configured || slices.Contains(own, name)
		adapter, _ := s.platforms.Of(mode, name)
		all = append(all, show(name, configured, adapter.Capabilities()))
	}
	return httpapi.Slice(ctx, all, nil, in.SliceInput, func(p Platform) string { return p.ID })
}

func show(name string, configured bool, c platform.Capabilities) Platform {
	p := Platform{
		ID: name, Name: c.Label, Connect: string(c.Connect), Configured: configured, Beta: c.Beta, Accepts: []Accept{},
		Comments:      Comments{AbilitiesOf(c), textLimit(c.Comments.Text)},
		AIDeclaration: AIDeclaration{c.Origin.Flag, texts(c.Origin.Reads), c.Origin.Silent()},
		Plain:         c.Plain, Edits: c.Edits, Deletes: c.Deletes,
		MaxTags: c.Hashtags.Max, Options: texts(c.Options),
		Privacies: texts(c.Privacies), Metrics: texts(c.Metrics), AccountHas: texts(c.Account.Names),
		DailyLimitUnit: "posts", History: c.Account.History, Past: c.Past.Page > 0, Notes: texts(c.Notes),
	}
	if c.DailyPosts > 0 {
		p.DailyLimit = &c.DailyPosts
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Kinds)) {
		rule := c.Kinds[kind]
		a := Accept{
			Kind: string(kind), Title: textLimit(rule.Title), Caption: textLimit(rule.Caption),
			MaxPosts: max(rule.Thread, 1), MinMedia: rule.MinMedia, MaxMedia: rule.MaxMedia,
			Image: fileLimit(rule.Image),
			Video: fileLimit(rule.Video), Without: texts(rule.Without),
		}
		if rule.Rest.Max > 0 {
			a.LongestIn2 = rule.Caption.Max + rule.Rest.Max
		}
		p.Accepts = append(p.Accepts, a)
	}
	return p
}

// texts returns a list of texts that is never nil.
func texts[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = string(v)
	}
	return all
}

func textLimit(t platform.Text) TextLimit {
	if t.Unit == "" {
		t.Unit = platform.Runes
	}
	return TextLimit{Max: t.Max, Unit: string(t.Unit), Required: t.Required, MaxBytes: bound(t.MaxBytes),
		MaxLinks: bound(t.MaxLinks), MaxMentions: bound(t.MaxMentions), MaxCashtags: bound(t.MaxCashtags)}
}

func fileLimit(f *platform.File) *FileLimit {
	if f == nil {
		return nil
	}
	return &FileLimit{
		MIMETypes: f.MIMEs, MaxBytes: f.MaxBytes, MinRatio: bound(f.MinRatio), MaxRatio: bound(f.MaxRatio),
		MaxSides: bound(f.MaxSides), MaxWidth: bound(f.MaxWidth), MinShort: bound(f.MinShort),
		MaxShort: bound(f.MaxShort), MaxLong: bound(f.MaxLong), MaxPixels: bound(f.MaxPixels),
		MinSeconds: bound(f.MinTime.Seconds()), MaxSeconds: bound(f.MaxTime.Seconds()),
	}
}

// bound returns a bound, or nil for 0, which bounds nothing.
func bound[T int | float64](v T) *T {
	if v == 0 {
		return nil
	}
	return &v
}

// callerError returns the caller's error for a platform's error; param names the credential.
func callerError(err error, name, param string) error {
	var e *platform.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(err, errs.Timeout, "The platform %s did not answer in time. Try again.", name)
	case e.Code == platform.CodeNotConfigured:
		return notConfigured(name)
	case e.Code == platform.CodeMissingPermission || e.Code == platform.CodeInvalidOption:
		return because(err, "/channel", e.Message)
	case e.Code == platform.CodeContentRefused:
		return because(err, "/channel", "is not known to the platform, or cannot be seen with this token")
	case platform.Ended(e) && param == "/password":
		return because(err, param, e.Message) // the message names further possible reasons
	case platform.Ended(e):
		return because(err, param, "was refused by the platform")
	case platform.Rejects(e):
		return because(err, param, e.Message)
	}
	unavailable := errs.Wrap(err, errs.ProviderUnavailable, "The platform %s is unavailable at the moment. Try again "+
		"later.", name)
	unavailable.RetryAfter = max(e.RetryAfter, 5*time.Second)
	return unavailable
}

func because(cause error, param, message string) error {
	e := errs.Invalid(param, "%s", message)
	e.Cause = cause
	return e
}

func notConfigured(name string) error {
	return errs.Invalid("/platform", "is not set up on this service: its operator has registered no application with "+
		"%s. See configured in GET /v1/social/platforms, or add your own by POST /v1/social/applications", name)
}

// requireConfigured refuses a platform for which the operator has no application.
func (s *Service) requireConfigured(ctx context.Context, m tenant.Mode, name string, b connectBody) error {
	if b.CommunityToken != "" {
		return nil
	}
	ok, err := s.platforms.Configured(ctx, m, name)
	switch {
	case err != nil:
		return errs.Wrap(err, errs.ProviderUnavailable, "The settings of the platform cannot be read at the moment. "+
			"Try again in a few seconds.")
	case !ok:
		return notConfigured(name)
	}
	return nil
}
