package publishing

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// accountsOf returns the accounts that each item is, or would be, published to: those that it names, or else those of
// its factory.
func (s *Service) accountsOf(ctx context.Context, records []*item.Record,
	it store.Item) (map[string][]social.Record, error) {
	var keys []store.Key
	want := func(key store.Key) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, r := range records {
		want(factoryrecord.Key(r.Item.FactoryID))
	}
	factories, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	attached := map[string][]string{}
	for _, f := range factories {
		if factoryrecord.Usable(f, it.Owner) {
			if attached[f.PK], err = factoryrecord.Accounts(&f); err != nil {
				return nil, err
			}
		}
	}
	ids, all := map[string][]string{}, map[string]social.Record{}
	keys = nil
	for _, r := range records {
		if ids[r.Item.ID] = r.Item.SocialAccountIDs; len(ids[r.Item.ID]) == 0 {
			ids[r.Item.ID] = attached[r.Item.FactoryID]
		}
		for _, accountID := range ids[r.Item.ID] {
			want(store.IDKey(accountID))
		}
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, found := range items {
		if social.Is(found, it.Owner) {
			if all[found.PK], err = social.Decode(&found); err != nil {
				return nil, err
			}
		}
	}
	shown := map[string][]social.Record{}
	for itemID, accounts := range ids {
		for _, accountID := range accounts {
			if acct, ok := all[accountID]; ok {
				shown[itemID] = append(shown[itemID], acct)
			}
		}
	}
	return shown, nil
}
