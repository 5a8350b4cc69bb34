package product

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// maxChanged is the number of products that one call may add and take away together: each
// is a write of its transaction, which has up to 100.
const maxChanged = 90

// Promotions creates, lists and changes promotions.
type Promotions struct {
	db         *store.DB
	now        func() time.Time
	promotions *kind.Kind[Promotion]
}

// NewPromotions makes the service.
func NewPromotions(db *store.DB, now func() time.Time) *Promotions {
	return &Promotions{db, now, promotions.On(db, now)}
}

var promotions = kind.Kind[Promotion]{Name: PromotionKind, ID: id.Promotion, Path: "/v1/promotions/{promotion_id}",
	Function: "product", Tag: "Promotions", Reads: auth.ProductsRead, Writes: auth.ProductsWrite, Place: placePromotion}

// MountPromotions registers the operations of the area.
func MountPromotions(r *httpapi.Router, e area.Env) { NewPromotions(e.DB, e.Now).Register(r) }

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

// check refuses a promotion that cannot be as it is. Its state is ended if it is to end now.
func (p *Promotion) check(now time.Time) error {
	times := checkTimes(p.StartsAt.Time, p.EndsAt.Time, now)
	if p.State == Ended {
		p.EndsAt, times = resource.Instant(now), nil
	}
	return errs.All(checkDiscount(p.Discount), times, checkStated(p.PriorPrice, p.ProductIDs))
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
			faults = append(faults, errs.Invalid(param, "is the id of a product of another factory than %s. Use one "+
				"of that factory", p.FactoryID))
			continue
		case r.State == Archived && !slices.Contains(before, productID):
			faults = append(faults, errs.Invalid(param, "is an archived product. Set its state to active first"))
		case len(r.OpenPromotions(now)) >= MaxPromotions:
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

func (s *Promotions) opened(ctx context.Context, tx *store.Tx, c *kind.Change[Promotion, promotionCreateBody]) error {
	p, o := c.Record, c.Item.Owner
	clock, err := testclock.Now(ctx, s.db, o, c.Now)
	if err != nil {
		return err
	}
	if err := c.Body.Rules(); err != nil {
		return err
	}
	if !id.Valid(id.Factory, p.FactoryID) {
		return factoryrecord.RefError(nil, p.FactoryID)
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.Product, p.ProductIDs, factoryrecord.Key(p.FactoryID))
	if err != nil {
		return err
	}
	if !factoryrecord.Usable(beside[0], o) {
		return factoryrecord.RefError(nil, p.FactoryID)
	}
	c.Item.Owner = beside[0].Owner
	if err := factoryrecord.CheckSeller(beside[0], "/factory_id", "promotions"); err != nil {
		return err
	}
	if p.StartsAt.IsZero() {
		p.StartsAt = resource.Instant(clock)
	}
	if err := p.check(clock); err != nil {
		return err
	}
	legal, err := profile.LegalOf(ctx, s.db, beside[0])
	if err != nil {
		return err
	}
	p.State = stateAt(clock, p.StartsAt, p.EndsAt)
	return assign(ctx, tx, legal.Country(), clock, found, p, nil)
}

// shown returns a promotion with the state that it has.
func shown(_ context.Context, f *kind.Found[Promotion]) (Promotion, error) { return *f.Record, nil }

func (s *Promotions) list(ctx context.Context, in *promotionListInput) (page httpapi.Page[Promotion], err error) {
	o := auth.FromContext(ctx).Owner
	clock, err := testclock.Now(ctx, s.db, o, s.now())
	if err != nil {
		return page, err
	}
	return kind.Page(ctx, s.promotions, in, func(_ context.Context, f *kind.Found[Promotion]) (Promotion, error) {
		f.Record.State = stateAt(clock, f.Record.StartsAt, f.Record.EndsAt)
		return *f.Record, nil
	}, func(_ context.Context, in *promotionListInput, q *store.Query) error {
		if in.FactoryID != "" {
			q.Index, q.Partition = store.ByParent, PromotionPartition(o, in.FactoryID)
		}
		q.Either = Either(in.State, clock)
		return httpapi.Only(q, id.Promotion, "a promotion", in.ID)
	})
}

func (s *Promotions) changed(ctx context.Context, tx *store.Tx, c *kind.Change[Promotion, promotionPatchBody]) error {
	p := c.Record
	clock, err := testclock.Now(ctx, s.db, c.Item.Owner, c.Now)
	if err != nil {
		return err
	}
	if stateAt(clock, c.Was.StartsAt, c.Was.EndsAt) == Ended {
		return errs.New(errs.InvalidState, "The promotion has ended, and cannot be changed. Create another one.").
			In(string(Ended))
	}
	p.State = PromotionState(c.Body.State)
	if err := p.check(clock); err != nil {
		return err
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.Product, slices.Concat(c.Was.ProductIDs, p.ProductIDs),
		factoryrecord.Key(p.FactoryID))
	if err != nil {
		return err
	}
	var legal profile.Legal
	if factoryrecord.Usable(beside[0], c.Item.Owner) {
		if legal, err = profile.LegalOf(ctx, s.db, beside[0]); err != nil {
			return err
		}
	}
	p.State = stateAt(clock, p.StartsAt, p.EndsAt)
	return assign(ctx, tx, legal.Country(), clock, found, p, c.Was.ProductIDs)
}

// PromotionKind is the kind of a promotion in the table.
const PromotionKind = "promotion"

// PromotionState is the state of a promotion. It is not stored: it follows from the clock.
type PromotionState string

// The states of a promotion.
const (
	Scheduled PromotionState = "scheduled"
	Running   PromotionState = "active"
	Ended     PromotionState = "ended"
)

// The kinds of discounts.
const (
	Percent = "percent"
	Amount  = "amount"
)

// Discount is the amount by which a promotion lowers prices.
type Discount struct {
	// What value counts: percent of the price, or the smallest units of its currency.
	Kind string `json:"kind" enum:"percent,amount" example:"percent"`
	// 1 to 100 percent, or an amount up to the price of the cheapest product.
	Value int64 `json:"value" minimum:"1" maximum:"1000000000000" example:"20"`
}

// Of returns the price that a discount makes of a price. Halves of the smallest unit are rounded up.
func (d Discount) Of(p money.Price) money.Price {
	if d.Kind == Percent {
		p.Amount = (p.Amount*(100-d.Value) + 50) / 100
	} else {
		p.Amount = max(p.Amount-d.Value, 0)
	}
	return p
}

// Promotion is a promotion as callers see it.
type Promotion struct {
	resource.Resource
	// Factory of its products.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Ids of its products.
	ProductIDs []string `json:"product_ids" nullable:"false"`
	// Name of the promotion.
	Name string `json:"name" example:"Autumn sale"`
	// Discount on the price of each product.
	Discount Discount `json:"discount"`
	// When it begins.
	StartsAt resource.Time `json:"starts_at"`
	// When it ends.
	EndsAt resource.Time `json:"ends_at"`
	// What to say about it.
	Message resource.Text `json:"message" example:"Only while stocks last"`
	// Prior price that you state for content, of a promotion of one product. Null: it is computed.
	PriorPrice *money.Price `json:"prior_price"`
	// Reason for another prior price than the lowest of 30 days. Null: none.
	Exception *PriorException `json:"prior_price_exception"`
	// Prior price of each product when the promotion was last changed: the lowest of the 30 days before its beginning,
	// unless there is an exception. Content computes it anew.
	PriorPrices []PriorPrice `json:"prior_prices" nullable:"false"`
	// Whether a feed has made it of a sale price. Its runs change and end it.
	FromFeed bool `json:"from_feed"`
	// State of the promotion. It follows from starts_at and ends_at.
	State PromotionState `json:"state" enum:"scheduled,active,ended"`
}

// DecodePromotion reads a promotion with its state at a time.
func DecodePromotion(it *store.Item, now time.Time) (p Promotion, err error) {
	err = it.Decode(&p)
	p.State = stateAt(now, p.StartsAt, p.EndsAt)
	return p, err
}

func stateAt(now time.Time, starts, ends resource.Time) PromotionState {
	switch {
	case !now.Before(ends.Time):
		return Ended
	case now.Before(starts.Time):
		return Scheduled
	default:
		return Running
	}
}

// The filters of the times. They are texts that sort as the times do.
const (
	startsFilter = "starts"
	endsFilter   = "ends"
)

// placePromotion lists a promotion with its factory, and by its times.
func placePromotion(it *store.Item, p *Promotion) {
	it.Parent = store.Key{PK: PromotionPartition(it.Owner, p.FactoryID), SK: p.ID}
	it.Filters = map[string]string{startsFilter: resource.SortableTime(p.StartsAt.Time),
		endsFilter: resource.SortableTime(p.EndsAt.Time)}
}

// PromotionPartition is the partition of ByParent that lists the promotions of a factory.
func PromotionPartition(o tenant.Owner, factoryID string) string {
	return o.String() + "#" + PromotionKind + "#" + factoryID
}

// Either returns the bounds that select the promotions which are in one of the states at a time; no states are all.
func Either(states []PromotionState, now time.Time) (any []map[string]store.Bound) {
	at := resource.SortableTime(now)
	after, upTo := store.Bound{At: at, After: true}, store.Bound{At: at}
	for _, s := range slices.Compact(slices.Sorted(slices.Values(states))) {
		switch s {
		case Scheduled:
			any = append(any, map[string]store.Bound{startsFilter: after, endsFilter: after})
		case Running:
			any = append(any, map[string]store.Bound{startsFilter: upTo, endsFilter: after})
		case Ended:
			any = append(any, map[string]store.Bound{endsFilter: upTo})
		}
	}
	return any
}

// ProductPromotion is a promotion as each of its products keeps it.
type ProductPromotion struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Discount Discount      `json:"discount"`
	StartsAt resource.Time `json:"starts_at"`
	EndsAt   resource.Time `json:"ends_at"`
	Message  resource.Text `json:"message,omitempty"`
	// PriorPrice is the prior price that the caller states, or nil, and Exception its reason for another one than the
	// lowest of 30 days.
	PriorPrice *money.Price `json:"prior_price,omitempty"`
	Exception  string       `json:"exception,omitempty"`
	// Over reports that the product was in the promotion, and is no more.
	Over bool `json:"over,omitempty"`
}

// State returns the state of the promotion at a time.
func (i ProductPromotion) State(now time.Time) PromotionState {
	return stateAt(now, i.StartsAt, i.EndsAt)
}

// OpenPromotions returns the promotions of the product that have not ended.
func (r *StoredProduct) OpenPromotions(now time.Time) []ProductPromotion {
	return slices.DeleteFunc(slices.Clone(r.Promotions), func(i ProductPromotion) bool { return i.State(now) == Ended })
}

// Running returns the promotions of the product that are active, the lowest price first.
func (r *StoredProduct) Running(now time.Time) []ProductPromotion {
	all := slices.DeleteFunc(slices.Clone(r.Promotions), func(i ProductPromotion) bool {
		return i.State(now) != Running
	})
	slices.SortStableFunc(all, func(a, b ProductPromotion) int {
		return int(a.Discount.Of(r.Price).Amount - b.Discount.Of(r.Price).Amount)
	})
	return all
}

// Include adds a promotion to the product, and replaces an earlier version of it.
func (r *StoredProduct) Include(p *Promotion, now time.Time) {
	r.Exclude(p.ID, now)
	i := ProductPromotion{ID: p.ID, Name: p.Name, Discount: p.Discount, StartsAt: p.StartsAt, EndsAt: p.EndsAt,
		Message: p.Message, PriorPrice: p.PriorPrice}
	if p.Exception != nil {
		i.Exception = p.Exception.Reason
	}
	r.Promotions = append(r.Promotions, i)
}

// Exclude removes a promotion from the product.
func (r *StoredProduct) Exclude(promotionID string, now time.Time) {
	r.Promotions = slices.DeleteFunc(slices.Clone(r.Promotions), func(i ProductPromotion) bool {
		leaves := i.ID == promotionID || i.State(now) == Ended
		if leaves {
			r.end(i, now)
		}
		return leaves
	})
}

type promotionCreateBody struct {
	// Factory of type seller that has the products. It cannot be changed.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Ids of its products.
	ProductIDs []string `json:"product_ids" minItems:"1" maxItems:"50" uniqueItems:"true" nullable:"false"`
	// Name of the promotion.
	Name string `json:"name" format:"line-not-blank" minLength:"1" maxLength:"200" example:"Autumn sale"`
	// Discount on the price of each product.
	Discount Discount `json:"discount"`
	// When it begins (RFC 3339). Absent: at once.
	StartsAt time.Time `json:"starts_at,omitempty"`
	// When it ends (RFC 3339).
	EndsAt time.Time `json:"ends_at"`
	// What to say about it.
	Message string `json:"message,omitempty" maxLength:"500" example:"Only while stocks last"`
	// Price before the promotion that content shows struck through, of a promotion of one product. In the European
	// Union at most the lowest price of the 30 days before. Absent: that price in the European Union, elsewhere the
	// present one.
	PriorPrice *money.Price `json:"prior_price,omitempty"`
	// Reason for another prior price than the lowest of 30 days. Absent: none.
	Exception *PriorException `json:"prior_price_exception,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b promotionCreateBody) Rules() error {
	var times error
	if !b.StartsAt.IsZero() && !b.EndsAt.IsZero() && !b.EndsAt.After(b.StartsAt) {
		times = errs.Invalid("/ends_at", "must be after starts_at")
	}
	return errs.All(checkDiscount(b.Discount), times, checkStated(b.PriorPrice, b.ProductIDs))
}

type discountPatch struct {
	// What value counts.
	Kind string `json:"kind,omitempty" enum:"percent,amount"`
	// 1 to 100 percent, or an amount up to the price of the cheapest product.
	Value int64 `json:"value,omitempty" minimum:"1" maximum:"1000000000000"`
}

// PriorPriceUpdate is a prior price in a merge patch.
type PriorPriceUpdate struct {
	_ struct{} `nullable:"true"`
	// In the smallest unit of the currency.
	Amount int64 `json:"amount,omitempty" format:"credits"`
	// ISO 4217 code of the currency.
	Currency string `json:"currency,omitempty" minLength:"3" maxLength:"3"`
}

// PriorExceptionUpdate is the reason for another prior price in a merge patch.
type PriorExceptionUpdate struct {
	_ struct{} `nullable:"true"`
	// The reason, as of a new promotion.
	Reason string `json:"reason" enum:"progressive_reduction,perishable,new_product"`
}

type promotionPatchBody struct {
	// Ids of all its products from now on.
	ProductIDs []string `json:"product_ids,omitempty" minItems:"1" maxItems:"50" uniqueItems:"true" nullable:"false"`
	// Name of the promotion.
	Name string `json:"name,omitempty" format:"line-not-blank" minLength:"1" maxLength:"200"`
	// Discount on the price of each product.
	Discount *discountPatch `json:"discount,omitempty"`
	// When it begins (RFC 3339).
	StartsAt time.Time `json:"starts_at,omitempty"`
	// When it ends (RFC 3339).
	EndsAt time.Time `json:"ends_at,omitempty"`
	// What to say about it.
	Message *string `json:"message,omitempty" maxLength:"500" nullable:"true"`
	// Price before the promotion that content shows struck through. Null: it is computed.
	PriorPrice *PriorPriceUpdate `json:"prior_price,omitempty"`
	// Reason for another prior price than the lowest of 30 days. Null: none.
	Exception *PriorExceptionUpdate `json:"prior_price_exception,omitempty"`
	// ended: ends it now, also before its start.
	State string `json:"state,omitempty" enum:"ended"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type promotionListInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only the promotion with this id.
	ID string `query:"id" example:"prm_01h455vb4pex5vsknk084sn02q"`
	// Only promotions of this factory.
	FactoryID string `query:"factory_id"`
	// Only promotions that are in these states now, separated by commas.
	State []PromotionState `query:"state" enum:"scheduled,active,ended" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Promotions) Register(r *httpapi.Router) {
	httpapi.List(r, s.promotions.Op(httpapi.Op{ID: "listPromotions", Summary: "List the promotions",
		Description: "Newest first. Their states are those of the moment of the call."},
		http.MethodGet, "/v1/promotions"), s.list)
	kind.Create(r, s.promotions, httpapi.Op{ID: "createPromotion", Summary: "Create a promotion",
		Description: "Lowers the prices of 1 to 50 products of one factory for a time. A discount by `amount` is at " +
			"most the price of each product, and its products have one currency. A product is in up to 20 promotions " +
			"that have not ended; of those that are active, the lowest price counts. If the region of the factory is " +
			"in the European Union, a percentage above the real one is refused: that from the lowest price of the 30 " +
			"days before.", Opens: httpapi.Publishing,
		Errors: []errs.Code{errs.WrongFactoryType, errs.NotFound, errs.RuleViolated}}, s.opened, shown)
	kind.Update(r, s.promotions, httpapi.Op{ID: "updatePromotion", Summary: "Change a promotion",
		Description: "Takes a JSON merge patch (RFC 7396). Send `state: \"ended\"` to end it early. A promotion that " +
			"has ended cannot be changed.", Opens: httpapi.Publishing,
		Errors:       []errs.Code{errs.InvalidState, errs.RuleViolated},
		FixedMembers: map[string]string{"factory_id": "create another promotion"}}, s.changed, shown)
}
