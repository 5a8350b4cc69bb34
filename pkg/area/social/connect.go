package social

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/consent"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"

	customer "github.com/content-automation/api/pkg/area/account"
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
		if o, err = b.Given.Owner(ctx, tx, now); err != nil {
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
		return out, errs.Invalid("/return_url", "is not among the account's return URLs. Ask the operator of the service "+
			"to add it, or leave it out")
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
			Resource: resource.New(NewID(now), now, b.Metadata), Platform: string(b.Platform),
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
	if b.Platform != "" && string(b.Platform) != r.Platform {
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
	if r.PlatformID != "" && r.PlatformID != a.ID && !r.renamed(a, application) {
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

// renamed reports whether an account of the platform is the one that the record stands for, although its id is another
// one: some platforms have ids for each application, such as TikTok, and the handle tells that it is the same.
func (r *Record) renamed(a platform.Account, application *string) bool {
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
	if r.Sealed, err = s.vault.Seal(ctx, o, r.ID, a); err != nil {
		return err
	}
	return r.Connect(tx, s.now(), it, a.Token)
}
