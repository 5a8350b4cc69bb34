package publication

import (
	"context"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// announced adds to the transaction the item by which webhooks of the platform find the publication.
func (w poster) announced(ctx context.Context, plan planner, pub *item.Publication, of store.Item,
	adapter platform.Adapter) error {
	_, announces := adapter.(platform.Announcer)
	if !announces || plan.Mode != tenant.Live || pub.PlatformPostID == nil || plan.r.Item.Kind == item.Story ||
		!social.Is(of, plan.Owner) {
		return nil
	}
	acct, err := social.Decode(&of)
	if err != nil {
		return err
	}
	key := item.PostKey(pub.Platform, acct.PlatformID, *pub.PlatformPostID)
	known, err := w.DB.Lookup(ctx, key)
	if err != nil || known.Kind != "" {
		return err // a publication that was found as an earlier post of the account
	}
	named := item.Announced{Item: plan.r.Item.ID, Publication: pub.ID, Account: acct.ID}
	entry, err := named.Entry(plan.now, plan.Owner, key)
	if err != nil {
		return err
	}
	plan.tx.CreateExpiring(entry, plan.now.Unix(), store.ErrConflict)
	return nil
}
