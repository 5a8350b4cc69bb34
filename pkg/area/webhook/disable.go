package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// DisableMadeBy disables the webhooks of an account, in both modes, that the API keys made. Each is a transaction of
// its own, so a repeat does the rest. It returns store.ErrConflict if a webhook changes at the same time.
func DisableMadeBy(ctx context.Context, db *store.DB, now time.Time, account tenant.Account, keyIDs []string) error {
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		q := store.Query{Index: store.Table, Partition: List(tenant.Of(account, mode)), Limit: PerRead}
		err := db.Each(ctx, q, func(it store.Item) error {
			var r WebhookRecord
			if err := it.Decode(&r); err != nil {
				return err
			}
			if r.State == StateDisabled || r.MakerScopes != nil || !slices.Contains(keyIDs, r.CreatedBy) {
				return nil
			}
			r.Disable(ReasonMakerRevoked)
			r.Touch(now)
			tx := &store.Tx{}
			if err := r.ReplaceIn(tx, &it, now); err != nil {
				return err
			}
			return db.Commit(ctx, tx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ReplaceIn writes the webhook, and the event for the account's other webhooks if this one is disabled.
func (r *WebhookRecord) ReplaceIn(tx *store.Tx, it *store.Item, now time.Time) error {
	if err := it.Encode(r); err != nil {
		return err
	}
	tx.Replace(*it)
	if r.State != StateDisabled {
		return nil
	}
	disabled, err := event.New(now, it.Owner, event.WebhookDisabled, r.View(now), nil)
	if err != nil {
		return err
	}
	tx.Create(disabled, nil)
	return nil
}
