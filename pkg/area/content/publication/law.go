package publication

import (
	"context"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// Forbidden returns why an account is left out of a call that does not name it: a rule of law forbids the content
// there.
func Forbidden(accountID string, v law.Violation) item.OmittedAccount {
	return item.OmittedAccount{SocialAccountID: accountID, Code: item.OmittedUnlawful, Message: v.Error().Message}
}

// lawful has the item follow the rules of law of its factory as they are now, and returns the failure of a publication
// that violates one, or nil. It also returns the results of all rules.
func (w *Worker) lawful(ctx context.Context, o tenant.Owner, r *item.Record, pub *item.Publication) (*platform.Error,
	[]law.Result, error) {
	keys := []store.Key{factoryrecord.Key(r.FactoryID)}
	if r.PromotionID != nil && r.ProductID != nil {
		keys = append(keys, store.IDKey(*r.ProductID))
	}
	items, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, nil, err
	}
	if factoryrecord.Usable(items[0], o) {
		legal, err := profile.LegalOf(ctx, w.DB, items[0])
		if err != nil {
			return nil, nil, err
		}
		item.Obey(r, legal)
	}
	if len(items) > 1 && items[1].Kind == product.ItemKind && items[1].Owner == o {
		p, err := product.Decode(&items[1])
		if err != nil {
			return nil, nil, err
		}
		item.Reprice(r, p)
	}
	checked := law.Checked(item.FactsOf(r, pub, w.Now()))
	for _, one := range checked {
		if one.Violation != nil {
			return platform.Reject(platform.Code(item.FailedUnlawful), one.Violation.Error().Message), nil, nil
		}
	}
	return nil, checked, nil
}
