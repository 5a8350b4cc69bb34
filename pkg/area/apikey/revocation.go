package apikey

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// maxOldSecrets bounds the earlier secrets of a key that still work.
const maxOldSecrets = 5

// stateOf returns the data of invalid_state about a key that is not active.
func stateOf(state string) errs.StateContext {
	if state == keyrecord.Revoked {
		return errs.StateContext{State: state, Allowed: []string{}}
	}
	return errs.StateContext{State: state, Allowed: []string{"update", "revoke"}}
}

// Rotate replaces the secret of a key. The current one and those before it stay valid
// for their overlaps; without an overlap all of them end.
func (s *Service) Rotate(tx *store.Tx, k keyState, overlap time.Duration) (NewKey, error) {
	r, it := k.Record, k.item
	if r.State != keyrecord.Active {
		return NewKey{}, errs.New(errs.InvalidState, "The key is %s; only an active key can be rotated. Create a new "+
			"one.", r.State).With(stateOf(r.State))
	}
	secret, err := auth.NewKey(r.Kind, s.random)
	if err != nil {
		return NewKey{}, err
	}
	now := s.now()
	hash, current := auth.HashKey(secret), it.Attributes[account.SecretAttribute]
	fresh := credentialOf(&r, k.account, hash)
	fresh.From, fresh.Makers = current, k.limits
	addSecret(tx, fresh, k.owner)
	k.bind(tx)
	k.unchanged(tx)
	r.Old = slices.DeleteFunc(r.Old, func(o keyrecord.StoredOldSecret) bool { return !now.Before(o.Until.Time) })
	if len(r.Old) >= maxOldSecrets && overlap > 0 {
		return NewKey{}, errs.New(errs.InvalidState, "%d earlier secrets of this key are still valid. Rotate with "+
			"overlap_seconds 0, which ends them, or wait until they expire.", maxOldSecrets)
	}
	r.Old = append(r.Old, keyrecord.StoredOldSecret{Hash: current, OldSecret: keyrecord.OldSecret{Last4: r.Last4,
		Until: resource.Instant(now.Add(overlap))}})
	for _, old := range r.Old {
		if overlap > 0 {
			// Earlier secrets must lead to the new one, not to the one that ends.
			credential.Move(tx, old.Hash, hash, old.Until.Time)
		} else {
			credential.Revoke(tx, old.Hash, s.now())
		}
	}
	if overlap == 0 {
		r.Old = nil
	}
	it.Attributes[account.SecretAttribute] = hash
	show(&r, secret)
	if err := s.replace(tx, &r, it); err != nil {
		return NewKey{}, err
	}
	if err := s.announce(tx, event.APIKeyRotated, it.Account, &r); err != nil {
		return NewKey{}, err
	}
	return NewKey{Key: r.Key, Secret: secret}, nil
}

// ending is a key that is to be revoked.
type ending struct {
	keyrecord.Record
	item store.Item
}

// writes returns the number of writes that revoking the key takes.
func (e *ending) writes() int { return 4 + len(e.Old) }

// revoke ends keys of one account at once. Revoking a revoked key has no effect.
func (s *Service) revoke(tx *store.Tx, keys ...*ending) error {
	n := int64(0)
	for _, k := range keys {
		if k.State == keyrecord.Revoked {
			continue
		}
		n++
		for _, old := range k.Old {
			if s.now().Before(old.Until.Time) { // other secrets have ended, and may be gone
				credential.Revoke(tx, old.Hash, s.now())
			}
		}
		credential.Revoke(tx, k.item.Attributes[account.SecretAttribute], s.now())
		delete(k.item.Attributes, account.SecretAttribute)
		k.Old, k.State = nil, keyrecord.Revoked
		removed := s.now().Add(Keep)
		k.RemoveAt = &removed
		if err := s.replace(tx, &k.Record, k.item); err != nil {
			return err
		}
		if err := s.announce(tx, event.APIKeyRevoked, k.item.Account, &k.Record); err != nil {
			return err
		}
	}
	if n > 0 {
		tx.Count(keyrecord.CountKey(keys[0].item.Account), -n, maxKeys, store.ErrConflict)
	}
	return nil
}

// maxWrites bounds the writes of a transaction that revokes several keys. DynamoDB
// permits 100; a few are left for the record of the answer.
const maxWrites = 90

// revokeCreated revokes a key together with the keys that it has created, directly or through others, disables the
// webhooks of all of them, and returns the number of the created keys. Changes that do not fit into the transaction it
// commits first, so that a repeat after a crash still finds the key, and does the rest. The transaction fails if a key
// or secret was made at the same time: it may be one of those to revoke, and the caller tries again.
func (s *Service) revokeCreated(ctx context.Context, tx *store.Tx, root *ending, caller string) (int, error) {
	accountID := root.item.Account
	counter, err := s.db.Lookup(ctx, account.SecretsKey(accountID))
	if err != nil {
		return 0, err
	}
	created, err := s.created(ctx, accountID, root.ID)
	if err != nil {
		return 0, err
	}
	// Before the keys, so that a repeat after a crash still finds the key to revoke.
	makers := []string{root.ID}
	for _, k := range created {
		makers = append(makers, k.ID)
	}
	if err := webhook.DisableMadeBy(ctx, s.db, s.now(), accountID, makers); err != nil {
		return 0, err
	}
	// The calling key ends last, so that it can repeat the request.
	if i := slices.IndexFunc(created, func(k *ending) bool { return k.ID == caller }); i >= 0 {
		created = append(slices.Delete(slices.Clone(created), i, i+1), created[i])
	}
	batch, writes := []*ending{}, root.writes()
	for _, k := range created {
		if k.State == keyrecord.Revoked {
			continue
		}
		if writes += k.writes(); writes > maxWrites {
			part := &store.Tx{}
			if err := s.revoke(part, batch...); err != nil {
				return 0, err
			}
			if err := s.db.Commit(ctx, part); err != nil {
				return 0, err
			}
			batch, writes = batch[:0], root.writes()+k.writes()
		}
		batch = append(batch, k)
	}
	tx.CounterIs(account.SecretsKey(accountID), counter.Count())
	return len(created), s.revoke(tx, append(batch, root)...)
}

// created returns the keys that a key has created, directly or through others.
func (s *Service) created(ctx context.Context, accountID tenant.Account, keyID string) (all []*ending, err error) {
	var others []*ending
	q := store.Query{Index: store.Table, Partition: credential.Keys(accountID), Limit: 100, OldestFirst: true}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		r, err := keyrecord.Read(&it, s.now())
		others = append(others, &ending{r, it})
		return err
	})
	makers := map[string]bool{keyID: true}
	for before := -1; len(all) > before; {
		before = len(all)
		others = slices.DeleteFunc(others, func(k *ending) bool {
			if !makers[k.CreatedBy] || k.ID == keyID {
				return false
			}
			makers[k.ID] = true
			all = append(all, k)
			return true
		})
	}
	return all, err
}

// Keep is the time for which a key that was revoked or has expired is shown.
const Keep = credential.Keep

// extraKeep is how much longer a key is kept if keys or webhooks still refer to it.
const extraKeep = 7 * 24 * time.Hour

// remove removes a key that has ended long ago, with the secret of one that has expired. A key that has made others, or
// enabled webhooks, stays: its record leads to them, and has the scopes of the webhooks.
func remove(ctx context.Context, db *store.DB, it store.Item, stored keyrecord.Record, now time.Time) error {
	needed, err := isNeeded(ctx, db, it.Account, stored.ID)
	if err != nil {
		return err
	}
	tx := &store.Tx{}
	if needed {
		at := now.Add(extraKeep)
		stored.RemoveAt = &at
	} else {
		stored.RemoveAt, it.ExpireAt = nil, now
		if stored.State != keyrecord.Revoked {
			credential.Revoke(tx, it.Attributes[credential.SecretAttribute], now)
			tx.Count(keyrecord.CountKey(it.Account), -1, keyrecord.Most, store.ErrConflict)
		}
	}
	it.Due = DueExpiry(&stored)
	if err := tx.Rewrite(it, stored); err != nil {
		return err
	}
	return db.Commit(ctx, tx)
}

// errFound ends a search.
var errFound = errors.New("expiry: found")

// isNeeded reports whether a key has made other keys that are there, or webhooks that are enabled.
func isNeeded(ctx context.Context, db *store.DB, accountID tenant.Account, keyID string) (bool, error) {
	keys := store.Query{Index: store.Table, Partition: credential.Keys(accountID), Limit: 100}
	err := db.Each(ctx, keys, func(it store.Item) error {
		var k keyrecord.Record
		if err := it.Decode(&k); err != nil {
			return err
		}
		if k.CreatedBy == keyID {
			return errFound
		}
		return nil
	})
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		if err != nil {
			break
		}
		hooks := store.Query{Index: store.Table, Partition: webhook.List(tenant.Of(accountID, mode)),
			Limit: webhook.PerRead}
		err = db.Each(ctx, hooks, func(it store.Item) error {
			var h webhook.WebhookRecord
			if err := it.Decode(&h); err != nil {
				return err
			}
			if h.CreatedBy == keyID && h.State != webhook.StateDisabled {
				return errFound
			}
			return nil
		})
	}
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// notice is the time between the warning and the end of a key.
const notice = 7 * 24 * time.Hour

// latestYear is the last year that a time in a document can have, by RFC 3339. A key that
// ends close to its end is not removed.
const latestYear = 9999

// expiring is the partition of store.ByDue that lists the keys of all accounts with a planned warning, by its time.
const expiring = "keys#expiring"

// PlanExpiry sets the time of the warning for a key whose end is about to change. An end that is nearer than the notice
// needs no warning: its caller has just chosen it. A key with an end is removed some time after it.
func PlanExpiry(r *keyrecord.Record, end *resource.Time, now time.Time) {
	r.RemoveAt = nil
	if end != nil {
		if at := end.Add(Keep); at.Year() <= latestYear {
			r.RemoveAt = &at
		}
	}
	if end != nil && r.ExpiresAt != nil && end.Equal(r.ExpiresAt.Time) {
		return
	}
	r.WarnAt = nil
	if end == nil {
		return
	}
	if at := end.Add(-notice); at.After(now) {
		r.WarnAt = &at
	}
}

// DueExpiry returns the key's place in the list of planned warnings and removals, or the zero key if none is planned.
func DueExpiry(r *keyrecord.Record) store.Key {
	at := r.RemoveAt
	if r.WarnAt != nil && r.State != keyrecord.Revoked {
		at = r.WarnAt
	}
	if at == nil {
		return store.Key{}
	}
	return store.DueAt(expiring, *at, r.ID)
}

// WarnExpiring emits the event of every key whose warning is due, and returns how many these were. It removes keys that
// have ended long ago. Each key has one warning: the event commits together with the removal from the list. A warning
// that fails stays in the list for the next call.
func WarnExpiring(ctx context.Context, db *store.DB, now time.Time) (warned int, err error) {
	return db.EachDue(ctx, expiring, now, func(it store.Item) (int, error) {
		done, err := warn(ctx, db, it, now)
		if done {
			return 1, err
		}
		return 0, err
	})
}

// warn emits the event of one key, unless the key has ended already, and reports whether it did.
func warn(ctx context.Context, db *store.DB, it store.Item, now time.Time) (bool, error) {
	r, err := keyrecord.Read(&it, now)
	if err != nil {
		return false, err
	}
	var stored keyrecord.Record
	if err := it.Decode(&stored); err != nil {
		return false, err
	}
	if stored.WarnAt == nil || stored.State == keyrecord.Revoked {
		if r.State == keyrecord.Active || stored.RemoveAt == nil || stored.RemoveAt.After(now) {
			return false, store.ErrConflict // the index is behind
		}
		return false, remove(ctx, db, it, stored, now)
	}
	tx := &store.Tx{}
	active := r.State == keyrecord.Active
	if active {
		if err := event.Add(tx, now, tenant.Of(it.Account, r.Kind), event.APIKeyExpiring, r.Key); err != nil {
			return false, err
		}
	}
	// Nothing that callers see changes, so the version stays.
	stored.WarnAt = nil
	it.Due = DueExpiry(&stored)
	if err := tx.Rewrite(it, stored); err != nil {
		return false, err
	}
	return active, db.Commit(ctx, tx)
}
