// Package apikey holds the keys that callers authenticate with: their making, rotation and revocation. A secret is in
// the answer that made it and nowhere else; the service keeps its hash. Service.Register in operations.go has the
// operations.
package apikey

import (
	"context"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// maxKeys bounds the keys of an account that are not revoked.
const maxKeys = keyrecord.Most

// maxName bounds the characters of a key's name.
const maxName = 100

// Key is an API key as callers see it.
type Key = keyrecord.Key

// NewKey is a key together with its secret.
type NewKey struct {
	Key
	// The secret, to be sent as Authorization: Bearer …. It is not shown again. Null in a repeat later than 10 minutes.
	Secret string `json:"secret" nullable:"true"`
	// Time at which the secret was made and shown. Only in a repeat that leaves it out.
	SecretShownAt *resource.Time `json:"secret_shown_at,omitempty"`
}

// Concealed returns the key without its secret.
func (k NewKey) Concealed(made resource.Time) any {
	k.SecretShownAt = &made
	return struct {
		NewKey
		Secret *string `json:"secret"`
	}{NewKey: k}
}

// Grants returns the scopes of the key.
func (k NewKey) Grants() []auth.Scope { return k.Scopes }

// Ended is a key that was revoked.
type Ended struct {
	Key
	// Number of keys that it created, directly or through others: all of them are revoked now. Null without
	// include_created.
	RevokedKeys *int `json:"revoked_keys"`
}

// Details are a key with the members that a list leaves out.
type Details struct {
	Key
	// How often the key was used. Counted by whole hours and days (UTC).
	Usage Usage `json:"usage"`
	// The calls of each of the last 30 days (UTC), the earliest first.
	Days []credential.Day `json:"usage_by_day"`
	// Credits that the key, and the keys that it has made, have spent and reserved in this calendar month (UTC).
	Spent int64 `json:"used_this_month_credits"`
	// Credits that the key, and the keys that it has made, have spent and reserved today (UTC).
	SpentToday int64 `json:"used_today_credits"`
}

// Usage counts the uses of a key.
type Usage = credential.Usage

// Settings are the members of a key that can be changed.
type Settings struct {
	Name        string            `json:"name"`
	Scopes      []auth.Scope      `json:"scopes"`
	IPAllowList []string          `json:"ip_allow_list"`
	ExpiresAt   *resource.Time    `json:"expires_at"`
	SpendLimit  *int64            `json:"spend_limit_credits"`
	Mandate     *MandateBody      `json:"mandate"`
	Metadata    resource.Metadata `json:"metadata"`
	// ProfileIDs are set when the key is made.
	ProfileIDs []tenant.Profile `json:"profile_ids"`
}

// Service makes and changes keys.
type Service struct {
	db       *store.DB
	accounts *account.Service
	now      func() time.Time
	random   io.Reader
}

// NewService makes the service; secrets are drawn from random.
func NewService(db *store.DB, accounts *account.Service, now func() time.Time, random io.Reader) *Service {
	return &Service{db, accounts, now, random}
}

// create makes a key of the account in h by the transaction. By is the id of who makes it.
func (s *Service) create(tx *store.Tx, h held, kind tenant.Mode, set Settings, by string) (NewKey, error) {
	secret, err := auth.NewKey(kind, s.random)
	if err != nil {
		return NewKey{}, err
	}
	now, accountID := s.now(), tenant.Account(h.account.ID)
	r := keyrecord.Record{Key: Key{
		Resource: resource.New(id.New(id.APIKey, now), now, set.Metadata),
		Kind:     kind, State: keyrecord.Active, CreatedBy: by, ProfileIDs: set.ProfileIDs,
	}, Root: h.root, Makers: h.makers}
	apply(&r, set, now, r.Version)
	show(&r, secret)
	r.Show(now)
	it, err := store.NewItem("api_key", tenant.Of(accountID, ""), r.ID, r)
	if err != nil {
		return NewKey{}, err
	}
	it.Key, it.Listed = credential.KeyOf(accountID, r.ID), store.Key{}
	it.Filters = map[string]string{"kind": string(kind), rootFilter: h.root}
	for _, bound := range set.ProfileIDs {
		it.Filters[profilesFilter] += string(bound) + "." // they are set when the key is made
	}
	it.Attributes = map[string]string{account.SecretAttribute: auth.HashKey(secret)}
	it.Due = DueExpiry(&r)
	tx.Create(it, nil)
	for i, bound := range set.ProfileIDs {
		missing := errs.Missing(profile.Kind, string(bound))
		missing.Param = "/profile_ids/" + strconv.Itoa(i)
		if !id.Valid(id.Profile, string(bound)) {
			return NewKey{}, missing
		}
		ledger.Use(tx, now, tenant.Of(accountID, kind).Of(bound), missing)
	}
	fresh := credentialOf(&r, h.account, auth.HashKey(secret))
	fresh.Makers = h.limits
	addSecret(tx, fresh, h.owner)
	tx.Count(keyrecord.CountKey(accountID), 1, maxKeys,
		errs.New(errs.InvalidState, "The account has %d keys that are not revoked, which is the maximum. Revoke one "+
			"first.", maxKeys))
	h.bind(tx)
	h.unchanged(tx)
	if err := s.announce(tx, event.APIKeyCreated, accountID, &r); err != nil {
		return NewKey{}, err
	}
	return NewKey{Key: r.Key, Secret: secret}, nil
}

// addSecret creates a secret. It carries a copy of its account's settings, which must be
// the latest, and a concurrent change of the account must notice it.
func addSecret(tx *store.Tx, secret credential.Credential, owner store.Item) {
	credential.Create(tx, secret)
	tx.Unchanged(owner)
	tx.Count(account.SecretsKey(secret.Account), 1, math.MaxInt64, store.ErrConflict)
}

// announce adds an event about a key to the transaction.
func (s *Service) announce(tx *store.Tx, t event.Type, accountID tenant.Account, r *keyrecord.Record) error {
	e, err := event.New(s.now(), tenant.Of(accountID, r.Kind), t, r.Key, nil)
	if err != nil {
		return err
	}
	tx.Create(e, nil)
	return nil
}

// update changes a key's settings, which are valid.
func (s *Service) update(ctx context.Context, tx *store.Tx, k held, set Settings) (Key, error) {
	r, it := k.Record, k.item
	before := r.Limits()
	apply(&r, set, s.now(), r.Version+1)
	if !reflect.DeepEqual(before, r.Limits()) {
		if err := s.limitMade(ctx, tx, it.Account, r.Limits()); err != nil {
			return Key{}, err
		}
	}
	if r.State == keyrecord.Expired && (r.ExpiresAt == nil || s.now().Before(r.ExpiresAt.Time)) {
		r.State = keyrecord.Active
	}
	tx.Unchanged(k.owner)
	k.bind(tx)
	credential.Change(tx, credentialOf(&r, k.account, it.Attributes[account.SecretAttribute]))
	err := s.replace(tx, &r, it)
	return r.Key, err
}

func (s *Service) replace(tx *store.Tx, r *keyrecord.Record, it store.Item) error {
	r.Touch(s.now())
	r.Show(s.now())
	stored := *r
	// Members that are derived on reading are not stored.
	stored.LastUsedAt, stored.LastUsedIP = nil, nil
	if stored.State == keyrecord.Expired {
		stored.State = keyrecord.Active
	}
	before, err := keyrecord.Read(&it, s.now())
	if err != nil {
		return err
	}
	if err := it.Encode(stored); err != nil {
		return err
	}
	it.Due = DueExpiry(r)
	tx.Replace(it)
	if r.State == before.State && len((&auth.Principal{Scopes: r.Scopes}).Lacking(before.Scopes)) == 0 &&
		reflect.DeepEqual(r.Mandate, before.Mandate) {
		return nil
	}
	return person.StartRecheck(tx, s.now(), it.Account, r.ID, it.Version, r.Kind)
}

// apply sets settings that were validated, in a version of the key.
func apply(r *keyrecord.Record, set Settings, now time.Time, version int64) {
	PlanExpiry(r, set.ExpiresAt, now)
	r.Name, r.Scopes, r.IPAllowList = set.Name, set.Scopes, set.IPAllowList
	r.ExpiresAt, r.SpendLimit = set.ExpiresAt, set.SpendLimit
	if !reflect.DeepEqual(set.Mandate, mandateOf(r.Mandate)) {
		r.Mandate = set.Mandate.mandate(keyrecord.MandateID(r.ID, version))
	}
	r.Metadata = set.Metadata.OrEmpty()
}

// show keeps the parts of a secret that may be shown.
func show(r *keyrecord.Record, secret string) {
	r.Prefix, r.Last4 = secret[:auth.PrefixLength], secret[len(secret)-4:]
}

// credentialOf returns the data of the key that the authorizer needs.
func credentialOf(r *keyrecord.Record, a account.Account, hash string) credential.Credential {
	sec := credential.Credential{
		Hash: hash, KeyID: r.ID, Owner: tenant.Of(tenant.Account(a.ID), r.Kind), Plan: a.Plan,
		KeyIPs: r.IPAllowList, AccountIPs: a.IPAllowList, Limit: a.RateLimits.Of(r.Kind), SpendLimit: r.SpendLimit,
		Profiles: r.ProfileIDs, Mandate: r.Mandate.Terms(),
	}
	for _, scope := range r.Scopes {
		sec.Scopes = append(sec.Scopes, string(scope))
	}
	if r.ExpiresAt != nil {
		sec.ExpiresAt = r.ExpiresAt.Time
	}
	return sec
}

// validate checks settings and puts them into canonical form. An end that the
// key already has may lie in the past: the caller does not change it.
func (s *Service) validate(set *Settings, end *resource.Time) error {
	var found []error
	invalid := func(param, format string, args ...any) {
		found = append(found, errs.Invalid(param, format, args...))
	}
	if set.Name == "" || utf8.RuneCountInString(set.Name) > maxName ||
		strings.ContainsFunc(set.Name, unicode.IsControl) {
		invalid("/name", "must have 1 to %d characters, none of them a control character", maxName)
	}
	found = append(found, checkScopes(set.Scopes))
	if len(set.Scopes) == 0 {
		invalid("/scopes", "must have at least one scope")
	}
	list, err := auth.ParseCIDRs(set.IPAllowList, "/ip_allow_list")
	if found = append(found, err); err == nil {
		set.IPAllowList = list
	}
	if n := set.SpendLimit; n != nil && (*n < 0 || *n > ledger.MaxCredits) {
		invalid("/spend_limit_credits", "must be between 0 and %d, or null", int64(ledger.MaxCredits))
	}
	found = append(found, set.Mandate.check())
	if set.ExpiresAt != nil {
		at := resource.Instant(set.ExpiresAt.Time)
		set.ExpiresAt = &at
		unchanged := end != nil && at.Equal(end.Time)
		if !unchanged && !s.now().Before(at.Time) {
			invalid("/expires_at", "must be in the future")
		}
	}
	return errs.All(found...)
}

// knownScopes returns all scopes.
func knownScopes() (known []string) {
	for _, s := range auth.AllScopes() {
		known = append(known, string(s))
	}
	return known
}

// checkScopes refuses scopes that do not exist or are listed twice.
func checkScopes(scopes []auth.Scope) error {
	known := knownScopes()
	var found []error
	for i, scope := range scopes {
		at := "/scopes/" + strconv.Itoa(i)
		if !scope.Known() {
			found = append(found, errs.Invalid(at, "%s", text.NotOneOf(string(scope), known)))
		} else if slices.Contains(scopes[:i], scope) {
			found = append(found, errs.Invalid(at, "is listed twice: %s", scope))
		}
	}
	return errs.All(found...)
}
