package publication

import (
	"context"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// automatic is the handler of item.AutoPublish.
type automatic struct {
	endless
	*Worker
}

// Step schedules an item that was generated, or publishes it, on the accounts of its
// factory as they are now. It stays generated if the factory no longer publishes
// automatically or has no connected account that takes its kind.
func (w automatic) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	o.Done = true
	_, r, _, err := w.read(ctx, s)
	if err != nil {
		return o, task.Again(err)
	}
	if r == nil || r.State != item.Generated {
		return o, nil
	}
	targets, err := w.ofFactory(ctx, s.Owner, r)
	if err != nil {
		return o, task.Again(err)
	}
	if len(targets) == 0 {
		return o, nil
	}
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, s)
		if err != nil || r == nil || r.State != item.Generated {
			return err
		}
		now := w.Now()
		r.SocialAccountIDs = nil
		for _, t := range targets {
			r.SocialAccountIDs = append(r.SocialAccountIDs, t.Account.ID)
		}
		if r.PublishAt != nil {
			err = Schedule(tx, now, s.Owner, r, targets, r.PublishAt.Time)
		} else {
			err = Publish(tx, now, s.Owner, r, targets)
		}
		if err != nil {
			return err
		}
		return write(tx, it, r)
	}
	return o, nil
}

// ofFactory returns the accounts to which the item's factory publishes it automatically.
func (w automatic) ofFactory(ctx context.Context, o tenant.Owner, r *item.Record) (targets []Target, err error) {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(r.FactoryID))
	if err != nil || !factoryrecord.Usable(items[0], o) || factoryrecord.State(items[0]) == factoryrecord.StatePaused {
		return nil, err
	}
	var factory struct {
		AutoPublish bool `json:"auto_publish"`
	}
	if err := items[0].Decode(&factory); err != nil || !factory.AutoPublish {
		return nil, err
	}
	ids, err := factoryrecord.Accounts(&items[0])
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	accounts, err := w.accounts(ctx, o, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		acct, found := accounts[id]
		adapter, ok := w.Platforms.Of(o.Mode, acct.Platform)
		if !found || !ok || !acct.Usable() || len(targets) == MaxAccounts {
			continue
		}
		limits := adapter.Capabilities()
		if _, takes := limits.Kinds[platform.Kind(r.Kind)]; takes {
			targets = append(targets, Target{Account: acct, Limits: limits})
		}
	}
	return targets, nil
}
