package item

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/generate"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

var _ generate.Looking = (*work)(nil)

// Look implements generate.Looking. The finished media show no logo and no name if one of
// the accounts that the item may be published to is of a platform that permits none. The
// accounts are those of the item and of its factory, as they are now.
func (w *work) Look(ctx context.Context, db *store.DB) (plain bool, err error) {
	if !w.Brief.Brand.Shows() && w.offer() == nil {
		return false, nil
	}
	items, err := db.GetAll(ctx, append(accountKeys(w.SocialAccountIDs), factoryrecord.Key(w.FactoryID))...)
	if err != nil {
		return false, err
	}
	accounts := items[:len(w.SocialAccountIDs)]
	if factory := items[len(accounts)]; factoryrecord.Usable(factory, w.item.Owner) {
		ids, err := factoryrecord.Accounts(&factory)
		if err != nil {
			return false, err
		}
		others, err := db.GetAll(ctx, accountKeys(ids)...)
		if err != nil {
			return false, err
		}
		accounts = append(slices.Clone(accounts), others...)
	}
	return slices.ContainsFunc(accounts, func(it store.Item) bool {
		if it.Owner != w.item.Owner {
			return false
		}
		p, _ := registry.Find(it.Filters["platform"])
		_, takes := p.Capabilities.Kinds[platform.Kind(w.Kind)]
		return p.Capabilities.Plain && takes
	}), nil
}

// Plain implements generate.Looking.
func (w *work) Plain() { w.plain = true }

func accountKeys(ids []string) []store.Key {
	keys := make([]store.Key, len(ids))
	for i, id := range ids {
		keys[i] = store.IDKey(id)
	}
	return keys
}
