// Package api puts all areas together: the list of all operations, from which the
// gateway's routes and the authorizer's scopes are made, and the OpenAPI document.
// No function links it; what they need of it is generated from it.
package api

//go:generate sh -c "cd ../.. && go run ./pkg/api/gen"

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/studio"
	"github.com/content-automation/api/pkg/webhook"
)

// router registers every operation of every area.
func router() *httpapi.Router {
	r := httpapi.NewDocument(huma.Config{OpenAPI: header()})
	(&account.Service{}).Register(r)
	(&audit.Log{}).Register(r)
	(&account.Events{}).Register(r)
	(&apikey.Service{}).Register(r)
	catalog.Offer{}.Register(r)
	(&factory.Service{}).Register(r)
	(&content.Service{}).Register(r)
	(&studio.Service{}).Register(r)
	(&webhook.Service{}).Register(r)
	return r
}

// Routes gives every operation of the API.
func Routes() []httpapi.Route { return router().Routes() }

// Document gives the OpenAPI document.
func Document() *huma.OpenAPI {
	r := router()
	factory.DescribeSettings(r)
	describeWebhooks(r)
	clean(r.OpenAPI())
	openAnswers(r.OpenAPI())
	listScopes(r.OpenAPI())
	return r.OpenAPI()
}
