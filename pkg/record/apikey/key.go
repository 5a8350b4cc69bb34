// Package apikey holds API keys as they are stored and shown. Start with Record.
package apikey

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// The states of a key.
const (
	Active  = "active"
	Revoked = "revoked"
	Expired = "expired"
)

// Key is an API key as callers see it.
type Key struct {
	resource.Resource
	// Name of the key.
	Name string `json:"name"`
	// live: spends credits and publishes. test: uses the sandbox.
	Kind tenant.Mode `json:"kind" enum:"live,test"`
	// The first 13 characters of the secret.
	Prefix string `json:"prefix" example:"svc_test_3kQ9"`
	// The last 4 characters of the secret.
	Last4 string `json:"last4" example:"x8Zr"`
	// Scopes of the key.
	Scopes []auth.Scope `json:"scopes" nullable:"false"`
	// Address ranges that may use the key. Empty: all.
	IPAllowList []string `json:"ip_allow_list" nullable:"false"`
	// State of the key. A request with a revoked or expired key fails with 401.
	State string `json:"state" enum:"active,revoked,expired"`
	// Time at which the key expires. Null: never.
	ExpiresAt *resource.Time `json:"expires_at"`
	// Credits that the key may spend in a calendar month (UTC). Null: no limit of its own.
	//
	// SpendLimit is enforced when credits are reserved.
	SpendLimit *int64 `json:"spend_limit_credits"`
	// Mandate of the key, which bounds what an agent does with it: it holds for the key and for the keys that it
	// creates. Null: none.
	Mandate *Mandate `json:"mandate"`
	// Profiles that the key is bound to: it sees and makes nothing else. Empty: the whole account.
	//
	// ProfileIDs never change: what the key has made stays where it can reach it.
	ProfileIDs []tenant.Profile `json:"profile_ids" nullable:"false"`
	// Earlier secrets that still work after a rotation. A request with one of them cannot manage API keys.
	OldSecrets []OldSecret `json:"old_secrets" nullable:"false"`
	// Time of the last request, to the minute. Null: never used.
	LastUsedAt *resource.Time `json:"last_used_at"`
	// Address of the first request of that minute.
	LastUsedIP *string `json:"last_used_ip"`
	// Id of the key that created it, or operator.
	CreatedBy string `json:"created_by"`
}

// Record is the stored document of a key.
type Record struct {
	Key
	// Root is the id of the person who has made the key, directly or through other keys, or operator. It is empty for
	// keys that were made before it was stored: RootOf finds it.
	Root string `json:"root,omitempty"`
	// Makers are the ids of the keys that have made the key, from its maker on. What it spends counts for their limits.
	Makers []string `json:"makers,omitempty"`
	// Old has the replaced secrets that still work. It takes the place of Key.OldSecrets, which is derived from it and
	// not stored.
	Old []StoredOldSecret `json:"old_secrets,omitempty"`
	// WarnAt is the time to warn the account that the key expires. It is nil if no warning is planned.
	WarnAt *time.Time `json:"warn_at,omitempty"`
	// RemoveAt is the time to remove the key, if it has ended. It is nil if it has no end.
	RemoveAt *time.Time `json:"remove_at,omitempty"`
}

// Most bounds the keys of an account that are not revoked, so that one transaction can
// change all of their secrets together with the account.
const Most = 80

// CountKey is the key of the count of an account's keys that are not revoked.
func CountKey(account tenant.Account) store.Key { return store.IDKey("keycount#" + string(account)) }

// OldSecret is the public form of a secret that a rotation has replaced.
type OldSecret struct {
	// The last 4 characters of the secret.
	Last4 string `json:"last4" example:"x8Zr"`
	// Time at which it ends.
	Until resource.Time `json:"until"`
}

// StoredOldSecret is an OldSecret as it is stored.
type StoredOldSecret struct {
	Hash string `json:"hash"`
	OldSecret
}

// Show sets OldSecrets to the old secrets that still work.
func (r *Record) Show(now time.Time) {
	r.OldSecrets = []OldSecret{}
	if r.ProfileIDs == nil {
		r.ProfileIDs = []tenant.Profile{} // of a key that was made before there were profiles
	}
	for _, o := range r.Old {
		if now.Before(o.Until.Time) {
			r.OldSecrets = append(r.OldSecrets, o.OldSecret)
		}
	}
}

// Read returns the record of an item. It adds the values that are not in the document: the last use, and whether the
// key has expired.
func Read(it *store.Item, now time.Time) (Record, error) {
	var r Record
	if err := it.Decode(&r); err != nil {
		return r, err
	}
	r.Show(now)
	if at, ip := credential.LastUsed(it); !at.IsZero() {
		r.LastUsedAt, r.LastUsedIP = resource.InstantOrNil(&at), &ip
	}
	if r.State == Active && r.ExpiresAt != nil && !now.Before(r.ExpiresAt.Time) {
		r.State = Expired
	}
	return r, nil
}

// Mandate is the mandate of a key as callers see it.
type Mandate struct {
	// Id of the mandate: that of the key, and the version of the key that has set it. The audit log names it.
	ID string `json:"id" example:"key_01h455vb4pex5vsknk084sn02q:3"`
	// Credits that the key may spend on a day (UTC), with the keys that it has created. Null: no limit of a day.
	CreditsADay *int64 `json:"credits_a_day"`
	// Platforms that it may publish to. Null: all.
	Platforms []string `json:"platforms" nullable:"true"`
	// Hours of each day in which nothing of it is published. Work that spends is permitted. Null: none.
	QuietHours *auth.QuietHours `json:"quiet_hours"`
	// Acts that only people do. publish: schedule, publish and approve content. spend: spend credits. delete: delete,
	// disconnect and empty the sandbox. invite: open the account to others by an address, a secret, a right or a copy.
	NeedsPerson []auth.Act `json:"needs_person" nullable:"false"`
	// Time from which on the key does nothing any more. Null: none.
	Until *resource.Time `json:"until"`
}

// MandateID returns the id of a mandate that a version of a key sets.
func MandateID(keyID string, version int64) string {
	return keyID + ":" + strconv.FormatInt(version, 10)
}

// Terms returns the mandate as it is checked, or nil for nil.
func (m *Mandate) Terms() *auth.Mandate {
	if m == nil {
		return nil
	}
	t := &auth.Mandate{ID: m.ID, CreditsADay: m.CreditsADay, Platforms: m.Platforms, QuietHours: m.QuietHours,
		NeedsPerson: m.NeedsPerson}
	if m.Until != nil {
		t.Until = &m.Until.Time
	}
	return t
}

// Limits returns the limits of the key that count for the keys that it has made.
func (r *Record) Limits() auth.KeyLimit {
	return auth.KeyLimit{Key: r.ID, Limit: r.SpendLimit, Mandate: r.Mandate.Terms()}
}

// MostMakers bounds the keys through which a key can be made: each of them is a write of every transaction that spends.
const MostMakers = 4

// MakersOf returns the limits of the keys that have made a key, and the items that it has read for it. Known are items
// of keys that were read already.
func MakersOf(ctx context.Context, db *store.DB, account tenant.Account, ids []string,
	known ...store.Item) (all []auth.KeyLimit, items []store.Item, err error) {
	var keys []store.Key
	found := map[string]store.Item{}
	for _, it := range known {
		found[it.SK] = it
	}
	for _, maker := range ids {
		if _, ok := found[maker]; !ok {
			keys = append(keys, credential.KeyOf(account, maker))
		}
	}
	if len(keys) > 0 {
		if items, err = db.GetAll(ctx, keys...); err != nil {
			return nil, nil, err
		}
	}
	for _, it := range items {
		found[it.SK] = it
	}
	for _, maker := range ids {
		var r Record
		if it := found[maker]; it.Kind != "" {
			err = it.Decode(&r)
		}
		r.ID = maker // also of a key that is gone
		if err != nil {
			return nil, nil, err
		}
		all = append(all, r.Limits())
	}
	return all, items, nil
}

// maxDepth bounds the keys that are followed from a key to who made the first of them.
const maxDepth = 100

// RootOf returns the id of the person who has made a key, directly or through other keys, or operator. Keys that were
// made before it was stored are followed from maker to maker.
func RootOf(ctx context.Context, db *store.DB, account tenant.Account, r *Record) (string, error) {
	root, by := r.Root, r.CreatedBy
	for range maxDepth {
		if root != "" {
			return root, nil
		}
		if !id.Valid(id.APIKey, by) {
			return by, nil
		}
		it, err := db.Get(ctx, credential.KeyOf(account, by))
		if errors.Is(err, store.ErrNotFound) {
			return by, nil // nobody's: no person and no key has its id
		}
		if err != nil {
			return "", err
		}
		var maker Record
		if err := it.Decode(&maker); err != nil {
			return "", err
		}
		root, by = maker.Root, maker.CreatedBy
	}
	return "", errs.New(errs.InvalidState, "The key was made through more than %d other keys. Create it anew.",
		maxDepth)
}
