// Package apikey holds the keys that callers authenticate with: their making,
// rotation and revocation. A secret is in the answer that made it and nowhere
// else; what is kept is its hash.
package apikey

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// maxKeys bounds the keys of an account that are not revoked, so that one
// transaction can change an account together with all of them.
const maxKeys = 80

// maxName bounds the characters of a key's name.
const maxName = 100

// The states of a key.
const (
	stateActive  = "active"
	stateRevoked = "revoked"
	stateExpired = "expired"
)

// Key is an API key as callers see it.
type Key struct {
	resource.Resource
	Name        string       `json:"name" doc:"Name of the key"`
	Kind        tenant.Mode  `json:"kind" enum:"live,test" doc:"live: spends credits and publishes. test: uses the sandbox"`
	Prefix      string       `json:"prefix" doc:"The first 13 characters of the secret" example:"svc_test_3kQ9"`
	Last4       string       `json:"last4" doc:"The last 4 characters of the secret" example:"x8Zr"`
	Scopes      []auth.Scope `json:"scopes" nullable:"false" doc:"Scopes of the key"`
	IPAllowList []string     `json:"ip_allow_list" nullable:"false" doc:"Address ranges that may use the key. Empty: all"`
	State       string       `json:"state" enum:"active,revoked,expired" doc:"State of the key. A request with a revoked or expired key fails with 401"`
	ExpiresAt   *time.Time   `json:"expires_at" doc:"Time at which the key expires. Null: never"`
	LastUsedAt  *time.Time   `json:"last_used_at" doc:"Time of the last request, to the minute. Null: never used"`
	LastUsedIP  *string      `json:"last_used_ip" doc:"Address of the first request of that minute"`
	CreatedBy   string       `json:"created_by" doc:"Id of the key that created it, or operator"`
}

// SchemaName names the schema in the OpenAPI document.
func (Key) SchemaName() string { return "ApiKey" }

// NewKey is a key together with its secret.
type NewKey struct {
	Key
	Secret string `json:"secret" doc:"The secret, to be sent as Authorization: Bearer …. It is not shown again"`
}

// SchemaName names the schema in the OpenAPI document.
func (NewKey) SchemaName() string { return "ApiKeyWithSecret" }

// Settings are the members of a key that can be changed.
type Settings struct {
	Name        string            `json:"name"`
	Scopes      []auth.Scope      `json:"scopes"`
	IPAllowList []string          `json:"ip_allow_list"`
	ExpiresAt   *time.Time        `json:"expires_at"`
	Metadata    resource.Metadata `json:"metadata"`
}

// record is the document that is kept of a key.
type record struct {
	Key
	// Old are the secrets that rotations have replaced and that still work.
	Old []oldSecret `json:"old_secrets,omitempty"`
	// WarnAt is when the account is to be told that the key expires; nil: not any more.
	WarnAt *time.Time `json:"warn_at,omitempty"`
}

type oldSecret struct {
	Hash  string    `json:"hash"`
	Until time.Time `json:"until"`
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

// Create makes a key for an account and gives it with the transaction that
// creates it. createdBy is the id of a key, or "operator".
func (s *Service) Create(ctx context.Context, accountID tenant.Account, kind tenant.Mode, set Settings, createdBy string) (NewKey, *store.Tx, error) {
	a, owner, err := s.accounts.Get(ctx, accountID)
	if err != nil {
		return NewKey{}, nil, err
	}
	if err := s.validate(&set, nil); err != nil {
		return NewKey{}, nil, err
	}
	secret, err := auth.NewKey(kind, s.random)
	if err != nil {
		return NewKey{}, nil, err
	}
	now := s.now()
	r := record{Key: Key{
		Resource: resource.New(id.New(id.APIKey, now), now, set.Metadata),
		Kind:     kind, State: stateActive, CreatedBy: createdBy,
	}}
	r.apply(set, now)
	r.show(secret)
	it, err := store.NewItem("api_key", tenant.Of(accountID, ""), r.ID, r)
	if err != nil {
		return NewKey{}, nil, err
	}
	it.Key, it.Listed = credential.KeyOf(accountID, r.ID), store.Key{}
	it.Filters = map[string]string{"kind": string(kind)}
	it.Attributes = map[string]string{account.SecretAttribute: auth.HashKey(secret)}
	it.Due = r.warning()
	tx := &store.Tx{}
	tx.Create(it, nil)
	addSecret(tx, r.secret(a, auth.HashKey(secret)), owner)
	tx.Count(countKey(accountID), 1, maxKeys, errs.New(errs.InvalidState, "The account has %d keys that are not revoked, which is the maximum. Revoke one first.", maxKeys))
	return NewKey{Key: r.Key, Secret: secret}, tx, nil
}

// addSecret creates a secret. It carries a copy of what its account says, which
// must be the latest, and a change of the account under way must notice it.
func addSecret(tx *store.Tx, secret credential.Credential, owner store.Item) {
	credential.Create(tx, secret)
	tx.Unchanged(owner)
	tx.Count(account.SecretsKey(secret.Account), 1, math.MaxInt64, store.ErrConflict)
}

func countKey(accountID tenant.Account) store.Key {
	return store.IDKey("keycount#" + string(accountID))
}

// Find reads a key of an account that a caller of the given mode may see: a
// test key sees test keys only.
func (s *Service) Find(ctx context.Context, accountID tenant.Account, mode tenant.Mode, keyID string) (record, store.Item, error) {
	if !id.Valid(id.APIKey, keyID) {
		return record{}, store.Item{}, errs.Missing("API key", keyID)
	}
	it, err := s.db.Get(ctx, credential.KeyOf(accountID, keyID))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return record{}, store.Item{}, err
	}
	r, err := s.see(&it, mode, keyID)
	return r, it, err
}

// held is a key together with the account that holds it.
type held struct {
	record
	item    store.Item
	account account.Account
	owner   store.Item // of the account
}

// FindHeld is Find together with the account, in the same round trip: a secret
// carries a copy of what its account says.
func (s *Service) FindHeld(ctx context.Context, accountID tenant.Account, mode tenant.Mode, keyID string) (held, error) {
	if !id.Valid(id.APIKey, keyID) {
		return held{}, errs.Missing("API key", keyID)
	}
	items, err := s.db.GetAll(ctx, credential.KeyOf(accountID, keyID), store.IDKey(string(accountID)))
	if err != nil {
		return held{}, err
	}
	h := held{item: items[0], owner: items[1]}
	if h.record, err = s.see(&h.item, mode, keyID); err != nil {
		return held{}, err
	}
	if h.owner.Kind != account.Kind {
		return held{}, errs.Missing(account.Kind, string(accountID))
	}
	return h, h.owner.Decode(&h.account)
}

// see gives the key of an item to a caller of the given mode.
func (s *Service) see(it *store.Item, mode tenant.Mode, keyID string) (record, error) {
	if it.Kind == "" || mode == tenant.Test && it.Filters["kind"] != string(tenant.Test) {
		return record{}, errs.Missing("API key", keyID)
	}
	return s.read(it)
}

func (s *Service) read(it *store.Item) (record, error) {
	var r record
	if err := it.Decode(&r); err != nil {
		return r, err
	}
	if at, ip := credential.LastUsed(it); !at.IsZero() {
		r.LastUsedAt, r.LastUsedIP = &at, &ip
	}
	if r.State == stateActive && r.ExpiresAt != nil && !s.now().Before(*r.ExpiresAt) {
		r.State = stateExpired
	}
	return r, nil
}

// Revoke ends a key at once and gives the transaction that does; a key that is
// revoked already stays as it is.
func (s *Service) Revoke(r record, it store.Item) (Key, *store.Tx, error) {
	if r.State == stateRevoked {
		return r.Key, nil, nil
	}
	tx := &store.Tx{}
	for _, old := range r.Old {
		credential.Revoke(tx, old.Hash)
	}
	r.Old = nil
	credential.Revoke(tx, it.Attributes[account.SecretAttribute])
	delete(it.Attributes, account.SecretAttribute)
	tx.Count(countKey(it.Account), -1, maxKeys, store.ErrConflict)
	r.State = stateRevoked
	err := s.replace(tx, &r, it)
	return r.Key, tx, err
}

// Rotate gives a key a new secret; the current one lives on for the overlap.
func (s *Service) Rotate(k held, overlap time.Duration) (NewKey, *store.Tx, error) {
	r, it := k.record, k.item
	if r.State != stateActive {
		return NewKey{}, nil, errs.New(errs.InvalidState, "The key is %s; only an active key can be rotated. Create a new one.", r.State)
	}
	secret, err := auth.NewKey(r.Kind, s.random)
	if err != nil {
		return NewKey{}, nil, err
	}
	now := s.now()
	hash, current := auth.HashKey(secret), it.Attributes[account.SecretAttribute]
	tx := &store.Tx{}
	addSecret(tx, r.secret(k.account, hash), k.owner)
	r.Old = slices.DeleteFunc(r.Old, func(o oldSecret) bool { return !now.Before(o.Until) })
	if len(r.Old) >= maxOldSecrets && overlap > 0 {
		return NewKey{}, nil, errs.New(errs.InvalidState, "%d earlier secrets of this key are still valid. Rotate with overlap_seconds 0, or wait until they expire.", maxOldSecrets)
	}
	if overlap > 0 {
		r.Old = append(r.Old, oldSecret{Hash: current, Until: now.Add(overlap)})
	} else {
		credential.Revoke(tx, current)
	}
	// Earlier secrets must lead to the new one, not to the one that ends.
	for _, old := range r.Old {
		credential.Move(tx, old.Hash, hash, old.Until)
	}
	it.Attributes[account.SecretAttribute] = hash
	r.show(secret)
	if err := s.replace(tx, &r, it); err != nil {
		return NewKey{}, nil, err
	}
	return NewKey{Key: r.Key, Secret: secret}, tx, nil
}

// maxOldSecrets bounds the earlier secrets of a key that still work.
const maxOldSecrets = 5

// Update changes a key's settings.
func (s *Service) Update(k held, set Settings) (Key, *store.Tx, error) {
	r, it := k.record, k.item
	if r.State == stateRevoked {
		return Key{}, nil, errs.New(errs.InvalidState, "The key is revoked and cannot be changed. Create a new one.")
	}
	if err := s.validate(&set, r.ExpiresAt); err != nil {
		return Key{}, nil, err
	}
	r.apply(set, s.now())
	if r.State == stateExpired && (r.ExpiresAt == nil || s.now().Before(*r.ExpiresAt)) {
		r.State = stateActive
	}
	tx := &store.Tx{}
	tx.Unchanged(k.owner)
	credential.Change(tx, r.secret(k.account, it.Attributes[account.SecretAttribute]))
	if err := s.replace(tx, &r, it); err != nil {
		return Key{}, nil, err
	}
	return r.Key, tx, nil
}

func (s *Service) replace(tx *store.Tx, r *record, it store.Item) error {
	r.Touch(s.now())
	stored := *r
	// What is derived on reading is not kept.
	stored.LastUsedAt, stored.LastUsedIP = nil, nil
	if stored.State == stateExpired {
		stored.State = stateActive
	}
	if err := it.Encode(stored); err != nil {
		return err
	}
	it.Due = r.warning()
	tx.Replace(it)
	return nil
}

// apply takes over settings that were validated.
func (r *record) apply(set Settings, now time.Time) {
	r.plan(set.ExpiresAt, now)
	r.Name, r.Scopes, r.IPAllowList = set.Name, set.Scopes, set.IPAllowList
	r.ExpiresAt = set.ExpiresAt
	r.Metadata = set.Metadata.OrEmpty()
}

// show keeps what may be shown of a secret.
func (r *record) show(secret string) {
	r.Prefix, r.Last4 = secret[:auth.PrefixLength], secret[len(secret)-4:]
}

// secret is what the authorizer must know of the key.
func (r *record) secret(a account.Account, hash string) credential.Credential {
	sec := credential.Credential{
		Hash: hash, KeyID: r.ID, Owner: tenant.Of(tenant.Account(a.ID), r.Kind), Plan: a.Plan,
		KeyIPs: r.IPAllowList, AccountIPs: a.IPAllowList, Limit: a.RateLimits.Of(r.Kind),
	}
	for _, scope := range r.Scopes {
		sec.Scopes = append(sec.Scopes, string(scope))
	}
	if r.ExpiresAt != nil {
		sec.ExpiresAt = *r.ExpiresAt
	}
	return sec
}

// validate checks settings and puts them into canonical form. An expiry that the
// key already has may lie in the past: the caller does not change it.
func (s *Service) validate(set *Settings, expiry *time.Time) error {
	if set.Name == "" || utf8.RuneCountInString(set.Name) > maxName || strings.ContainsFunc(set.Name, unicode.IsControl) {
		return errs.Invalid("/name", "must have 1 to %d characters, none of them a control character", maxName)
	}
	for i, scope := range set.Scopes {
		at := "/scopes/" + strconv.Itoa(i)
		if !scope.Known() {
			return errs.Invalid(at, "%q is not a scope", scope)
		}
		if slices.Contains(set.Scopes[:i], scope) {
			return errs.Invalid(at, "is listed twice: %s", scope)
		}
	}
	if len(set.Scopes) == 0 {
		return errs.Invalid("/scopes", "must have at least one scope")
	}
	list, err := auth.ParseCIDRs(set.IPAllowList, "/ip_allow_list")
	if err != nil {
		return err
	}
	set.IPAllowList = list
	if set.ExpiresAt != nil {
		at := resource.Instant(*set.ExpiresAt)
		set.ExpiresAt = &at
		unchanged := expiry != nil && at.Equal(*expiry)
		if !unchanged && !s.now().Before(at) {
			return errs.Invalid("/expires_at", "must be in the future")
		}
	}
	return nil
}
