package product

import (
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

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

type promotionCreateInput struct{ Body promotionCreateBody }

type promotionPatchInput struct {
	// Id of the promotion.
	ID string `path:"promotion_id" example:"prm_01h455vb4pex5vsknk084sn02q"`
	httpapi.IfMatch
	Body promotionPatchBody
}

type promotionListInput struct {
	httpapi.PageInput
	resource.Tagged
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
	const collection = "/v1/promotions"
	op := httpapi.Ops("product", "Promotions")
	list := op("listPromotions", http.MethodGet, collection, auth.ProductsRead, "List the promotions",
		"Newest first. Their states are those of the moment of the call.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createPromotion", http.MethodPost, collection, auth.ProductsWrite, "Create a promotion",
		"Lowers the prices of 1 to 50 products of one factory for a time. A discount by `amount` is at most the "+
			"price of each product, and its products have one currency. A product is in up to 20 promotions that "+
			"have not ended; of those that are active, the lowest price counts. If the region of the factory is in "+
			"the European Union, a percentage above the real one is refused: that from the lowest price of the 30 "+
			"days before.").Opening(httpapi.Publishing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.WrongFactoryType, errs.NotFound, errs.RuleViolated}
	httpapi.Write(r, create, s.create)

	update := op("updatePromotion", http.MethodPatch, collection+"/{promotion_id}", auth.ProductsWrite,
		"Change a promotion",
		"Takes a JSON merge patch (RFC 7396). Send `state: \"ended\"` to end it early. A promotion that has ended "+
			"cannot be changed.").Opening(httpapi.Publishing)
	update.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState, errs.RuleViolated}
	update.Fixed = map[string]string{"factory_id": "create another promotion"}
	httpapi.Write(r, update, s.update)
}
