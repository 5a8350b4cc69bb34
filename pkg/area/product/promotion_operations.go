package product

import (
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
)

type promotionCreateBody struct {
	FactoryID  string            `json:"factory_id" doc:"Factory of type seller that has the products. It cannot be changed" example:"fac_01h455vb4pex5vsknk084sn02q"`
	ProductIDs []string          `json:"product_ids" minItems:"1" maxItems:"50" uniqueItems:"true" nullable:"false" doc:"Ids of its products"`
	Name       string            `json:"name" format:"line-not-blank" minLength:"1" maxLength:"200" doc:"Name of the promotion" example:"Autumn sale"`
	Discount   Discount          `json:"discount" doc:"Discount on the price of each product"`
	StartsAt   time.Time         `json:"starts_at,omitempty" doc:"When it begins (RFC 3339). Absent: at once"`
	EndsAt     time.Time         `json:"ends_at" doc:"When it ends (RFC 3339)"`
	Message    string            `json:"message,omitempty" maxLength:"500" doc:"What to say about it" example:"Only while stocks last"`
	Metadata   resource.Metadata `json:"metadata,omitempty" doc:"Up to 20 key-value pairs of your own"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b promotionCreateBody) Rules() error {
	var times error
	if !b.StartsAt.IsZero() && !b.EndsAt.IsZero() && !b.EndsAt.After(b.StartsAt) {
		times = errs.Invalid("/ends_at", "must be after starts_at")
	}
	return errs.All(checkDiscount(b.Discount), times)
}

type discountPatch struct {
	Kind  string `json:"kind,omitempty" enum:"percent,amount" doc:"What value counts"`
	Value int64  `json:"value,omitempty" minimum:"1" maximum:"1000000000000" doc:"1 to 100 percent, or an amount up to the price of the cheapest product"`
}

type promotionPatchBody struct {
	ProductIDs []string               `json:"product_ids,omitempty" minItems:"1" maxItems:"50" uniqueItems:"true" nullable:"false" doc:"Ids of all its products from now on"`
	Name       string                 `json:"name,omitempty" format:"line-not-blank" minLength:"1" maxLength:"200" doc:"Name of the promotion"`
	Discount   *discountPatch         `json:"discount,omitempty" doc:"Discount on the price of each product"`
	StartsAt   time.Time              `json:"starts_at,omitempty" doc:"When it begins (RFC 3339)"`
	EndsAt     time.Time              `json:"ends_at,omitempty" doc:"When it ends (RFC 3339)"`
	Message    *string                `json:"message,omitempty" maxLength:"500" nullable:"true" doc:"What to say about it"`
	State      string                 `json:"state,omitempty" enum:"ended" doc:"ended: ends it now, also before its start"`
	Metadata   resource.MetadataPatch `json:"metadata,omitempty" nullable:"true" doc:"Pairs to set. A null value removes that pair; null removes all"`
}

type promotionCreateInput struct{ Body promotionCreateBody }

type promotionPatchInput struct {
	ID string `path:"promotion_id" doc:"Id of the promotion" example:"prm_01h455vb4pex5vsknk084sn02q"`
	httpapi.IfMatch
	Body promotionPatchBody
}

type promotionListInput struct {
	httpapi.PageInput
	FactoryID string           `query:"factory_id" doc:"Only promotions of this factory"`
	State     []PromotionState `query:"state" enum:"scheduled,active,ended" nullable:"false" doc:"Only promotions that are in these states now, separated by commas"`
}

// Register puts the operations of the area into the router.
func (s *Promotions) Register(r *httpapi.Router) {
	const collection = "/v1/promotions"
	op := func(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{
			ID: id, Method: method, Path: path, Scope: scope, Function: "product", Tag: "Promotions",
			Summary: summary, Description: description,
		}
	}
	list := op("listPromotions", http.MethodGet, collection, auth.ProductsRead, "List the promotions",
		"Newest first. Their states are those of the moment of the call.")
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createPromotion", http.MethodPost, collection, auth.ProductsWrite, "Create a promotion",
		"Lowers the prices of 1 to 50 products of one factory for a time. A discount by `amount` is at most the "+
			"price of each product, and its products have one currency. A product is in up to 20 promotions that "+
			"have not ended; of those that are active, the lowest price counts.")
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.WrongFactoryType, errs.NotFound}
	httpapi.Write(r, create, s.create)

	update := op("updatePromotion", http.MethodPatch, collection+"/{promotion_id}", auth.ProductsWrite,
		"Change a promotion",
		"Takes a JSON merge patch (RFC 7396). Send `state: \"ended\"` to end it early. A promotion that has ended "+
			"cannot be changed.")
	update.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	update.Fixed = map[string]string{"factory_id": "create another promotion"}
	httpapi.Write(r, update, s.update)
}
