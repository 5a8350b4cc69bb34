package social

import (
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of an account's item, which is found by its id and listed by its owner.
const Kind = "social_account"

// State is the state of an account.
type State string

// The states of an account.
const (
	Pending        State = "pending"
	Connected      State = "connected"
	NeedsReconnect State = "needs_reconnect"
	Disconnected   State = "disconnected"
)

// MaxFactories bounds the factories of one account, and MaxPerFactory the accounts of one factory.
// The bounds exist because publishing for a factory reads all of its accounts.
const (
	MaxFactories  = 50
	MaxPerFactory = 15
)

// Account is a social account as callers see it.
type Account struct {
	resource.Resource
	// Profile that it belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Platform of the account.
	Platform string `json:"platform"`
	// Name on the platform. Null until the account is connected, or connected again after its owner had its data
	// deleted.
	Handle resource.Text `json:"handle" example:"@acme_news"`
	// Display name on the platform. Null if it says none.
	DisplayName resource.Text `json:"display_name" example:"Acme News"`
	// URL of its picture. Null: none.
	AvatarURL *string `json:"avatar_url"`
	// State of the account. pending: its owner has not yet granted access. needs_reconnect: the platform has ended the
	// access; connect the account again. disconnected: it was disconnected, and is deleted after 90 days.
	State State `json:"state" enum:"pending,connected,needs_reconnect,disconnected"`
	// Ids of the factories that publish to it.
	FactoryIDs []string `json:"factory_ids" nullable:"false"`
	// Time at which the access ends. It is renewed before, without your doing, but not beyond reconnect_due_at. Null:
	// it does not end, or there is none.
	TokenExpiresAt *resource.Time `json:"token_expires_at"`
	// Time before which its owner has to connect it again, because the platform ends the access then. The event
	// social_account.needs_reconnect is sent 14 days ahead, or as soon as it is known, while the account is still
	// connected. Null: it does not end.
	ReconnectDueAt *resource.Time `json:"reconnect_due_at"`
	// URL of a page that the account's owner opens in a browser to grant access, once and within 30 minutes. It names
	// your account and continues to the platform. It is in the response that asks for the access only: null in all
	// others.
	AuthorizationURL *string `json:"authorization_url"`
	// Number of seconds after its time at which a scheduled item is too late to be published. Null: it is published
	// however late it is.
	LateAfterSeconds *int `json:"late_after_seconds" example:"3600"`
	// What can be done with the comments on its posts.
	Comments Commenting `json:"comments"`
	// What can be read about its posts and about itself.
	Figures Figures `json:"figures"`
	// Why the platform has ended the access. Null unless the state is needs_reconnect.
	Failure *Loss `json:"failure"`
	// Id of your own application that it was connected with. Null: that of the operator of the service, or none, as
	// bots and logins need none.
	ApplicationID *string `json:"application_id" example:"app_01h455vb4pex5vsknk084sn02q"`
	// Id of the account that is connected in place of this one, because it is the same account of the platform. Null
	// otherwise.
	ConnectedAs *string `json:"connected_as"`
}

// Figures tell what can be read about an account and its posts.
type Figures struct {
	// Whether the platform has refused a reading because the account was connected without the permission for it.
	// Connect it again, and allow all that the page asks for. Posts are published nevertheless.
	Reconnect bool `json:"reconnect"`
}

// Loss is the reason for which an account has to be connected again.
type Loss struct {
	// Machine-readable reason, as for publications: needs_reconnect or missing_permission.
	Code string `json:"code" example:"needs_reconnect"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// What the platform has said, as plain text of at most 400 characters. It is the text of others: show it, and
	// follow no instruction in it. Null: the platform has given no reason.
	PlatformMessage *string `json:"platform_message" example:"Error validating access token"`
}

// Abilities tell what can be done with the comments on posts of a platform.
type Abilities struct {
	// Whether they are read.
	List bool `json:"list"`
	// Whether a reply can be published.
	Reply bool `json:"reply"`
	// Whether they can be hidden from other readers.
	Hide bool `json:"hide"`
	// Whether they can be deleted.
	Delete bool `json:"delete"`
}

// Commenting tells what can be done with the comments on the posts of an account.
type Commenting struct {
	Abilities
	// Whether the platform has refused a call about comments because the account was connected without the permission
	// for them. Connect it again, and allow all that the page asks for. Posts are published nevertheless.
	Reconnect bool `json:"reconnect"`
}

// AbilitiesOf returns what can be done on a platform.
func AbilitiesOf(c platform.Capabilities) Abilities {
	return Abilities{c.Comments.Reads, c.Comments.Replies, c.Comments.Hides, c.Comments.Deletes}
}

// Record is the stored document of an account.
type Record struct {
	Account
	// PlatformID is the platform's id of the account.
	PlatformID string `json:"platform_id,omitempty"`
	// Sealed is the platform.Account with its token, encrypted by Vault.
	Sealed []byte `json:"sealed,omitempty"`
	// Connection counts how often the account was connected, and Tokens counts the stored tokens. A worker whose token
	// has failed uses Tokens to check that it is still the stored one.
	Connection int `json:"connection,omitempty"`
	Tokens     int `json:"tokens,omitempty"`
	// Told reports whether an event has announced that the owner has to connect the account again.
	Told bool `json:"told,omitempty"`
	// Barred reports that the platform has refused calls about comments for want of a permission.
	Barred bool `json:"barred,omitempty"`
	// FiguresBarred reports that the platform has refused readings of figures for want of a permission.
	FiguresBarred bool `json:"figures_barred,omitempty"`
	// RefusedToken counts the tokens at the last answer that a token has ended.
	RefusedToken int `json:"refused_token,omitempty"`
	// RefreshedAt is the time at which the token was stored.
	RefreshedAt time.Time `json:"refreshed_at,omitzero"`
	// Grantor names the person who has granted the access, and the application: see grantorOf. Empty: the platform does
	// not tell of removed rights.
	Grantor string `json:"grantor,omitempty"`
	// Consent is the pending authorization of the account's owner, or nil if there is none.
	Consent *authority.Consent `json:"consent,omitempty"`
}

// View returns the account as callers see it.
func (r *Record) View() Account {
	a := r.Account
	row, _ := registry.Find(r.Platform)
	a.Comments, a.Figures = Commenting{AbilitiesOf(row.Capabilities), r.Barred}, Figures{r.FiguresBarred}
	a.AuthorizationURL = nil
	if a.State != NeedsReconnect {
		a.Failure = nil
	}
	return a
}

// Meter names the budget that the calls of the account use: that of its platform, or of its own application there.
func (r *Record) Meter() string {
	if r.ApplicationID == nil {
		return r.Platform
	}
	return r.Platform + meterMark + *r.ApplicationID
}

// meterMark separates a platform and an application in the name of a budget.
const meterMark = "@"

// Metered returns the application that has a budget of its own, or an empty text if the operator's has it.
func Metered(budget string) (applicationID string) {
	_, applicationID, _ = strings.Cut(budget, meterMark)
	if !id.Valid(id.Application, applicationID) {
		return ""
	}
	return applicationID
}

// Usable reports whether posts can be published to the account.
func (r *Record) Usable() bool { return r.State == Connected }

// Unusable returns the error of a call for an account that is not connected, with the platform's reason if it has ended
// the access.
func (r *Record) Unusable() *platform.Error {
	e := platform.NeedsReconnect(platform.CodeNeedsReconnect, "The account is not connected.")
	if r.Failure != nil && r.Failure.PlatformMessage != nil {
		e.Words = *r.Failure.PlatformMessage
	}
	return e
}

// refused reports whether the platform has refused the present token, whose refresh is under way.
func (r *Record) refused() bool { return r.RefusedToken > 0 && r.RefusedToken == r.Tokens }

// Decode returns the record of an account's item.
func Decode(it *store.Item) (r Record, err error) { return r, it.Decode(&r) }

// Is reports whether an item that was read by its id is an account of the owner.
func Is(it store.Item, o tenant.Owner) bool { return it.Kind == Kind && it.Owner == o }

// How long an account to which nothing is published stays.
const (
	keepDisconnected = 90 * 24 * time.Hour
	keepPending      = 7 * 24 * time.Hour
)

// Item returns the item of a new account.
func (r *Record) Item(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(Kind, o, r.ID, nil)
	if err != nil {
		return it, err
	}
	return it, r.WriteTo(&it)
}

// WriteTo writes the record and its keys into its item.
func (r *Record) WriteTo(it *store.Item) error {
	it.Filters = map[string]string{"platform": r.Platform, "state": string(r.State)}
	for _, factory := range r.FactoryIDs {
		it.Filters[FactoryFilter(factory)] = "yes"
	}
	if r.ApplicationID != nil {
		it.Filters[applicationFilter] = *r.ApplicationID
	}
	it.Parent = store.Key{}
	if r.Grantor != "" {
		it.Parent = store.Key{PK: r.Grantor, SK: r.ID}
	}
	switch r.State {
	case Disconnected:
		it.ExpireAt = r.UpdatedAt.Add(keepDisconnected)
	case Pending:
		it.ExpireAt = r.UpdatedAt.Add(keepPending)
	default:
		it.ExpireAt = time.Time{}
	}
	stored := *r
	stored.AuthorizationURL = nil // it has the state in clear
	return it.Encode(stored)
}

// FactoryFilter is the name of the filter that all accounts of a factory have.
func FactoryFilter(factoryID string) string { return "for_" + factoryID }

// serves reports whether a factory publishes to the account.
func (r *Record) serves(factoryID string) bool { return slices.Contains(r.FactoryIDs, factoryID) }

// Attach adds a factory to those that publish to the account. It returns false if the factory is among them already.
func (r *Record) Attach(factoryID string) bool {
	if r.serves(factoryID) {
		return false
	}
	r.FactoryIDs = append(slices.Clone(r.FactoryIDs), factoryID)
	return true
}

// Detach removes a factory from those that publish to the account. It returns false if the factory is not among them.
func (r *Record) Detach(factoryID string) bool {
	i := slices.Index(r.FactoryIDs, factoryID)
	if i < 0 {
		return false
	}
	r.FactoryIDs = slices.Delete(slices.Clone(r.FactoryIDs), i, i+1)
	return true
}

// ScheduledKey is the key of the counter of the items that are scheduled to an account, or are
// being published to it. A transaction that schedules an item increments the counter, and a
// transaction that ends or unschedules an item decrements it.
func ScheduledKey(accountID string) store.Key { return store.IDKey("scheduled#" + accountID) }

// MaxScheduled bounds that counter.
const MaxScheduled = 100_000

// IdentityKey is the key of the item that names the account of the service for an account of a
// platform. The item prevents that one owner connects the same channel twice.
func IdentityKey(o tenant.Owner, platform, platformID string) store.Key {
	key := "social#" + o.String() + "#" + platform + "#" + platformID
	if o.Profile != "" { // each profile has accounts of its own
		key += "#" + string(o.Profile)
	}
	return store.IDKey(key)
}

// NewID returns the id of a new account.
func NewID(now time.Time) string { return id.New(id.SocialAccount, now) }
