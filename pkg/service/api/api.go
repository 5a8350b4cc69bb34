// Package api puts all areas together: the list of all operations, from which the
// gateway's routes and the authorizer's scopes are made, and the OpenAPI document.
// No function links it; what they need of it is generated from it.
package api

//go:generate sh -c "cd ../../.. && go run ./pkg/service/api/gen"

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/architect"
	catalogarea "github.com/content-automation/api/pkg/area/catalog"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/estimate"
	"github.com/content-automation/api/pkg/area/factory"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/product/promotion"
	"github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/httpapi"
)

// Area is an area of the API: the function that serves it, and its operations.
type Area struct {
	Function string
	Mount    area.Mount
}

// Areas are all areas.
var Areas = []Area{
	{"account", account.Mount}, {"account", sandbox.Mount}, {"apikey", apikey.Mount}, {"catalog", catalogarea.Mount},
	{"factory", factory.Mount}, {"factory", planarea.Mount}, {"factory", analytics.Mount}, {"factory", advice.Mount}, {"factory", training.Mount},
	{"content", content.Mount}, {"studio", studio.Mount}, {"studio", estimate.Mount}, {"media", mediaarea.Mount},
	{"product", product.Mount}, {"product", promotion.Mount},
	{"architect", architect.Mount}, {"webhook", webhook.Mount}, {"social", social.Mount},
}

// router registers every operation of every area.
func router() *httpapi.Router {
	r := httpapi.NewDocument(huma.Config{OpenAPI: header()})
	for _, a := range Areas {
		a.Mount(r, area.Env{})
	}
	return r
}

// Routes returns every operation of the API.
func Routes() []httpapi.Route { return router().Routes() }

// Document returns the OpenAPI document.
func Document() *huma.OpenAPI {
	r := router()
	factory.Describe(r)
	describeEvents(r)
	describeEstimates(r.OpenAPI())
	clean(r.OpenAPI())
	openAnswers(r.OpenAPI())
	describeFormats(r.OpenAPI())
	listValues(r.OpenAPI())
	nameEnums(r.OpenAPI())
	addExamples(r.OpenAPI(), r.Routes())
	describeWebhooks(r)
	return r.OpenAPI()
}
