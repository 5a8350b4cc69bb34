package plan

import (
	"slices"
	"strconv"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// checkProducts refuses products that the items of a factory's plan cannot present. Their items were read.
func checkProducts(o tenant.Owner, f factory.Factory, ids []string, items []store.Item) error {
	if len(ids) > 0 && f.Type != factory.Seller {
		return errs.Invalid("/product_ids", "is for factories of the type seller. This one is of the type %s", f.Type)
	}
	var found []error
	for i, productID := range ids {
		at := slices.IndexFunc(items, func(it store.Item) bool { return it.PK == productID })
		if at < 0 {
			at, items = len(items), append(items, store.Item{})
		}
		found = append(found, checkProduct("/product_ids/"+strconv.Itoa(i), productID, items[at], o, f.ID))
	}
	return errs.All(found...)
}

// checkProduct refuses a product, whose item was read, that the items of a factory's plan cannot present. The param
// names the member of the body that has its id.
func checkProduct(param, productID string, it store.Item, o tenant.Owner, factoryID string) error {
	switch {
	case product.Offered(it, o, factoryID):
		return nil
	case it.PK != productID || it.Kind != product.ItemKind || !o.Sees(it.Owner):
		return errs.MissingAt(param, product.ItemKind, productID)
	}
	return errs.Invalid(param, "is archived, or a product of another factory. Send an active product of the "+
		"factory %s", factoryID)
}
