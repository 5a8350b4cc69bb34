package social

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	customer "github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/consent"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// grantTime bounds the calls of a platform that connect an account at once.
const grantTime = 12 * time.Second

// Connecting is an account with the address of the page that grants access, which is shown once.
type Connecting struct {
	Account
	// Time at which authorization_url was made and shown. Only in a repeat that leaves it out.
	LinkShownAt *resource.Time `json:"link_shown_at,omitempty"`
}

// Concealed implements httpapi.Confidential.
func (c Connecting) Concealed(made resource.Time) any {
	if c.AuthorizationURL != nil {
		c.AuthorizationURL, c.LinkShownAt = nil, &made
	}
	return c
}

// Grants implements httpapi.Confidential.
func (Connecting) Grants() []auth.Scope { return []auth.Scope{auth.SocialManage} }

// connect connects an account. A token or a login connects it at once, and OAuth connects it as
// soon as its owner has granted access. The calls at a platform may be repeated without harm.
func (s *Service) connect(ctx context.Context, tx *store.Tx, in *connectInput) (out Connecting, err error) {
	b, now := in.Body, s.now()
	r, it, settings, err := s.subject(ctx, b)
	if err != nil {
		return out, err
	}
	o := it.Owner
	if it.Version == 0 {
		if o, err = b.ProfileMember.Owner(ctx, tx, now); err != nil {
			return out, err
		}
		r.ProfileID = o.ProfileID()
	} else if b.ProfileID != "" && tenant.Profile(b.ProfileID) != o.Profile {
		return out, errs.Invalid("/profile_id", "is another one than that of %s, and cannot be changed", r.ID)
	}
	adapter, ok := s.platforms.Of(o.Mode, r.Platform)
	if !ok {
		return out, s.switchedOff(r.Platform)
	}
	how := adapter.Capabilities().Connect
	if b.CommunityToken != "" {
		how = platform.ConnectBotToken
	}
	if err := b.check(how, adapter.Capabilities()); err != nil {
		return out, err
	}
	var own *string
	if how == platform.ConnectOAuth {
		if ctx, own, err = s.own(ctx, o, r.Platform); err != nil {
			return out, err
		}
	}
	if own == nil {
		if err := s.requireConfigured(ctx, o.Mode, r.Platform, b); err != nil {
			return out, err
		}
	}
	if b.ReturnURL != "" && !safehttp.AllowsReturn(settings.ReturnURLs, b.ReturnURL) {
		return out, errs.Invalid("/return_url", "is not among the account's return URLs. Ask the operator of the "+
			"service to add it, or leave it out")
	}
	if b.LateAfterSeconds != nil {
		r.LateAfterSeconds = b.LateAfterSeconds
	}
	if b.Metadata != nil {
		r.Metadata = b.Metadata
	}
	if how == platform.ConnectOAuth {
		err := s.ask(ctx, tx, o, &r, it, b, own)
		out.Account = r.View()
		out.AuthorizationURL = r.AuthorizationURL
		return out, err
	}
	try := func() (platform.Account, error) {
		return grant(ctx, adapter, platform.Grant{
			Token: platform.Secret(b.BotToken + b.CommunityToken), Username: b.Username,
			Password: platform.Secret(b.Password), Choice: channelOf(&r, b),
		}, b)
	}
	var a platform.Account
	if how == platform.ConnectPassword {
		a, err = s.logIn(ctx, o, r.Platform, b, try)
	} else {
		a, err = try()
	}
	if err != nil {
		return out, err
	}
	r, err = s.accept(ctx, tx, o, r, it, a, nil)
	if errors.Is(err, errAnother) {
		return out, errs.Invalid(b.credential(), "belong to another account of the platform than %s", r.ID)
	}
	out.Account = r.View()
	return out, err
}

// ask makes an account wait for the consent of its owner, with the application that asks, or nil for the operator's.
func (s *Service) ask(ctx context.Context, tx *store.Tx, o tenant.Owner, r *Record, it store.Item, b connectBody,
	application *string) error {
	details := map[string]string{channelDetail: channelOf(r, b)}
	if application != nil {
		details[applicationDetail] = *application
	}
	address, err := s.flow().Ask(ctx, o, r.ID, &subject{s, o, r},
		consent.Consent{Return: b.ReturnURL, Details: details})
	if err != nil {
		return callerError(err, r.Platform, "/platform")
	}
	r.AuthorizationURL = &address
	if it.Version > 0 {
		return r.Replace(tx, s.now(), it, "")
	}
	if it, err = r.Item(o); err != nil {
		return err
	}
	quota.PendingAccounts.Take(tx, s.now(), &it)
	tx.Create(it, nil)
	return nil
}

// switchedOff returns the refusal of a platform that the stack does not have.
func (s *Service) switchedOff(name string) error {
	return errs.Invalid("/platform", "is %s, which the operator of the service has not switched on. Send one of %s",
		name, strings.Join(s.platforms.Names(), ", "))
}

// subject returns the account to connect, which is a new one or one to connect again, and the
// settings of the caller's account.
func (s *Service) subject(ctx context.Context, b connectBody) (r Record, it store.Item,
	settings customer.Account, err error) {
	p, now := auth.FromContext(ctx), s.now()
	if err := b.Rules(); err != nil {
		return r, it, settings, err
	}
	if b.SocialAccountID == "" {
		r.Account = Account{
			Resource: resource.New(NewID(now), now, b.Metadata), Platform: b.Platform,
			State: Pending, FactoryIDs: []string{},
		}
		if b.ReturnURL == "" {
			return r, it, settings, nil
		}
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.SocialAccount, []string{b.SocialAccountID},
		store.IDKey(string(p.Account)))
	if err != nil {
		return r, it, settings, err
	}
	if err := beside[0].Decode(&settings); err != nil {
		return r, it, settings, err
	}
	if b.SocialAccountID == "" {
		return r, it, settings, nil
	}
	it, ok := found[b.SocialAccountID]
	if !ok {
		return r, it, settings, errs.MissingAt("/social_account_id", Kind, b.SocialAccountID)
	}
	if r, err = Decode(&it); err != nil {
		return r, it, settings, err
	}
	if b.Platform != "" && b.Platform != r.Platform {
		return r, it, settings, errs.Invalid("/platform", "is another one than that of %s, which is %s",
			r.ID, r.Platform)
	}
	return r, it, settings, nil
}

// channelOf returns the channel to connect, which is that of the account if it has one.
func channelOf(r *Record, b connectBody) string {
	if r.PlatformID != "" {
		return r.PlatformID
	}
	return b.Channel
}

// grant exchanges the caller's credential for the token of one account.
func grant(ctx context.Context, adapter platform.Adapter, g platform.Grant,
	b connectBody) (a platform.Account, err error) {
	ctx, cancel := context.WithTimeout(ctx, grantTime)
	defer cancel()
	found, err := adapter.Connect(ctx, g)
	switch {
	case err != nil:
		return a, callerError(err, adapter.Name(), b.credential())
	case len(found) != 1:
		return a, errs.Invalid("/channel", "must name one channel: there are %d", len(found))
	}
	return found[0], nil
}

// errAnother means that a grant is for a different account of the platform than the one that is connected again.
var errAnother = errors.New("social: another account of the platform")

// identity is the document of the item at IdentityKey.
type identity struct {
	Account string `json:"account"`
}

// accept adds to the transaction that an account is connected. The account is new, or was read as it. If a different
// account of the owner stands for the same account of the platform, accept connects that one instead, and returns it.
// The application with which it was connected is nil if it is the operator's.
func (s *Service) accept(ctx context.Context, tx *store.Tx, o tenant.Owner, r Record, it store.Item,
	a platform.Account, application *string) (Record, error) {
	if r.PlatformID != "" && r.PlatformID != a.ID && !r.rename(a, application) {
		return r, errAnother
	}
	key := IdentityKey(o, r.Platform, a.ID)
	known, err := s.db.Lookup(ctx, key)
	if err != nil {
		return r, err
	}
	var named identity
	if known.Kind != "" {
		if err := known.Decode(&named); err != nil {
			return r, err
		}
	}
	now := s.now()
	if named.Account != "" && named.Account != r.ID {
		found, err := s.db.Lookup(ctx, store.IDKey(named.Account))
		if err != nil {
			return r, err
		}
		if Is(found, o) {
			other, err := Decode(&found)
			if err != nil {
				return r, err
			}
			if it.Version > 0 {
				r.State, r.ConnectedAs, r.Consent = Disconnected, &other.ID, nil
				if err := r.Replace(tx, now, it, ""); err != nil {
					return r, err
				}
			}
			if r.LateAfterSeconds != nil {
				other.LateAfterSeconds = r.LateAfterSeconds
			}
			if len(r.Metadata) > 0 {
				other.Metadata = r.Metadata
			}
			return other, s.store(ctx, tx, o, &other, found, a, application)
		}
	}
	if named.Account != r.ID {
		seen := known
		seen.Key, seen.Kind, seen.Owner = key, "social_identity", o
		if err := seen.Encode(identity{r.ID}); err != nil {
			return r, err
		}
		if seen.Version > 0 {
			tx.Replace(seen)
		} else {
			tx.CreateExpiring(seen, now.Unix(), nil) // one may be left of an account whose data were deleted
		}
	}
	if it.Version == 0 {
		if it, err = r.Item(o); err != nil {
			return r, err
		}
	}
	return r, s.store(ctx, tx, o, &r, it, a, application)
}

// rename reports whether an account of the platform is the one that the record stands for, although its id is another
// one: some platforms have ids for each application, such as TikTok, and the handle tells that it is the same.
func (r *Record) rename(a platform.Account, application *string) bool {
	moved := (r.ApplicationID == nil) != (application == nil) ||
		application != nil && *application != *r.ApplicationID
	return moved && a.Handle != "" && string(r.Handle) == text.ClipLine(a.Handle, maxLine)
}

// store adds the connected account with its token.
func (s *Service) store(ctx context.Context, tx *store.Tx, o tenant.Owner, r *Record, it store.Item,
	a platform.Account, application *string) (err error) {
	fill(r, a)
	r.ApplicationID, r.Grantor = application, s.grantorOf(o, r.Platform, application,
		cmp.Or(a.Grantor, a.ID))
	if r.SealedAccount, err = s.vault.Seal(ctx, o, r.ID, a); err != nil {
		return err
	}
	return r.Connect(tx, s.now(), it, a.Token)
}

var (
	_ = format.Define("telegram-token", format.Format{Pattern: "^[0-9]+:[0-9A-Za-z_-]+$", Longest: 200,
		Wanted: "the token of a Telegram bot, as @BotFather shows it: digits, a colon, and letters"})
	_ = format.Define("channel", format.Format{Pattern: `^[^\x00-\x1F\x7F]+$`, Wanted: "free of control characters",
		Longest: 200, Example: "@acme_news"})
	_ = format.Define("client-id", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Shortest: 1,
		Longest: 512, Example: "c2FtcGxlLWNsaWVudA"})
	_ = format.Define("client-secret", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Longest: 1024,
		Example: "EXAMPLE-EXAMPLE"})
	_ = format.Define("vk-token", format.Format{Pattern: "^[0-9A-Za-z._-]+$", Longest: 500,
		Wanted: "a token of a community"})
)

type connectBody struct {
	profile.ProfileMember
	// Platform of the account. Send this or social_account_id.
	Platform string `json:"platform,omitempty" format:"platform"`
	// Id of an account to connect again. Send this or platform.
	SocialAccountID string `json:"social_account_id,omitempty" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// telegram: token of a bot that is an administrator of the channel.
	BotToken string `json:"bot_token,omitempty" format:"telegram-token"`
	// Channel, page or community: its id on the platform, or a name such as @acme_news. telegram needs it. By OAuth its
	// owner chooses where it is left out.
	Channel string `json:"channel,omitempty" format:"channel"`
	// User name. rutube and bluesky need it: of bluesky, the handle of the account.
	Username string `json:"username,omitempty" maxLength:"200"`
	// Password. rutube and bluesky need it: of bluesky, an app password. It is used once and not stored.
	Password string `json:"password,omitempty" maxLength:"200"`
	// vk: token of a community, in place of OAuth. VK takes posts of text only with it.
	CommunityToken string `json:"community_token,omitempty" format:"vk-token"`
	// Only for OAuth: page of yours that the browser of the account's owner returns to, with social_account_id, and
	// error where it failed, in its query. The operator of the service lists the pages that are allowed.
	ReturnURL string `json:"return_url,omitempty" maxLength:"2048" example:"https://app.example.com/social"`
	// Number of seconds after its time at which a scheduled item is too late to be published. Absent: it is published
	// however late it is.
	LateAfterSeconds *int `json:"late_after_seconds,omitempty" minimum:"60" maximum:"15552000" example:"3600"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses a body that names no account, and members that its platform does not take.
func (b connectBody) Rules() error {
	if b.Platform == "" && b.SocialAccountID == "" {
		return errs.Invalid("/platform", "send platform, which is one of %s, or the social_account_id of an account "+
			"to connect again", strings.Join(registry.Names(), ", "))
	}
	if row, ok := registry.Find(b.Platform); ok {
		return errs.All(b.unused(row.Capabilities.Connect, row.Capabilities)...)
	}
	return nil
}

// credential returns the pointer of the member that has the credential of an account.
func (b connectBody) credential() string {
	switch {
	case b.BotToken != "":
		return "/bot_token"
	case b.CommunityToken != "":
		return "/community_token"
	case b.Password != "":
		return "/password"
	default:
		return "/platform"
	}
}

// ways say how accounts are connected, by the way.
var ways = map[platform.Connect]string{
	platform.ConnectOAuth:    "by OAuth: open the authorization_url of the answer",
	platform.ConnectBotToken: "by bot_token and channel",
	platform.ConnectPassword: "by username and password",
}

// credentialMember is a member of the body that connects an account.
type credentialMember struct {
	param, value  string
	taken, needed bool
}

// members returns the members that connect an account, and whether a platform takes or needs them.
func (b connectBody) members(how platform.Connect, c platform.Capabilities) []credentialMember {
	oauth, token, login := how == platform.ConnectOAuth, c.Connect == platform.ConnectBotToken,
		how == platform.ConnectPassword
	return []credentialMember{
		{"/bot_token", b.BotToken, token, token},
		{"/username", b.Username, login, login},
		{"/password", b.Password, login, login},
		{"/community_token", b.CommunityToken, c.CommunityToken, false},
		{"/channel", b.Channel, !login, token && b.SocialAccountID == ""},
		{"/return_url", b.ReturnURL, oauth || c.CommunityToken && b.CommunityToken == "", false},
	}
}

// unused refuses members that a platform does not take.
func (b connectBody) unused(how platform.Connect, c platform.Capabilities) (found []error) {
	for _, m := range b.members(how, c) {
		if m.value != "" && !m.taken {
			found = append(found, errs.Invalid(m.param, "is not taken by %s: leave it out. Its accounts are "+
				"connected %s",
				c.Label, ways[c.Connect]))
		}
	}
	return found
}

// check refuses members that the platform does not take, and the lack of members that it needs.
func (b connectBody) check(how platform.Connect, c platform.Capabilities) error {
	found := b.unused(how, c)
	for _, m := range b.members(how, c) {
		if m.value == "" && m.needed {
			found = append(found, errs.Invalid(m.param, "is required: accounts of %s are connected %s", c.Label,
				ways[c.Connect]))
		}
	}
	return errs.All(found...)
}

// CallbackPath is the path to which a platform sends the browser of an account's owner.
const CallbackPath = "/v1/social/callback"

// CallbackOperation is the operation of the callback in the audit log.
const CallbackOperation = "social.callback"

// channelDetail is the detail of a consent with the channel to connect.
const channelDetail = "channel"

// flow returns the flow in which owners grant access to their accounts.
func (s *Service) flow() *consent.Flow {
	return &consent.Flow{
		Path: CallbackPath, Operation: CallbackOperation, Kind: auth.SocialAccount, Prefix: id.SocialAccount,
		Cookie: "link_", Scope: auth.SocialManage, DB: s.db, Audit: s.audit, Vault: s.vault, Secret: s.secret,
		Now: s.now, Random: s.random,
		Read: func(it *store.Item) (consent.Subject, error) {
			r, err := Decode(it)
			return &subject{s, it.Owner, &r}, err
		},
	}
}

// With returns the handler of the function. It serves the callback, the page of a link and what platforms tell of
// removed rights, which need no key, and the operations.
func (s *Service) With(operations http.Handler) http.Handler {
	return s.removals(s.flow().Before(operations))
}

// subject is an account whose owner is asked for access. It implements consent.Subject.
type subject struct {
	s     *Service
	owner tenant.Owner
	r     *Record
}

func (a *subject) adapter() (platform.Adapter, error) {
	adapter, ok := a.s.platforms.Of(a.owner.Mode, a.r.Platform)
	if !ok {
		return nil, fmt.Errorf("social: the platform %s is not switched on", a.r.Platform)
	}
	return adapter, nil
}

func (a *subject) Pending() **authority.Consent { return &a.r.Consent }

func (a *subject) Save(tx *store.Tx, now time.Time, it store.Item) error {
	return a.r.Replace(tx, now, it, "")
}

func (a *subject) Asks(of consent.Consent) (consent.Asking, error) {
	adapter, err := a.adapter()
	if err != nil {
		return consent.Asking{}, err
	}
	c := adapter.Capabilities()
	asking := consent.OfSocial(c.Label, c.Comment.Max > 0, len(c.Metrics) > 0)
	asking.Own = of.Details[applicationDetail] != ""
	return asking, nil
}

// with returns the context of the calls of a consent, with the application that asks for it.
func (a *subject) with(ctx context.Context, c consent.Consent) (context.Context, error) {
	own := c.Details[applicationDetail]
	if own == "" {
		return ctx, nil
	}
	if _, loaded := platform.AppOf(ctx); loaded {
		return ctx, nil
	}
	return a.s.vault.with(ctx, a.owner, &own)
}

func (a *subject) Address(ctx context.Context, c consent.Consent, state string) (string, error) {
	adapter, err := a.adapter()
	if err != nil {
		return "", err
	}
	if ctx, err = a.with(ctx, c); err != nil {
		return "", err
	}
	return adapter.Authorization(ctx, platform.Authorization{RedirectURL: c.Redirect, State: state,
		Verifier: c.Verifier})
}

func (a *subject) Exchange(ctx context.Context, c consent.Consent, q url.Values) (all []consent.Grant, err error) {
	adapter, err := a.adapter()
	if err != nil {
		return nil, err
	}
	if ctx, err = a.with(ctx, c); err != nil {
		return nil, err
	}
	found, err := adapter.Connect(ctx, platform.Grant{Code: q.Get("code"), RedirectURL: c.Redirect,
		Verifier: c.Verifier, Device: q.Get("device_id"), Choice: c.Details[channelDetail]})
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		raw, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("social: encode a grant: %w", err)
		}
		all = append(all, consent.Grant{ID: one.ID, Name: one.Name, Handle: one.Handle, Account: raw})
	}
	return all, nil
}

func (a *subject) Keep(ctx context.Context, tx *store.Tx, it store.Item, c consent.Consent,
	g consent.Grant) (consent.ConnectedSubject, error) {
	var granted platform.Account
	if err := json.Unmarshal(g.Account, &granted); err != nil {
		return consent.ConnectedSubject{}, errors.New("social: decode a grant") // the cause could show a token
	}
	var own *string
	if id := c.Details[applicationDetail]; id != "" {
		own = &id
	}
	r, err := a.s.accept(ctx, tx, a.owner, *a.r, it, granted, own)
	if errors.Is(err, errAnother) {
		return consent.ConnectedSubject{}, &consent.OtherError{Message: "The account to connect again " +
			"is " + string(a.r.Handle) +
			". Sign in to the platform with that one."}
	}
	name := r.Handle
	name = cmp.Or(name, r.DisplayName)
	return consent.ConnectedSubject{ID: r.ID, Name: string(name), Text: "The account can be published to now."}, err
}

// The limits of logins that a platform refuses, for one login and for all logins that an account of
// the service tries. They prevent that passwords are guessed through the service.
var (
	oneLogin = quota.Limit{
		Name: "login", Most: 10, Window: time.Hour,
		Message: "The platform has refused this login 10 times within an hour. Check the user name and the password " +
			"at the platform, and repeat the request after the time in Retry-After.",
	}
	allLogins = quota.Limit{
		Name: "logins", Most: 50, Window: time.Hour,
		Message: "The platform has refused 50 logins of this account within an hour. Repeat the request after the " +
			"time in Retry-After.",
	}
)

// logIn tries a login, unless too many logins have been refused. Only logins that the platform refuses count.
func (s *Service) logIn(ctx context.Context, o tenant.Owner, name string, b connectBody,
	try func() (platform.Account, error)) (platform.Account, error) {
	var counted []*quota.Attempt
	refused := func(err error) bool { return platform.Ended(err) || platform.Rejects(err) }
	forget := func() {
		for _, a := range counted {
			if err := a.Forget(context.WithoutCancel(ctx)); err != nil {
				slog.Warn("login still counted", "platform", name, "error", err)
			}
		}
	}
	for _, l := range []struct {
		quota.Limit
		subject string
	}{{oneLogin, name + "#" + canonicalName(b.Username)}, {allLogins, name}} {
		a, err := l.Begin(ctx, s.db, s.now(), o, l.subject)
		if err != nil {
			forget()
			return platform.Account{}, err
		}
		counted = append(counted, a)
	}
	a, err := try()
	if !refused(err) {
		forget()
	}
	return a, err
}

// canonicalName returns the canonical spelling of a user name. Neither case nor the characters between
// the digits of a telephone number make a different login.
func canonicalName(username string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("+-() \t", r) {
			return -1
		}
		return r
	}, strings.ToLower(username))
}

// Disconnect is the kind of the task that follows the disconnection of an account. It detaches the
// account from its factories, and revokes its token at the platform.
const Disconnect task.Kind = "social.disconnect"

// revokeWithin bounds the time for which the task tries to revoke a token.
const revokeWithin = 24 * time.Hour

// lag is the wait until an index shows recent writes.
const lag = 2 * time.Second

// Cleaner ends the pending work for an account that was disconnected, as factory.Cleaner does for a factory.
type Cleaner interface {
	// Clean ends a bounded number of items of work, and reports whether there may be more. It is idempotent, and is
	// called until none is left. Work that could not be ended is tried again.
	Clean(ctx context.Context, o tenant.Owner, accountID string) (more bool, err error)
}

// disconnecting is the payload of a Disconnect task.
type disconnecting struct {
	Platform  string   `json:"platform,omitempty"`
	Factories []string `json:"factories,omitempty"`
	// SealedAccount is the platform.Account whose token is revoked. It is dropped at the end.
	SealedAccount []byte `json:"sealed,omitempty"`
	// Application is the customer's application that the token was made with, or nil.
	Application *string `json:"application,omitempty"`
}

// Disconnect adds the disconnection of an account, whose item was read, to the transaction. The
// transaction forgets the account's tokens, and a task does the rest.
func (r *Record) Disconnect(tx *store.Tx, now time.Time, it store.Item) error {
	p := disconnecting{Platform: r.Platform, Factories: r.FactoryIDs, SealedAccount: r.SealedAccount,
		Application: r.ApplicationID}
	if err := startDisconnect(tx, now, it.Owner, r.ID, task.ID(Disconnect, r.ID, r.Connection), p); err != nil {
		return err
	}
	r.State, r.FactoryIDs, r.SealedAccount, r.TokenExpiresAt, r.ReconnectDueAt = Disconnected, []string{}, nil, nil, nil
	r.Consent, r.AuthorizationURL = nil, nil
	r.Connection++
	return r.Replace(tx, now, it, "")
}

// revokeSpare adds to the transaction the revocation of a token that came too late.
func revokeSpare(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, used int, sealed []byte,
	made *string) error {
	return startDisconnect(tx, now, o, r.ID, task.ID(Disconnect, r.ID+"#token", used),
		disconnecting{Platform: r.Platform, SealedAccount: sealed, Application: made})
}

func startDisconnect(tx *store.Tx, now time.Time, o tenant.Owner, accountID, taskID string, p disconnecting) error {
	return task.Create(tx, now, task.Task{
		Message:  task.Message{ID: taskID, Kind: Disconnect, Queue: topology.Publish, Subject: accountID, Owner: o},
		Deadline: now.Add(revokeWithin),
	}, p)
}

// disconnect detaches the account from its factories, ends its pending work, and revokes its token.
func (w *Worker) disconnect(ctx context.Context, r *task.Run) error {
	var p disconnecting
	if err := r.Decode(&p); err != nil {
		return err
	}
	if r.Cause() != nil {
		// The token is already forgotten here, and expires at the platform.
		slog.Warn("token not revoked", "social_account_id", r.Subject, "error", r.Cause())
		r.Forget("sealed")
		return nil
	}
	if !r.Knows("cleaned") {
		for _, factoryID := range p.Factories {
			if err := w.detach(ctx, r.Owner, factoryID, r.Subject); err != nil {
				return Again(fmt.Errorf("social: detach %s: %w", r.Subject, err), 0)
			}
		}
	}
	cleaned := 0
	if err := r.Recall("cleaned", &cleaned); err != nil {
		return err
	}
	for ; cleaned < len(w.Cleaners); cleaned++ {
		more, err := w.Cleaners[cleaned].Clean(ctx, r.Owner, r.Subject)
		if err != nil {
			return Again(fmt.Errorf("social: end %s: %w", r.Subject, err), 0)
		}
		if more {
			return errors.Join(r.Keep("cleaned", cleaned), r.Sleep(lag))
		}
	}
	if err := w.revoke(ctx, r, p); err != nil {
		return Again(err, time.Minute)
	}
	r.Forget("sealed")
	return nil
}

// revoke ends the token at the platform, unless the account was connected again, because some platforms would end the
// new connection, too.
func (w *Worker) revoke(ctx context.Context, r *task.Run, p disconnecting) error {
	adapter, ok := w.Platforms.Of(r.Mode, p.Platform)
	if !ok || len(p.SealedAccount) == 0 {
		return nil
	}
	_, acct, err := w.read(ctx, r.Subject)
	if err != nil || acct.Usable() {
		return err
	}
	var account platform.Account
	if err := w.Vault.Open(ctx, r.Owner, r.Subject, p.SealedAccount, &account); err != nil {
		return err
	}
	ctx, err = w.Vault.with(ctx, r.Owner, p.Application)
	if platform.Ended(err) {
		return nil // the application is gone, and no call without it ends the token
	}
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	return adapter.Revoke(bounded, account)
}

// detach finishes the detachment of an account from a factory.
func (w *Worker) detach(ctx context.Context, o tenant.Owner, factoryID, accountID string) error {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(factoryID), store.IDKey(accountID))
	if err != nil {
		return err
	}
	r, it := Record{}, items[0]
	if Is(items[1], o) {
		if r, err = Decode(&items[1]); err != nil {
			return err
		}
	}
	if !factoryrecord.Usable(it, o) || r.serves(factoryID) {
		return nil // it was attached again
	}
	changed, err := factoryrecord.Detach(&it, accountID, w.Now())
	if err != nil || !changed {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := factory.NotifyItem(tx, it); err != nil {
		return err
	}
	return w.DB.Commit(ctx, tx)
}

// FactoryCleaner detaches the accounts of a factory that was deleted. It implements factory.Cleaner.
type FactoryCleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// detachAtOnce bounds the accounts that one call detaches.
const detachAtOnce = 25

// Clean implements factory.Cleaner.
func (c FactoryCleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, Kind), Limit: detachAtOnce,
		Filters: map[string]string{FactoryFilter(factoryID): "yes"}}
	return c.DB.ChangeSome(ctx, q, func(tx *store.Tx, it store.Item) error {
		r, err := Decode(&it)
		if err != nil || !r.Detach(factoryID) {
			return err // the index may not show it yet
		}
		return r.Replace(tx, c.Now(), it, "")
	})
}
