// Package apikey holds API keys as they are stored and shown. Start with Record.
package apikey

import (
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
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
	Old []Replaced `json:"old_secrets,omitempty"`
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

// Replaced is an OldSecret as it is stored.
type Replaced struct {
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
