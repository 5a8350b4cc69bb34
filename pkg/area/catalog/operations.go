// Package catalog holds the operations of the catalog: the lists of plans, models and voices. Mount has the operations.
package catalog

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

type plansInput struct {
	httpapi.SliceInput
}

type providerName string

// Schema describes the name in the OpenAPI document, and lets requests name known ones only.
func (providerName) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(provider.RowNames()) }

type modelsInput struct {
	httpapi.SliceInput
	// Only models of this kind.
	Kind provider.Kind `query:"kind" enum:"text,image,video,music,voice,avatar"`
	// Only models of this provider.
	Provider providerName `query:"provider"`
}

type voicesInput struct {
	httpapi.SliceInput
	// Only voices of this model.
	Model string `query:"model" maxLength:"100"`
	// Only voices of this language (BCP 47). en matches en-GB, and en-GB matches voices of any English.
	Language string `query:"language" maxLength:"35" example:"en-GB"`
}

type avatarsInput struct {
	httpapi.SliceInput
	// Only avatars of this model.
	Model string `query:"model" maxLength:"100"`
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	offer := e.Offer()
	httpapi.List(r, httpapi.Op{
		ID: "listPlans", Method: http.MethodGet, Path: "/v1/catalog/plans", Scope: auth.AccountRead,
		Function: "catalog", Tag: "Catalog",
		Summary:     "List the subscription plans",
		Description: "Smallest plan first. Only accounts on a plan with `api_access` may use the API.",
		Errors:      []errs.Code{errs.InvalidCursor}, Opens: httpapi.Nothing,
	}, listPlans)
	httpapi.List(r, httpapi.Op{
		ID: "listModels", Method: http.MethodGet, Path: "/v1/catalog/models", Scope: auth.AccountRead,
		Function: "catalog", Tag: "Catalog",
		Summary: "List the generation models",
		Description: "Models that your factories have trained come first, then those of the catalog, sorted by kind " +
			"in a fixed order. A price is `credits` for every `per` units; the cost of a request is rounded up to a " +
			"whole credit. Models in the state `preview` work with test keys only. So do models in the state " +
			"`unavailable`, whose provider is not set up here or does not have them in this region; only live keys " +
			"see this state. Requests for a `retired` model fail with `unsupported_model`, and the message names its " +
			"successor.",
		Errors: []errs.Code{errs.InvalidCursor}, Opens: httpapi.Nothing,
	}, func(ctx context.Context, in *modelsInput) (httpapi.Page[catalog.Model], error) {
		filters, chosen := map[string]string{"kind": string(in.Kind), "provider": string(in.Provider)},
			catalog.Filter{Kind: in.Kind, Provider: string(in.Provider)}
		live := auth.FromContext(ctx).Mode == tenant.Live
		models := offer.Models(chosen, live)
		if in.Kind == "" || in.Kind == provider.KindText {
			trained, err := trainedModels(ctx, e.DB, offer, chosen, live)
			if err != nil {
				return httpapi.Page[catalog.Model]{}, err
			}
			models = append(trained, models...)
		}
		return httpapi.Slice(ctx, models, filters, in.SliceInput, func(m catalog.Model) string { return m.ID })
	})
	httpapi.List(r, httpapi.Op{
		ID: "listVoices", Method: http.MethodGet, Path: "/v1/catalog/voices", Scope: auth.AccountRead,
		Function: "catalog", Tag: "Catalog",
		Summary: "List the voices",
		Description: "Sorted by provider and language, in a fixed order. Send the `id` of a voice as `voice` to one " +
			"of its `models`. A model also accepts ids of its provider's other voices.",
		Errors: []errs.Code{errs.InvalidCursor}, Opens: httpapi.Nothing,
	}, listVoices)
	httpapi.List(r, httpapi.Op{
		ID: "listAvatars", Method: http.MethodGet, Path: "/v1/catalog/avatars", Scope: auth.AccountRead,
		Function: "catalog", Tag: "Catalog",
		Summary: "List the avatars",
		Description: "Sorted by provider, in a fixed order. Send the `id` of an avatar as `avatar` to one of its " +
			"`models`. Models that are not listed show the person of the image that you send.",
		Errors: []errs.Code{errs.InvalidCursor}, Opens: httpapi.Nothing,
	}, listAvatars)
}

// maxTrained bounds the trained models that are listed: an account has one for each factory that has trained one.
const maxTrained = 1000

// trainedModels returns the models that the caller's factories have trained, the newest factory's first.
func trainedModels(ctx context.Context, db *store.DB, offer catalog.Offer, chosen catalog.Filter,
	live bool) (models []catalog.Model, err error) {
	page, err := db.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(auth.FromContext(ctx).Owner, catalog.TrainedKind),
		Limit: maxTrained,
	})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		var t catalog.TunedModel
		if err := it.Decode(&t); err != nil {
			return nil, err
		}
		if m := offer.TrainedModel(t, live); chosen.Provider == "" || m.Provider == chosen.Provider {
			models = append(models, m)
		}
	}
	return models, nil
}

func listVoices(ctx context.Context, in *voicesInput) (httpapi.Page[catalog.Voice], error) {
	if in.Language != "" {
		if _, err := language.Parse(in.Language); err != nil {
			return httpapi.Page[catalog.Voice]{},
				errs.Invalid("language", "is not a language tag (BCP 47); write it as en or pt-BR")
		}
	}
	filters := map[string]string{"model": in.Model, "language": in.Language}
	return httpapi.Slice(ctx, catalog.Voices(in.Model, in.Language), filters, in.SliceInput,
		func(v catalog.Voice) string { return v.Provider + " " + v.ID })
}

func listAvatars(ctx context.Context, in *avatarsInput) (httpapi.Page[catalog.Avatar], error) {
	return httpapi.Slice(ctx, catalog.Avatars(in.Model), map[string]string{"model": in.Model}, in.SliceInput,
		func(a catalog.Avatar) string { return a.ID })
}

func listPlans(ctx context.Context, in *plansInput) (httpapi.Page[catalog.Plan], error) {
	return httpapi.Slice(ctx, catalog.Plans(), nil, in.SliceInput, func(p catalog.Plan) string { return p.ID })
}
