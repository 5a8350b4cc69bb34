package publication

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// Obey has an item follow the rules of law of its factory, and have the price of its product, as they are now. An item
// without a marking of advertising takes that of its factory. It returns the item of the factory, and others that it
// reads with it. An empty one stands for a factory that was deleted: the item keeps its rules then.
func Obey(ctx context.Context, db *store.DB, o tenant.Owner, r *item.Record,
	others ...store.Key) (of store.Item, beside []store.Item, err error) {
	keys := append(slices.Clone(others), factoryrecord.Key(r.FactoryID))
	if r.PromotionID != nil && r.ProductID != nil {
		keys = append(keys, store.IDKey(*r.ProductID))
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return of, nil, err
	}
	beside, items = items[:len(others)], items[len(others):]
	if len(items) > 1 && items[1].Kind == product.ItemKind && o.Sees(items[1].Owner) {
		p, err := product.Decode(&items[1])
		if err != nil {
			return of, nil, err
		}
		item.Reprice(r, p)
	}
	if !factoryrecord.Usable(items[0], o) {
		return of, beside, nil
	}
	legal, err := profile.LegalOf(ctx, db, items[0])
	if err == nil {
		item.Obey(r, legal)
	}
	return items[0], beside, err
}
