// Package estimate prices the body of any operation that costs, without carrying it
// out.
package estimate

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/studio"
)

// Estimate is what the body of an operation would cost.
type Estimate struct {
	Operation Operation `json:"operation" doc:"The operation that the body is for" example:"createContentItem"`
	Credits   int64     `json:"credits" doc:"Credits that are charged with a live key" example:"26"`
	Items     []Item    `json:"items" nullable:"false" doc:"Cost of each item of a batch, in the order of the body; one for other operations"`
}

// SchemaName names the schema in the OpenAPI document.
func (Estimate) SchemaName() string { return "Estimate" }

// Item is what one item would cost.
type Item struct {
	Credits int64 `json:"credits" doc:"Credits that are charged with a live key" example:"26"`
}

// SchemaName names the schema in the OpenAPI document.
func (Item) SchemaName() string { return "EstimateItem" }

// Operation is the id of an operation that costs.
type Operation string

// Schema describes the operation in the OpenAPI document.
func (Operation) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(slices.Sorted(maps.Keys(estimators(function.Env{}))))
}

type body struct {
	Operation Operation      `json:"operation" doc:"Id of the operation that the body is for" example:"createContentItem"`
	Body      map[string]any `json:"body" doc:"Body of that operation, as it would be sent there"`
	// The item is in the path of the one operation that costs and has an id there.
	ContentItemID string `json:"content_item_id,omitempty" doc:"Id of the content item, for regenerateContentItem only" example:"cnt_01h455vb4pex5vsknk084sn02q"`
}

// SchemaName names the schema in the OpenAPI document.
func (body) SchemaName() string { return "EstimateCreate" }

type input struct{ Body body }

// regenerate is the operation that has the id of an item in its path.
const regenerate Operation = "regenerateContentItem"

// estimators returns what prices the body of each operation that costs: the credits
// of each of its items.
func estimators(e function.Env) map[Operation]func(ctx context.Context, b body) ([]int64, error) {
	offer := catalog.NewOffer(e.Providers, e.AWS.Region)
	items := content.NewService(e.DB, factory.NewService(e.DB, e.Now), e.Media, offer, e.Now)
	generations := studio.NewService(e.DB, e.Media, studio.NewClient(e.Loopback), offer, e.Now)
	all := map[Operation]func(ctx context.Context, b body) ([]int64, error){
		regenerate: func(ctx context.Context, b body) ([]int64, error) {
			if b.ContentItemID == "" {
				return nil, errs.Invalid("/content_item_id", "is required for %s", regenerate)
			}
			credits, err := items.EstimateRegenerate(ctx, b.ContentItemID, b.Body)
			if missing := errs.As(err); missing.Code == errs.NotFound {
				missing.Param = "/content_item_id"
				return nil, missing
			}
			return credits, below("/body", err)
		},
	}
	for _, area := range []map[string]func(ctx context.Context, body any) ([]int64, error){items.Estimates(), generations.Estimates()} {
		for id, price := range area {
			all[Operation(id)] = func(ctx context.Context, b body) ([]int64, error) {
				if b.ContentItemID != "" {
					return nil, errs.Invalid("/content_item_id", "is for %s only", regenerate)
				}
				credits, err := price(ctx, b.Body)
				return credits, below("/body", err)
			}
		}
	}
	return all
}

// Mount registers the operation.
func Mount(r *httpapi.Router, e function.Env) {
	priced := estimators(e)
	httpapi.Write(r, httpapi.Op{
		ID: "createEstimate", Method: http.MethodPost, Path: "/v1/balance/estimates", Scope: auth.AccountRead, Function: "studio", Tag: "Account",
		Summary: "Estimate a cost",
		Description: "Returns what the body of an operation would cost with a live key. Nothing is spent or created. The body is validated as that operation validates it, so what has an estimate is accepted if the balance suffices, " +
			"and the cost depends on the body, and on its factory or item, alone: the estimate is exactly what is reserved, and what the response shows as `reserved_credits`. Only a result that is far longer than reserved for is charged more.",
		Errors: []errs.Code{errs.UnsupportedModel, errs.UnsupportedMedia, errs.ProviderUnavailable, errs.NotFound, errs.InvalidState},
	}, func(ctx context.Context, _ *store.Tx, in *input) (out Estimate, err error) {
		credits, err := priced[in.Body.Operation](ctx, in.Body)
		if err != nil {
			return out, err
		}
		out.Operation = in.Body.Operation
		for _, c := range credits {
			out.Credits += c
			out.Items = append(out.Items, Item{c})
		}
		return out, nil
	})
}

// below moves the places that an error names into a member of the body, where they
// are not there already.
func below(member string, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	move := func(param string) string {
		if strings.HasPrefix(param, "/") && param != member && !strings.HasPrefix(param, member+"/") {
			return member + param
		}
		return param
	}
	moved.Param, moved.Details = move(e.Param), slices.Clone(e.Details)
	for i := range moved.Details {
		moved.Details[i].Param = move(moved.Details[i].Param)
	}
	return &moved
}
