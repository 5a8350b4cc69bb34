package catalog

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/provider"
)

type plansInput struct {
	httpapi.PageInput
}

type modelsInput struct {
	httpapi.PageInput
	Kind     provider.Kind `query:"kind" enum:"text,image,video,music,voice,avatar" doc:"Only models of this kind"`
	Provider string        `query:"provider" enum:"bedrock,polly,fal,replicate,elevenlabs,heygen" doc:"Only models of this provider"`
}

// Register puts the operations of the area into the router.
func (o Offer) Register(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{
		ID: "listPlans", Method: http.MethodGet, Path: "/v1/catalog/plans", Scope: auth.AccountRead, Function: "catalog", Tag: "Catalog",
		Summary:     "List the subscription plans",
		Description: "The smallest first. Only accounts on a plan with `api_access` may call this API.",
		Errors:      []errs.Code{errs.InvalidCursor},
	}, listPlans)
	httpapi.List(r, httpapi.Op{
		ID: "listModels", Method: http.MethodGet, Path: "/v1/catalog/models", Scope: auth.AccountRead, Function: "catalog", Tag: "Catalog",
		Summary: "List the generation models",
		Description: "By kind, in a fixed order. A price is `credits` for every `per` units; what a piece of work costs is rounded up to a whole credit. " +
			"A model in preview works with test keys only, and so does one that is unavailable, because its provider is not set up here: that state is seen by live keys alone. A retired one is refused with `unsupported_model`, naming its successor.",
		Errors: []errs.Code{errs.InvalidCursor},
	}, o.listModels)
}

func listPlans(ctx context.Context, in *plansInput) (httpapi.Page[Plan], error) {
	return httpapi.Slice(ctx, Plans(), nil, in.PageInput, func(p Plan) string { return p.ID })
}

func (o Offer) listModels(ctx context.Context, in *modelsInput) (httpapi.Page[Model], error) {
	filters := map[string]string{"kind": string(in.Kind), "provider": in.Provider}
	models := o.Models(Filter{Kind: in.Kind, Provider: in.Provider}, auth.FromContext(ctx).Mode == auth.Live)
	return httpapi.Slice(ctx, models, filters, in.PageInput, func(m Model) string { return m.ID })
}
