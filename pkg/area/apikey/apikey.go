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

// Grants returns the scopes of the key, which its secret gives to whoever has it.
func (k NewKey) Grants() []auth.Scope { return k.Scopes }

// RevokedKey is a key that was revoked.
type RevokedKey struct {
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

// Kind is the kind of the item of a key.
const Kind = "api_key"

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
func (s *Service) create(tx *store.Tx, h keyState, kind tenant.Mode, set Settings, by string) (NewKey, error) {
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
	it, err := store.NewItem(Kind, tenant.Of(accountID, ""), r.ID, r)
	if err != nil {
		return NewKey{}, err
	}
	it.Key, it.ListKey = credential.KeyOf(accountID, r.ID), store.Key{}
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
	return event.Add(tx, s.now(), tenant.Of(accountID, r.Kind), t, r.Key)
}

// update changes a key's settings, which are valid.
func (s *Service) update(ctx context.Context, tx *store.Tx, k keyState, set Settings) (Key, error) {
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
	it.Due = DueExpiry(r)
	if err := tx.Rewrite(it, stored); err != nil {
		return err
	}
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

// manager is the person for whom a call about keys is made. For example, a key that the person has made, directly or
// through other keys, acts for that person.
type manager struct {
	// root is the id of the person, or operator.
	root string
	// role is the role that the person has now. It is empty for a person who was removed.
	role auth.Role
	// person is the item of the person, if the call is made with a key.
	person *store.Item
}

// manager reads the person for whom a call is made.
func (s *Service) manager(ctx context.Context, p *auth.Principal) (m manager, err error) {
	caller := store.Item{}
	if p.KeyID() != "" {
		if caller, err = s.db.Lookup(ctx, credential.KeyOf(p.Account, p.KeyID())); err != nil {
			return m, err
		}
	}
	return s.managerBy(ctx, p, caller)
}

// managerBy is manager for the item of the calling key. The role of a person who calls was read with the call.
func (s *Service) managerBy(ctx context.Context, p *auth.Principal, caller store.Item) (m manager, err error) {
	if p.KeyID() == "" {
		return manager{root: p.Actor.ID, role: p.Role}, nil
	}
	if caller.Kind == "" {
		return manager{root: p.KeyID()}, nil // the key is gone, and sees nothing
	}
	r, err := keyrecord.Read(&caller, s.now())
	if err != nil {
		return m, err
	}
	if m.root, err = keyrecord.RootOf(ctx, s.db, p.Account, &r); err != nil || !id.Valid(id.Person, m.root) {
		m.role = auth.Owner // the operator's keys manage all
		return m, err
	}
	found, err := s.db.Lookup(ctx, credential.KeyOf(p.Account, m.root))
	if err != nil || found.Kind != person.Kind {
		return m, err
	}
	m.person = &found
	of, err := person.Read(m.person, s.now())
	if of.State == person.Active {
		m.role = of.Role
	}
	return m, err
}

// all reports whether the manager sees all keys. Others see those that they have made, directly or through other keys.
func (m manager) all(p *auth.Principal) bool {
	return m.role.Manages() || m.role == auth.Auditor && p.Actor.Kind == auth.Person
}

// own refuses a key that the manager does not see, as if there were none.
func (s *Service) own(ctx context.Context, p *auth.Principal, m manager, r *keyrecord.Record) error {
	if m.all(p) {
		return nil
	}
	root, err := keyrecord.RootOf(ctx, s.db, p.Account, r)
	if err == nil && root != m.root {
		err = errs.Missing("API key", r.ID)
	}
	return err
}

// mayManage refuses changes with a key whose maker may not change keys any more.
func (m manager) mayManage() error {
	if m.role == "" || m.role == auth.Auditor {
		return errs.New(errs.InsufficientScope, "The person who made this key, directly or through other keys, may "+
			"not manage API keys any more. Use another key, or ask an owner of the account.")
	}
	return nil
}

// bind makes the transaction fail if the person of a key has changed since.
func (m manager) bind(tx *store.Tx) {
	if m.person != nil {
		tx.Unchanged(*m.person)
	}
}

// Find reads a key of an account that a caller of the given mode may see: a test key sees test keys only.
func (s *Service) Find(ctx context.Context, accountID tenant.Account, mode tenant.Mode, keyID string) (keyrecord.Record,
	store.Item, error) {
	if !id.Valid(id.APIKey, keyID) {
		return keyrecord.Record{}, store.Item{}, errs.Missing("API key", keyID)
	}
	it, err := s.db.Lookup(ctx, credential.KeyOf(accountID, keyID))
	if err != nil {
		return keyrecord.Record{}, store.Item{}, err
	}
	r, err := s.see(&it, mode, keyID)
	return r, it, err
}

// see returns the key of an item, if a caller of the given mode may see it.
func (s *Service) see(it *store.Item, mode tenant.Mode, keyID string) (keyrecord.Record, error) {
	if it.Kind == "" || mode == tenant.Test && it.Filters["kind"] != string(tenant.Test) {
		return keyrecord.Record{}, errs.Missing("API key", keyID)
	}
	return keyrecord.Read(it, s.now())
}

// keyState is the state that a change of keys starts from: the key to change, if there is one
// already, the account, and the actor that makes the change.
type keyState struct {
	keyrecord.Record
	item    store.Item
	account account.Account
	owner   store.Item // of the account
	grantor
	lineage
}

// grantor is the actor that grants rights to a key. The rights of a key are read, not taken from the authorizer: it may
// have been narrowed or revoked since. A person or the operator has no key, and no limits but scopes.
type grantor struct {
	manager
	rights Settings
	by     *store.Item // of the key; nil if there is none, or if it is the key that is changed
	self   bool
}

// bind makes the transaction fail if the rights of the grantor have changed since they were read.
func (g *grantor) bind(tx *store.Tx) {
	if g.by != nil {
		tx.Unchanged(*g.by)
	}
	g.manager.bind(tx)
}

var operatorGrantor = grantor{manager: manager{root: operator, role: auth.Owner},
	rights: Settings{Scopes: auth.AllScopes()}}

// FindHeld is Find for a change that the operator makes: it returns the account too, of which a secret carries a copy.
func (s *Service) FindHeld(ctx context.Context, accountID tenant.Account, mode tenant.Mode,
	keyID string) (keyState, error) {
	return s.hold(ctx, accountID, mode, keyID, nil)
}

// hold reads all that a change is based on in one round trip. Without the id of a key
// it is about a new one; without a principal the operator makes it.
func (s *Service) hold(ctx context.Context, accountID tenant.Account, mode tenant.Mode, keyID string,
	p *auth.Principal) (keyState, error) {
	h := keyState{grantor: operatorGrantor}
	keys := []store.Key{store.IDKey(string(accountID))}
	if keyID != "" {
		if !id.Valid(id.APIKey, keyID) {
			return h, errs.Missing("API key", keyID)
		}
		keys = append(keys, credential.KeyOf(accountID, keyID))
	}
	caller := ""
	if p != nil {
		h.rights, caller = Settings{Scopes: p.Scopes}, p.KeyID()
		h.self = caller == keyID && caller != ""
	}
	if caller != "" && !h.self {
		keys = append(keys, credential.KeyOf(accountID, caller))
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return h, err
	}
	h.owner = items[0]
	if keyID != "" {
		h.item = items[1]
		if h.Record, err = s.see(&h.item, mode, keyID); err != nil {
			return h, err
		}
	}
	if h.lineage, err = s.lineageOf(ctx, accountID, h.Makers, items[len(items)-1]); err != nil {
		return h, err
	}
	if p != nil {
		if h.manager, err = s.managerBy(ctx, p, items[len(items)-1]); err != nil {
			return h, err
		}
	}
	if p != nil && keyID != "" {
		if err := s.own(ctx, p, h.manager, &h.Record); err != nil {
			return h, err
		}
	}
	if h.owner.Kind != account.Kind {
		return h, errs.New(errs.NotFound, "There is no account %q.", accountID)
	}
	if err := h.owner.Decode(&h.account); err != nil || caller == "" {
		return h, err
	}
	if h.self {
		h.rights = settingsOf(&h.Record)
		return h, h.mayManage()
	}
	h.by = &items[len(items)-1]
	r, err := s.see(h.by, tenant.Live, caller)
	h.rights = settingsOf(&r)
	// Drop scopes that the key has lost since the call was authorized, and do not add new ones.
	h.rights.Scopes = slices.DeleteFunc(slices.Clone(r.Scopes), func(s auth.Scope) bool { return !p.Has(s) })
	switch {
	case errs.CodeOf(err) == errs.NotFound, err == nil && r.State != keyrecord.Active:
		return h, errs.New(errs.InvalidAPIKey, auth.MessageInvalidKey)
	case err == nil && !slices.Contains(r.Scopes, auth.AccountManage):
		return h, errs.New(errs.InsufficientScope, "%s", auth.MessageScope(auth.AccountManage))
	case err != nil:
		return h, err
	}
	if err := h.mayManage(); err != nil || keyID != "" {
		return h, err
	}
	if len(r.Makers) >= keyrecord.MostMakers {
		return h, errs.New(errs.InvalidState, "The calling key was made through %d other keys, which is the maximum. "+
			"Create the key with one of those, or in the account area.", keyrecord.MostMakers)
	}
	h.lineage, err = s.lineageOf(ctx, accountID, r.Makers)
	h.makers = append([]string{caller}, r.Makers...)
	h.limits = append([]auth.KeyLimit{r.Limits()}, h.limits...)
	return h, err
}

func settingsOf(r *keyrecord.Record) Settings {
	return Settings{r.Name, r.Scopes, r.IPAllowList, r.ExpiresAt, r.SpendLimit, mandateOf(r.Mandate), r.Metadata,
		r.ProfileIDs}
}

// mayChange refuses to change the key to settings that the grantor may not grant. Narrowing a key takes no rights over
// it. Widening it is like making it: the key must not be wider than the grantor afterwards, and no key widens itself.
func (h *keyState) mayChange(set *Settings) error {
	before := settingsOf(&h.Record)
	wider := within(set, &before)
	if wider == nil {
		return nil
	}
	if h.self {
		e := errs.New(errs.ScopeEscalation, "A key cannot widen itself. Use another key that has all its rights.")
		e.Param = errs.As(wider).Param
		return e
	}
	return within(set, &h.rights)
}

// within returns scope_escalation unless a key with the settings is permitted no more
// than one with the rights. The param is the first member that permits more.
func within(set, rights *Settings) error {
	if err := (&auth.Principal{Scopes: rights.Scopes}).RequireScopes(set.Scopes, "/scopes"); err != nil {
		return err
	}
	invalid := func(param, format string, args ...any) error {
		e := errs.New(errs.ScopeEscalation, format, args...)
		e.Param = param
		return e
	}
	if i := auth.Outside(set.IPAllowList, rights.IPAllowList); i >= 0 {
		at := "/ip_allow_list"
		if len(set.IPAllowList) > 0 {
			at += "/" + strconv.Itoa(i)
		}
		return invalid(at, "The calling key may be used from its ip_allow_list only, so it cannot permit other "+
			"addresses. Each range must lie within one range of that list.")
	}
	if end := rights.ExpiresAt; end != nil && (set.ExpiresAt == nil || set.ExpiresAt.After(end.Time)) {
		return invalid("/expires_at", "The calling key expires at %s, so it cannot give a later expiry, or none.",
			end.Format(time.RFC3339))
	}
	if most := rights.SpendLimit; most != nil && (set.SpendLimit == nil || *set.SpendLimit > *most) {
		return invalid("/spend_limit_credits", "The calling key may spend %d credits a month, so it cannot give a "+
			"higher limit, or none.", *most)
	}
	if most := rights.Mandate.mandate("").Terms(); most != nil {
		param := "/mandate"
		switch member := set.Mandate.mandate("").Terms().Within(most); member {
		case "":
			return nil
		case "mandate":
		default:
			param += "/" + member
		}
		return invalid(param, "The calling key has a mandate, so it cannot give a wider one, or none. Each member "+
			"must permit no more than that of its own mandate; quiet_hours must be the same.")
	}
	return nil
}

// lineage has the keys that have made a key, directly or through others, whose limits count what the key spends.
type lineage struct {
	makers []string
	limits []auth.KeyLimit
	items  []store.Item // of the makers, without the grantor's, which is bound already
}

// lineageOf reads the lineage of a key with the makers. Known are items of keys that were read already.
func (s *Service) lineageOf(ctx context.Context, accountID tenant.Account, makers []string,
	known ...store.Item) (l lineage, err error) {
	l.makers = makers
	l.limits, l.items, err = keyrecord.MakersOf(ctx, s.db, accountID, makers, known...)
	return l, err
}

// unchanged makes the transaction fail if the limit of a maker has changed since it was read.
func (l lineage) unchanged(tx *store.Tx) {
	for _, it := range l.items {
		if it.Kind != "" {
			tx.Unchanged(it)
		}
	}
}

// limitMade gives the keys that a key has made, directly or through others, its new limits. The transaction fails if a
// key or secret is made at the same time: it would have the limit before.
func (s *Service) limitMade(ctx context.Context, tx *store.Tx, accountID tenant.Account,
	limit auth.KeyLimit) error {
	counter, err := s.db.Lookup(ctx, account.SecretsKey(accountID))
	if err != nil {
		return err
	}
	limits, made := map[string]auth.KeyLimit{}, []*ending{}
	q := store.Query{Index: store.Table, Partition: credential.Keys(accountID), Limit: 100, OldestFirst: true}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		r, err := keyrecord.Read(&it, s.now())
		limits[r.ID] = r.Limits()
		if slices.Contains(r.Makers, limit.Key) && r.State != keyrecord.Revoked {
			made = append(made, &ending{r, it})
		}
		return err
	})
	if err != nil || len(made) == 0 {
		tx.CounterIs(account.SecretsKey(accountID), counter.Count())
		return err
	}
	limits[limit.Key] = limit
	for _, k := range made {
		var all []auth.KeyLimit
		for _, maker := range k.Makers {
			one := limits[maker]
			one.Key = maker // also of a key that is gone
			all = append(all, one)
		}
		credential.ChangeMakers(tx, k.item.Attributes[account.SecretAttribute], all)
	}
	tx.CounterIs(account.SecretsKey(accountID), counter.Count())
	return nil
}

// operator is who makes a key that no key has made.
const operator = "operator"

// Issue makes a key on behalf of the operator, and commits it.
func (s *Service) Issue(ctx context.Context, accountID tenant.Account, kind tenant.Mode, set Settings) (NewKey, error) {
	if err := s.validate(&set, nil); err != nil {
		return NewKey{}, err
	}
	h, err := s.hold(ctx, accountID, kind, "", nil)
	if err != nil {
		return NewKey{}, err
	}
	tx := &store.Tx{}
	k, err := s.create(tx, h, kind, set, operator)
	if err != nil {
		return NewKey{}, err
	}
	return k, s.db.Commit(ctx, tx)
}

// End revokes a key on behalf of the operator, and commits it.
func (s *Service) End(ctx context.Context, accountID tenant.Account, keyID string) (Key, error) {
	r, it, err := s.Find(ctx, accountID, tenant.Live, keyID)
	if err != nil {
		return Key{}, err
	}
	tx, k := &store.Tx{}, &ending{r, it}
	if err := s.revoke(tx, k); err != nil {
		return Key{}, err
	}
	return k.Key, s.db.Commit(ctx, tx)
}

// FindSecret returns the account and the key that a secret belongs to. It returns
// store.ErrNotFound if it belongs to none.
func (s *Service) FindSecret(ctx context.Context, secret string) (tenant.Account, Key, error) {
	c, err := credential.Find(ctx, s.db, auth.HashKey(secret))
	if err != nil {
		return "", Key{}, err
	}
	r, _, err := s.Find(ctx, c.Account, tenant.Live, c.KeyID)
	return c.Account, r.Key, err
}

// All returns every key of an account, oldest first.
func (s *Service) All(ctx context.Context, accountID tenant.Account, each func(Key) error) error {
	q := store.Query{Index: store.Table, Partition: credential.Keys(accountID), Limit: 100, OldestFirst: true}
	return s.db.Each(ctx, q, func(it store.Item) error {
		r, err := keyrecord.Read(&it, s.now())
		if err != nil {
			return err
		}
		return each(r.Key)
	})
}
