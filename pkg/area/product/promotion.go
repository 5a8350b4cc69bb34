package product

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// maxChanged is the number of products that one call may add and take away together: each
// is a write of its transaction, which has up to 100.
const maxChanged = 90

// Promotions creates, lists and changes promotions.
type Promotions struct {
	db  *store.DB
	now func() time.Time
}

// NewPromotions makes the service.
func NewPromotions(db *store.DB, now func() time.Time) *Promotions { return &Promotions{db, now} }

// MountPromotions registers the operations of the area.
func MountPromotions(r *httpapi.Router, e area.Env) { NewPromotions(e.DB, e.Now).Register(r) }

// promotionSettings are the members of a promotion that a caller sets.
type promotionSettings struct {
	ProductIDs []string          `json:"product_ids"`
	Name       string            `json:"name"`
	Discount   Discount          `json:"discount"`
	StartsAt   time.Time         `json:"starts_at"`
	EndsAt     time.Time         `json:"ends_at"`
	Message    string            `json:"message"`
	State      string            `json:"state"`
	Metadata   resource.Metadata `json:"metadata"`
	PriorPrice *money.Price      `json:"prior_price"`
	Exception  *PriorException   `json:"prior_price_exception"`
}

func promotionSettingsOf(p Promotion) promotionSettings {
	return promotionSettings{p.ProductIDs, p.Name, p.Discount, p.StartsAt.Time, p.EndsAt.Time, string(p.Message), "",
		p.Metadata, p.PriorPrice, p.Exception}
}

// checkStated refuses a prior price that is not valid, or that is stated for several products.
func checkStated(prior *money.Price, productIDs []string) error {
	switch {
	case prior == nil:
		return nil
	case len(productIDs) != 1:
		return errs.Invalid("/prior_price", "is for a promotion of one product. Create one for each product, or "+
			"leave it out")
	case !money.IsCurrency(prior.Currency):
		return errs.Invalid("/prior_price/currency", "is not the ISO 4217 code of a currency; write it as EUR")
	}
	return nil
}

// checkDiscount refuses a discount of more than everything.
func checkDiscount(d Discount) error {
	if d.Kind == Percent && d.Value > 100 {
		return errs.Invalid("/discount/value", "must be at most 100 for the kind percent")
	}
	return nil
}

// checkTimes refuses a promotion that has no time.
func checkTimes(starts, ends, now time.Time) error {
	switch {
	case !ends.After(starts):
		return errs.Invalid("/ends_at", "must be after starts_at")
	case !ends.After(now):
		return errs.Invalid("/ends_at", "must be in the future")
	}
	return nil
}

// apply checks settings and takes them over.
func (s promotionSettings) apply(p *Promotion, now time.Time) error {
	times := checkTimes(s.StartsAt, s.EndsAt, now)
	if s.State == string(Ended) {
		s.EndsAt, times = now, nil
	}
	if err := errs.All(checkDiscount(s.Discount), times, checkStated(s.PriorPrice, s.ProductIDs)); err != nil {
		return err
	}
	p.ProductIDs, p.Name, p.Discount, p.Message, p.Metadata = s.ProductIDs, s.Name, s.Discount,
		resource.Text(s.Message),
		s.Metadata.OrEmpty()
	p.PriorPrice, p.Exception = s.PriorPrice, s.Exception
	p.StartsAt, p.EndsAt = resource.Instant(s.StartsAt), resource.Instant(s.EndsAt)
	return nil
}

// assign has each of the products, whose items were read, keep the promotion, and those that it had before forget it.
// It refuses products that the promotion cannot have, and what a rule of law of the region forbids.
func assign(ctx context.Context, tx *store.Tx, region string, now time.Time, found map[string]store.Item, p *Promotion,
	before []string) error {
	changed := map[string]*StoredProduct{}
	for _, productID := range before {
		it, ok := found[productID]
		if !ok {
			continue // it was deleted after the promotion had ended
		}
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		r.Exclude(p.ID, now)
		changed[productID] = r
	}
	var faults []error
	currency := ""
	p.PriorPrices = []PriorPrice{}
	for i, productID := range p.ProductIDs {
		param := "/product_ids/" + strconv.Itoa(i)
		r := changed[productID]
		if it, ok := found[productID]; r == nil && ok {
			var err error
			if r, err = Decode(&it); err != nil {
				return err
			}
		}
		switch {
		case r == nil:
			faults = append(faults, errs.MissingAt(param, ItemKind, productID))
			continue
		case r.FactoryID != p.FactoryID:
			faults = append(faults, errs.Invalid(param, "is the id of a product of another factory than %s. Use one of that factory", p.FactoryID))
			continue
		case r.State == Archived && !slices.Contains(before, productID):
			faults = append(faults, errs.Invalid(param, "is an archived product. Set its state to active first"))
		case len(r.Unended(now)) >= MaxPromotions:
			faults = append(faults, errs.Invalid(param, "is in %d promotions that have not ended, which is the maximum",
				MaxPromotions))
		case p.Discount.Kind == Amount && p.Discount.Value > r.Price.Amount:
			faults = append(faults, errs.Invalid("/discount/value", "is above the price of the product %s, which is %d",
				r.ID, r.Price.Amount))
		case p.Discount.Kind == Amount && currency != "" && currency != r.Price.Currency:
			faults = append(faults, errs.Invalid("/discount/kind",
				"must be percent, as the products have prices in %s and %s", currency, r.Price.Currency))
		}
		currency = r.Price.Currency
		r.Include(p, now)
		r.Steered = r.Steered || steers(ctx)
		included := r.Promotions[len(r.Promotions)-1]
		p.PriorPrices = append(p.PriorPrices, PriorPrice{r.ID, r.Prior(included)})
		faults = append(faults, r.checkPrior(p))
		if included.State(now) != Ended { // it may end with a change
			faults = append(faults, law.Refused(law.Check(law.Facts{Region: region, At: later(p.StartsAt.Time, now),
				Reduction: r.Reduction(included)})))
		}
		changed[productID] = r
	}
	if err := errs.All(faults...); err != nil {
		return err
	}
	if len(changed) > maxChanged {
		return errs.Invalid("/product_ids", "changes %d products, and one call may change %d. Take products away "+
			"first, and add others with another call", len(changed), maxChanged)
	}
	for _, productID := range slices.Sorted(maps.Keys(changed)) {
		if err := Replace(tx, found[productID], changed[productID], changed[productID].SKU); err != nil {
			return err
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (s *Promotions) create(ctx context.Context, tx *store.Tx, in *promotionCreateInput) (out Promotion, err error) {
	b, now, o := in.Body, s.now(), auth.FromContext(ctx).Owner
	if err := b.Rules(); err != nil {
		return out, err
	}
	if !id.Valid(id.Factory, b.FactoryID) {
		return out, factoryrecord.RefError(nil, b.FactoryID)
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.Product, b.ProductIDs, factoryrecord.Key(b.FactoryID))
	if err != nil {
		return out, err
	}
	if !factoryrecord.Usable(beside[0], o) {
		return out, factoryrecord.RefError(nil, b.FactoryID)
	}
	o = beside[0].Owner
	if err := factoryrecord.CheckSeller(beside[0], "promotions"); err != nil {
		return out, err
	}
	starts := b.StartsAt
	if starts.IsZero() {
		starts = now
	}
	out = Promotion{Resource: resource.New(id.New(id.Promotion, now), now, nil), FactoryID: b.FactoryID}
	if err := (promotionSettings{b.ProductIDs, b.Name, b.Discount, starts, b.EndsAt, b.Message, "",
		b.Metadata, b.PriorPrice, b.Exception}).apply(&out,
		now); err != nil {
		return out, err
	}
	legal, err := profile.LegalOf(ctx, s.db, beside[0])
	if err != nil {
		return out, err
	}
	if err := assign(ctx, tx, legal.Country(), now, found, &out, nil); err != nil {
		return out, err
	}
	it, err := out.Entry(o)
	if err != nil {
		return out, err
	}
	tx.Create(it, nil)
	return DecodePromotion(&it, now)
}

func (s *Promotions) list(ctx context.Context, in *promotionListInput) (page httpapi.Page[Promotion], err error) {
	o, now := auth.FromContext(ctx).Owner, s.now()
	if in.FactoryID != "" && !id.Valid(id.Factory, in.FactoryID) {
		return page, errs.NotID("factory_id", "factory", in.FactoryID)
	}
	q := httpapi.AllOwned(ctx, PromotionKind, in.Filter.Into(nil))
	if in.FactoryID != "" {
		q.Index, q.Partition = store.ByParent, PromotionPartition(o, in.FactoryID)
	}
	if err := httpapi.Only(&q, id.Promotion, "a promotion", in.ID); err != nil {
		return page, err
	}
	q.Either = Either(in.State, now)
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput,
		func(it store.Item) (Promotion, error) { return DecodePromotion(&it, now) })
}

func (s *Promotions) update(ctx context.Context, tx *store.Tx, in *promotionPatchInput) (out Promotion, err error) {
	it, err := resource.Find(ctx, s.db, id.Promotion, PromotionKind, in.ID)
	if err != nil {
		return out, err
	}
	now := s.now()
	if out, err = DecodePromotion(&it, now); err != nil {
		return out, err
	}
	if err := in.Check(out.Version); err != nil {
		return out, err
	}
	if out.State == Ended {
		return out, errs.New(errs.InvalidState, "The promotion has ended, and cannot be changed. Create another one.").
			In(string(Ended))
	}
	set, err := httpapi.MergePatch(ctx, promotionSettingsOf(out))
	if err != nil {
		return out, err
	}
	before := out.ProductIDs
	if err := set.apply(&out, now); err != nil {
		return out, err
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.Product, slices.Concat(before, out.ProductIDs),
		factoryrecord.Key(out.FactoryID))
	if err != nil {
		return out, err
	}
	var legal profile.Legal
	if factoryrecord.Usable(beside[0], it.Owner) {
		if legal, err = profile.LegalOf(ctx, s.db, beside[0]); err != nil {
			return out, err
		}
	}
	if err := assign(ctx, tx, legal.Country(), now, found, &out, before); err != nil {
		return out, err
	}
	out.Touch(now)
	entry, err := out.Entry(it.Owner)
	if err != nil {
		return out, err
	}
	entry.Version = it.Version
	tx.Replace(entry)
	return DecodePromotion(&entry, now)
}
