package apikey

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
)

// Keep is the time for which a key that was revoked or has expired is shown.
const Keep = credential.Keep

// postponed is the time by which a key stays longer if its record is needed.
const postponed = 7 * 24 * time.Hour

// remove removes a key that has ended long ago, with the secret of one that has expired. A key that has made others, or
// enabled webhooks, stays: its record leads to them, and has the scopes of the webhooks.
func remove(ctx context.Context, db *store.DB, it store.Item, stored keyrecord.Record, now time.Time) error {
	needed, err := isNeeded(ctx, db, it.Account, stored.ID)
	if err != nil {
		return err
	}
	tx := &store.Tx{}
	if needed {
		at := now.Add(postponed)
		stored.RemoveAt = &at
	} else {
		stored.RemoveAt, it.ExpireAt = nil, now
		if stored.State != keyrecord.Revoked {
			credential.Revoke(tx, it.Attributes[credential.SecretAttribute], now)
			tx.Count(keyrecord.CountKey(it.Account), -1, keyrecord.Most, store.ErrConflict)
		}
	}
	it.Due = DueExpiry(&stored)
	if err := it.Encode(stored); err != nil {
		return err
	}
	tx.Replace(it)
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
