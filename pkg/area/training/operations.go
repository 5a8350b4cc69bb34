package training

import (
	"net/http"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
)

type createBody struct {
	// Id of a text model whose training is not null in the catalog. Absent: the factory's text model if it can be
	// trained, or else one that can.
	BaseModel string `json:"base_model,omitempty" maxLength:"100" example:"nova-lite"`
	// Simulated result. For test keys only.
	Sandbox *Rehearsal `json:"sandbox,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type startInput struct {
	factory.FactoryPath
	Body createBody
}

// Register puts the operations into the router.
func (s *Service) Register(r *httpapi.Router) {
	const path = "/v1/factories/{factory_id}/training"
	op := func(id, method string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{ID: id, Method: method, Path: path, Scope: scope, Function: "factory", Tag: "Factories",
			Summary: summary, Description: description}
	}
	start := op("startTraining", http.MethodPost, auth.FactoriesWrite, "Train a model",
		"Trains a text model of the factory's own from the texts of its newest generated content items: at least 50, "+
			"at most 1,000. It runs in the background for hours, 48 at most; the event `training.completed` or "+
			"`training.failed` reports its end. The trained model is then in `GET /v1/catalog/models`, with "+
			"`fine_tuned_from`; set `models.text` of the factory to its id to use it. A factory has one trained "+
			"model: a later training replaces it under the same id. "+
			"The cost depends on the length of the texts and the base model: it is reserved now, charged when the "+
			"model is ready, and released if the training fails or the factory is deleted. `POST "+
			"/v1/balance/estimates` returns it beforehand. With a test key nothing is spent, and `sandbox` selects "+
			"the result.").Opening(httpapi.Spending)
	start.Status = http.StatusAccepted
	start.Errors = []errs.Code{errs.NotFound, errs.InvalidState, errs.UnsupportedModel, errs.InsufficientBalance,
		errs.SpendLimitReached}
	httpapi.Write(r, start, s.start)

	httpapi.Read(r, op("getTraining", http.MethodGet, auth.FactoriesRead, "Get the training",
		"Returns the factory's latest training. Without one it returns `not_found`.").Opening(httpapi.Nothing), s.get)
}

// Mount registers the operations.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, factory.NewService(e.DB, e.Now), e.Offer(), e.Now).Register(r)
}
