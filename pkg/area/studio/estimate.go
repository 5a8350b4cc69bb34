package studio

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Estimate is the cost of a generation.
type Estimate struct {
	// Kind of the generation.
	Kind provider.Kind `json:"kind" enum:"video,image,music,voice,avatar"`
	// Id of the model.
	Model string `json:"model" example:"flux-pro-1.1"`
	// Credits that the generation costs with a live key.
	Credits int64 `json:"credits" example:"4"`
	// Price of the model, from which the cost is computed.
	Price *catalog.Price `json:"price"`
}

type estimateBody struct {
	// Kind of the generation.
	Kind provider.Kind `json:"kind" enum:"video,image,music,voice,avatar"`
	// Id of a model of the catalog. Absent: the default of the catalog.
	Model string `json:"model,omitempty" maxLength:"100"`
	// Input of the operation that creates this kind.
	Input given `json:"input"`
}

// given is an input with the names of the members that were sent: a creating operation
// refuses members of another kind, even empty ones.
type given struct {
	Input
	members []string
}

// UnmarshalJSON reads the input.
func (g *given) UnmarshalJSON(b []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	g.members = slices.Sorted(maps.Keys(members))
	return json.Unmarshal(b, &g.Input)
}

// Schema describes the input in the OpenAPI document.
func (given) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[Input](), true, "")
}

type estimateInput struct{ Body estimateBody }

// registerEstimate puts the operation into the router.
func (s *Service) registerEstimate(r *httpapi.Router) {
	estimate := op("estimateGeneration", http.MethodPost, "/v1/studio/estimates", "Estimate a generation",
		"Returns the cost of a generation with a live key. Nothing is spent. The input is validated like that of the "+
			"creating operation. The cost depends on the request alone, so the estimate is exactly what is reserved. "+
			"Only a result that is far longer than reserved for is charged more.").Opening(httpapi.Nothing)
	estimate.Ends = &httpapi.Succession{Path: "/v1/balance/estimates", Operation: "createEstimate",
		Deprecated: time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC),
		Sunset:     time.Date(2027, time.December, 1, 0, 0, 0, 0, time.UTC)}
	estimate.Errors = []errs.Code{errs.UnsupportedModel, errs.UnsupportedMedia, errs.ProviderUnavailable, errs.NotFound}
	httpapi.Write(r, estimate, s.estimate)
}

func (s *Service) estimate(ctx context.Context, _ *store.Tx, in *estimateInput) (out Estimate, err error) {
	b := in.Body
	if err := errs.All(b.fits(), check(b.Kind, b.Input.Input, "/input")); err != nil {
		return out, err
	}
	// A test key, too, gets the live price.
	o, err := s.order(ctx, auth.FromContext(ctx).Owner, b.Kind, b.Model, b.Input.Input, "/input", true, nil)
	if err != nil {
		return out, err
	}
	return Estimate{Kind: b.Kind, Model: o.model.ID, Credits: o.credits, Price: o.model.Price}, nil
}

// fits refuses members that the kind does not have, as the creating operation does.
func (b estimateBody) fits() error {
	var found []error
	for _, name := range b.Input.members {
		if !slices.Contains(members[b.Kind], name) {
			found = append(found, errs.Invalid("/input/"+name, "is not a member of kind %s; its members are %s", b.Kind,
				strings.Join(members[b.Kind], ", ")))
		}
	}
	return errs.All(found...)
}

// Estimates returns, by operation, the functions that price the bodies of the creating operations with a live key. A
// body is the member "body" of the request; places in errors begin below it.
func (s *Service) Estimates() map[string]func(ctx context.Context, body any) ([]int64, error) {
	return map[string]func(ctx context.Context, body any) ([]int64, error){
		"createVideo": price[videoBody](s), "createImage": price[imageBody](s), "createMusic": price[musicBody](s),
		"createVoice": price[voiceBody](s), "createAvatar": price[avatarBody](s),
	}
}

func price[B body](s *Service) func(ctx context.Context, body any) ([]int64, error) {
	return func(ctx context.Context, body any) ([]int64, error) {
		b, err := httpapi.Member[B]("body", body)
		if err != nil {
			return nil, err
		}
		kind, c, in := b.asked()
		if err := errs.All(checkRehearsal(c.Sandbox, auth.FromContext(ctx).Mode), rules(b)); err != nil {
			return nil, err
		}
		owner, err := c.Given.Owner(ctx, &store.Tx{}, s.now())
		if err != nil {
			return nil, err
		}
		if c.ProfileID != "" { // no transaction checks that it exists
			_, err := resource.Find(ctx, s.db, id.Profile, profile.Kind, c.ProfileID)
			if errs.CodeOf(err) == errs.NotFound {
				err = errs.MissingAt("/profile_id", profile.Kind, c.ProfileID)
			}
			if err != nil {
				return nil, err
			}
		}
		o, err := s.order(ctx, owner, kind, c.Model, in, "", true, nil)
		return []int64{o.credits}, err
	}
}
