// Package listing holds the operations of the catalog: the lists of plans and
// models. They are apart from the catalog's data because every worker links the
// data, and none of them links the HTTP framework.
package listing

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/tenant"
)

type plansInput struct {
	httpapi.PageInput
}

type modelsInput struct {
	httpapi.PageInput
	Kind     provider.Kind `query:"kind" enum:"text,image,video,music,voice,avatar" doc:"Only models of this kind"`
	Provider string        `query:"provider" enum:"bedrock,polly,fal,replicate,elevenlabs,heygen" doc:"Only models of this provider"`
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e function.Env) {
	offer := catalog.NewOffer(e.Providers)
	httpapi.List(r, httpapi.Op{
		ID: "listPlans", Method: http.MethodGet, Path: "/v1/catalog/plans", Scope: auth.AccountRead, Function: "catalog", Tag: "Catalog",
		Summary:     "List the subscription plans",
		Description: "Smallest plan first. Only accounts on a plan with `api_access` may use the API.",
		Errors:      []errs.Code{errs.InvalidCursor},
	}, listPlans)
	httpapi.List(r, httpapi.Op{
		ID: "listModels", Method: http.MethodGet, Path: "/v1/catalog/models", Scope: auth.AccountRead, Function: "catalog", Tag: "Catalog",
		Summary: "List the generation models",
		Description: "Sorted by kind, in a fixed order. A price is `credits` for every `per` units; the cost of a request is rounded up to a whole credit. " +
			"Models in the state `preview` work with test keys only. So do models in the state `unavailable`, whose provider is not set up here; only live keys see this state. Requests for a `retired` model fail with `unsupported_model`, and the message names its successor.",
		Errors: []errs.Code{errs.InvalidCursor},
	}, func(ctx context.Context, in *modelsInput) (httpapi.Page[catalog.Model], error) {
		filters := map[string]string{"kind": string(in.Kind), "provider": in.Provider}
		models := offer.Models(catalog.Filter{Kind: in.Kind, Provider: in.Provider}, auth.FromContext(ctx).Mode == tenant.Live)
		return httpapi.Slice(ctx, models, filters, in.PageInput, func(m catalog.Model) string { return m.ID })
	})
}

func listPlans(ctx context.Context, in *plansInput) (httpapi.Page[catalog.Plan], error) {
	return httpapi.Slice(ctx, catalog.Plans(), nil, in.PageInput, func(p catalog.Plan) string { return p.ID })
}
