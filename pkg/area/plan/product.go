package plan

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	record "github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/store"
)

// productsAtOnce is the number of products that a plan takes in turn if its caller names none: the newest ones.
const productsAtOnce = 50

// offer sets which products the items of the next chunk present: those that the plan names, and else the newest active
// ones of the shop, in turn. They are chosen once for a chunk.
func (h *Handler) offer(ctx context.Context, j *job) error {
	if !j.recipe.Sells {
		return nil
	}
	named := j.plan.ProductIDs
	if j.products != nil {
		named = j.products
	}
	items, err := h.stored(ctx, j, named)
	if err != nil {
		return err
	}
	found, err := j.stock(items)
	if err != nil || j.products != nil {
		return err
	}
	j.products = append([]string{}, found...)
	return j.Keep("products", j.products)
}

// stock fills the shop with the active products among items, and returns their ids.
func (j *job) stock(items []store.Item) (found []string, err error) {
	j.shop = map[string]*record.StoredProduct{}
	for _, it := range items {
		if it.Kind != record.ItemKind || it.Owner != j.Owner {
			continue
		}
		r, err := record.Decode(&it)
		if err != nil {
			return nil, err
		}
		if r.FactoryID == j.factoryID && r.State == record.Active {
			j.shop[r.ID] = r
			found = append(found, r.ID)
		}
	}
	return found, nil
}

// stored reads products that are named, or lists the newest ones.
func (h *Handler) stored(ctx context.Context, j *job, named []string) ([]store.Item, error) {
	if len(named) == 0 {
		page, err := h.DB.List(ctx, store.Query{
			Index: store.ByParent, Partition: record.Partition(j.Owner, j.factoryID), Limit: productsAtOnce,
			OneOf: map[string][]string{record.StateFilter: {string(record.Active)}},
		})
		return page.Items, err
	}
	return h.DB.GetAll(ctx, store.IDKeys(named)...)
}

// productOf returns the product of a slot by its number in the plan, or nil if there is none: the slots that present
// one take the products in turn, in an order that changes from turn to turn.
func (j *job) productOf(n int) *record.StoredProduct {
	if len(j.products) == 0 || !j.slots[n].offers {
		return nil
	}
	before := 0
	for _, slot := range j.slots[:n] {
		if slot.offers {
			before++
		}
	}
	return j.shop[turn(j.plan.seed(), j.products, before)]
}

// turn returns the n-th of products that are taken in turn. No product follows itself, unless there is only one.
func turn(seed string, products []string, n int) string {
	round := func(r int) []string {
		all := slices.Clone(products)
		seeded(seed, strconv.Itoa(r)).Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		return all
	}
	r, i := n/len(products), n%len(products)
	all := round(r)
	if r > 0 && len(all) > 1 && all[0] == lastOf(round, r-1) {
		all[0], all[1] = all[1], all[0]
	}
	return all[i]
}

// lastOf returns the last product of a round, which the swap at the begin of a round of two changes.
func lastOf(round func(int) []string, r int) string {
	all := round(r)
	if r > 0 && len(all) == 2 && all[0] == lastOf(round, r-1) {
		return all[0]
	}
	return all[len(all)-1]
}

// present has an item present a product, unless that is nil, with the promotion that is active when it is published,
// and returns the credits that it costs less.
func (j *job) present(r *item.Record, p *record.StoredProduct, at time.Time) (saved int64, err error) {
	if !j.recipe.Sells {
		return 0, nil
	}
	if p == nil {
		return item.AttemptAt(r).Present(nil), nil
	}
	product, err := item.NewProduct(p, "", r.Brief.Region, at)
	if err != nil {
		return 0, err
	}
	// A promotion that a rule of law does not let content announce is left out.
	if then := *r; product.Promotion != nil {
		then.Brief.Product = product
		if len(law.Check(item.FactsOf(&then, &item.Publication{}, at))) > 0 {
			product.Promotion = nil
		}
	}
	return item.AttemptAt(r).Present(product), nil
}
