package publication

import (
	"context"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// Outside returns why an account is left out whose platform a mandate does not permit, as the error says.
func Outside(accountID string, err error) item.OmittedAccount {
	return item.OmittedAccount{SocialAccountID: accountID, Code: item.OmittedMandate, Message: errs.As(err).Message}
}

// Forbidden returns why an account is left out of a call that does not name it: a rule of law forbids the content
// there.
func Forbidden(accountID string, v law.Violation) item.OmittedAccount {
	return item.OmittedAccount{SocialAccountID: accountID, Code: item.OmittedUnlawful, Message: v.Error().Message}
}

// Obey has an item follow the rules of law of its factory, and have the price of its product, as they are now. An item
// without a marking of advertising takes that of its factory. It returns the item of the factory. An empty one stands
// for a factory that was deleted: the item keeps its rules then.
func Obey(ctx context.Context, db *store.DB, o tenant.Owner, r *item.Record) (store.Item, error) {
	keys := []store.Key{factoryrecord.Key(r.FactoryID)}
	if r.PromotionID != nil && r.ProductID != nil {
		keys = append(keys, store.IDKey(*r.ProductID))
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return store.Item{}, err
	}
	if len(items) > 1 && items[1].Kind == product.ItemKind && o.Sees(items[1].Owner) {
		p, err := product.Decode(&items[1])
		if err != nil {
			return store.Item{}, err
		}
		item.Reprice(r, p)
	}
	if !factoryrecord.Usable(items[0], o) {
		return store.Item{}, nil
	}
	legal, err := profile.LegalOf(ctx, db, items[0])
	if err == nil {
		item.Obey(r, legal)
	}
	return items[0], err
}

// lawful has the item follow the rules of law as they are now, and returns the failure of a publication that violates
// one, or nil. It also returns the results of all rules.
func (w *Worker) lawful(ctx context.Context, o tenant.Owner, r *item.Record, pub *item.Publication) (*platform.Error,
	[]law.Result, error) {
	if _, err := Obey(ctx, w.DB, o, r); err != nil {
		return nil, nil, err
	}
	checked := law.Checked(item.FactsOf(r, pub, w.Now()))
	for _, one := range checked {
		if one.Violation != nil {
			return platform.Reject(platform.Code(item.FailedUnlawful), one.Violation.Error().Message), nil, nil
		}
	}
	return nil, checked, nil
}
