// Package estimate prices the body of any operation that costs, without carrying it out. Start with Mount.
package estimate

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// Estimate is the price of the body of an operation.
type Estimate struct {
	// The operation that the body is for.
	Operation Operation `json:"operation" example:"createContentItem"`
	// Credits that are charged with a live key.
	Credits int64 `json:"credits" example:"26"`
	// Cost of each item of a batch, in the order of the body; one for other operations.
	Items []Item `json:"items" nullable:"false"`
	// Credits of a content plan with each kind of visuals. Null for other operations, and for plans without videos.
	ByVisuals *ByVisuals `json:"by_visuals"`
}

// ByVisuals has the price of a plan with each kind of visuals of its videos.
type ByVisuals struct {
	// Credits with stills.
	Stills int64 `json:"stills_credits" example:"570"`
	// Credits with clips.
	Clips int64 `json:"clips_credits" example:"2411"`
}

// Item is the price of one item.
type Item struct {
	// Credits that are charged with a live key.
	Credits int64 `json:"credits" example:"26"`
}

// Operation is the id of an operation that costs.
type Operation string

// Schema describes the operation in the OpenAPI document.
func (Operation) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(slices.Sorted(maps.Keys(estimators(area.Env{}))))
}

type body struct {
	// Id of the operation that the body is for.
	Operation Operation `json:"operation" example:"createContentItem"`
	// Body of that operation, as it would be sent there.
	Body map[string]any `json:"body"`
	// Id of the content item, for regenerateContentItem only.
	//
	// The item is in the path of the one operation on items that costs and has an id there.
	ContentItemID string `json:"content_item_id,omitempty" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// Id of the factory, for operations that have it in their path.
	//
	// The factory is in the path of operations that make something of a factory.
	FactoryID string `json:"factory_id,omitempty" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Id of the comment, for updateComment only.
	//
	// The comment is in the path of the one operation on comments that costs.
	CommentID string `json:"comment_id,omitempty" example:"com_01h455vb4pex5vsknk084sn02q"`
}

type input struct{ Body body }

// pricedOperation is an operation that costs.
type pricedOperation struct {
	// member is the member that names the resource in the operation's path. It is empty if the path has none.
	member string
	// scope is the scope of the operation: an estimate reads, and fetches, as the operation does.
	scope auth.Scope
	// price returns the credits of each item of a body.
	price func(ctx context.Context, id string, body any) ([]int64, error)
	// visuals returns the credits of a body with stills and with clips, and false if it has no videos. It may be nil.
	visuals func(ctx context.Context, id string, body any) (stills, clips int64, ok bool, err error)
}

func estimators(e area.Env) map[Operation]pricedOperation {
	offer := e.Offer()
	factories := factory.NewService(e.DB, e.Now)
	items := content.NewService(e.DB, factories, e.Media, offer, e.Now)
	generations := studio.NewService(e.DB, e.Media, studio.NewClient(e), offer, e.Now)
	plans := planarea.NewService(e.DB, factories, offer, e.Now)
	all := map[Operation]pricedOperation{
		"regenerateContentItem": {member: "content_item_id", scope: auth.ContentWrite, price: items.EstimateRegenerate},
		"createContentPlan": {member: "factory_id", scope: auth.FactoriesWrite, price: plans.Estimate,
			visuals: plans.EstimateVisuals},
		"startTraining": {member: "factory_id", scope: auth.FactoriesWrite,
			price: training.NewService(e.DB, factories, offer, e.Now).Estimate},
		"updateComment": {member: "comment_id", scope: auth.ContentPublish,
			price: engagement.NewService(e.DB, offer, e.Now).EstimateUpdate},
		"sendMessage": {scope: auth.ArchitectUse, price: func(ctx context.Context, _ string,
			body any) ([]int64, error) {
			return architect.Estimate(ctx, offer, body)
		}},
	}
	for scope, area := range map[auth.Scope]map[string]func(ctx context.Context, body any) ([]int64, error){
		auth.ContentWrite: items.Estimates(), auth.StudioUse: generations.Estimates(),
	} {
		for op, price := range area {
			all[Operation(op)] = pricedOperation{scope: scope, price: func(ctx context.Context, _ string,
				body any) ([]int64, error) {
				return price(ctx, body)
			}}
		}
	}
	return all
}

// credits returns the credits of each item of an estimate.
func (p pricedOperation) credits(ctx context.Context, b body) ([]int64, error) {
	id := ""
	for _, given := range []struct{ member, id string }{{"content_item_id", b.ContentItemID},
		{"factory_id", b.FactoryID}, {"comment_id", b.CommentID}} {
		switch {
		case given.member == p.member && given.id == "":
			return nil, errs.Invalid("/"+given.member, "is required for %s", b.Operation)
		case given.member == p.member:
			id = given.id
		case given.id != "":
			return nil, errs.Invalid("/"+given.member, "is not for %s. Leave it out", b.Operation)
		}
	}
	credits, err := p.price(ctx, id, b.Body)
	if missing := errs.As(err); p.member != "" && missing.Code == errs.NotFound && missing.Param == "" {
		missing.Param = "/" + p.member
		return nil, missing
	}
	return credits, errs.Below("/body", err)
}

// Mount registers the operation.
func Mount(r *httpapi.Router, e area.Env) {
	all := estimators(e)
	httpapi.Write(r, httpapi.Op{
		ID: "createEstimate", Method: http.MethodPost, Path: "/v1/balance/estimates", Scope: auth.AccountRead,
		Function: "studio", Tag: "Account",
		Summary: "Estimate a cost",
		Description: "Returns what the body of an operation would cost with a live key. Nothing is spent or created. " +
			"The key needs the scope of that operation as well. The body is validated as that operation validates " +
			"it, so what has an estimate is accepted if the balance suffices, " +
			"and the cost depends on the body, and on its factory or item, alone: the estimate is exactly what is " +
			"reserved, and what the response shows as `reserved_credits`. Only a result that is far longer than " +
			"reserved for is charged more.",
		Errors: []errs.Code{errs.UnsupportedModel, errs.UnsupportedMedia, errs.ProviderUnavailable, errs.NotFound,
			errs.InvalidState}, Opens: httpapi.Nothing,
	}, func(ctx context.Context, _ *store.Tx, in *input) (out Estimate, err error) {
		estimated := all[in.Body.Operation]
		if err := auth.FromContext(ctx).Require(estimated.scope, ""); err != nil {
			return out, err
		}
		credits, err := estimated.credits(ctx, in.Body)
		if err != nil {
			return out, err
		}
		out.Operation = in.Body.Operation
		for _, c := range credits {
			out.Credits += c
			out.Items = append(out.Items, Item{c})
		}
		if estimated.visuals != nil {
			stills, clips, ok, err := estimated.visuals(ctx, in.Body.FactoryID, in.Body.Body)
			if err != nil {
				return out, err
			}
			if ok {
				out.ByVisuals = &ByVisuals{stills, clips}
			}
		}
		return out, nil
	})
}
