package content

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// accepted returns the item of a body after all checks, except for its money, with the price of a mode.
func (s *Service) accepted(ctx context.Context, p *auth.Principal, b createBody, refs references, priced tenant.Mode,
	now time.Time) (*item.Record, error) {
	if _, found := refs.factories[b.FactoryID]; found {
		resource.Makes(ctx, resource.Concern{FactoryID: b.FactoryID, ProfileID: refs.owner.Profile,
			Kind: string(b.Kind)})
	}
	if err := b.check(p.Mode); err != nil {
		return nil, err
	}
	if err := refs.draw(&b, now); err != nil {
		return nil, err
	}
	r, err := s.newRecord(b, refs, priced, now)
	if _, found := refs.factories[b.FactoryID]; err != nil && !found {
		return nil, s.lost(ctx, b.FactoryID, err)
	}
	if err != nil {
		return r, err
	}
	refs.spend(r)
	r.PublishFor(p)
	attached := slices.Concat(refs.factories[b.FactoryID].SocialAccountIDs, b.Accounts)
	if err := refs.meet(s.vary(p.Owner, r, b.Variants.items(), attached, refs)); err != nil {
		return nil, err
	}
	if r.Item.Provided() && b.Accounts == nil {
		err := s.takesOwn(ctx, p, refs.factories[b.FactoryID].SocialAccountIDs, refs, r)
		if err := refs.meet(err); err != nil {
			return nil, err
		}
	}
	if b.PublishAt == nil {
		return r, refs.meet(ruler{s}.lawful(ctx, r, refs.factories[b.FactoryID].SocialAccountIDs, now))
	}
	return r, refs.meet(s.order(ctx, p, b, refs, r, now))
}

// lost returns the error of a factory that was not found, which says so if the account has it in the other mode.
func (s *Service) lost(ctx context.Context, factoryID string, err error) error {
	_, why := resource.Find(ctx, s.db, id.Factory, factory.Kind, factoryID)
	if errs.CodeOf(why) != errs.NotFound {
		return err
	}
	e := errs.As(why)
	e.Param = "/factory_id"
	return e
}

// order notes in a new item when and where it is published, and refuses what scheduling would refuse, as far as it is
// known before the item is generated.
func (s *Service) order(ctx context.Context, p *auth.Principal, b createBody, refs references, r *item.Record,
	now time.Time) error {
	if err := p.Require(auth.ContentPublish, "/publish_at"); err != nil {
		return err
	}
	if err := b.PublishAt.check(refs.clock); err != nil {
		return err
	}
	f := refs.factories[b.FactoryID]
	w := &publishRequest{s: s, owner: refs.owner, asked: b.Accounts, read: refs.accounts, options: b.Options,
		factory: f, gate: publication.Gate{Record: r, At: b.PublishAt.Time.Time, Any: b.PublishAt.Next}}
	if b.PublishAt.Next {
		w.gate.At = refs.clock
	}
	targets, err := w.targets(ctx, f.SocialAccountIDs)
	if err != nil {
		return err
	}
	at := b.PublishAt.Time
	if b.PublishAt.Next {
		slot, accounts, err := s.next(ctx, f, r, targets, refs.clock, *refs.slots)
		if err != nil {
			return err
		}
		at = resource.Instant(slot)
		for _, accountID := range accounts {
			*refs.slots = append(*refs.slots, item.Slot{Account: accountID, At: at})
			r.Wanted = append(r.Wanted, accountID)
		}
	}
	r.Item.PublishAt, r.Ordered = &at, &item.Ordered{Options: maps.Clone(b.Options)}
	r.Item.SocialAccountIDs = append([]string{}, b.Accounts...)
	return nil
}

// accountKeys returns the keys of the accounts that bodies name.
func accountKeys(bodies []createBody) (keys []store.Key) {
	for _, b := range bodies {
		for _, accountID := range slices.Concat(b.Accounts, slices.Sorted(maps.Keys(b.Variants))) {
			if key := store.IDKey(accountID); id.Valid(id.SocialAccount, accountID) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
