// Package api describes the operations of all areas: their list, from which the gateway's routes and the authorizer's
// scopes are generated, and the OpenAPI document. No function links it: functions use the generated files. Routes has
// all operations, and DocumentOf makes the document.
package api

//go:generate sh -c "cd ../../.. && go run ./pkg/service/api/gen"

import (
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	factoryarea "github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/serve"
)

// router registers every operation of every area.
func router(texts *httpapi.Texts) *httpapi.Router {
	r := httpapi.NewDocument(huma.Config{OpenAPI: header()}, texts)
	for _, f := range serve.All {
		f.Mount(r, area.Env{})
	}
	return r
}

// Routes returns every operation of the API. Its first call takes some 60 ms.
func Routes() []httpapi.Route { return slices.Clone(routes()) }

var routes = sync.OnceValue(func() []httpapi.Route { return router(httpapi.NewTexts(nil)).Routes() })

// Document returns the OpenAPI document.
func Document() *huma.OpenAPI { return DocumentOf(httpapi.EmbeddedTexts()) }

// DocumentOf returns the OpenAPI document with the given descriptions of members.
func DocumentOf(texts *httpapi.Texts) *huma.OpenAPI {
	r := router(texts)
	factoryarea.Describe(r)
	content.Describe(r)
	describeEvents(r)
	describeEstimates(r.OpenAPI())
	clean(r.OpenAPI())
	describeFormats(r.OpenAPI())
	listValues(r.OpenAPI())
	nameEnums(r.OpenAPI())
	tellApart(r.OpenAPI())
	describeTexts(r.OpenAPI())
	describeSecrets(r.OpenAPI())
	describeShapes(r.OpenAPI())
	shareMembers(r.OpenAPI())
	addExamples(r.OpenAPI(), r.Routes())
	describeClients(r.OpenAPI())
	describeWebhooks(r)
	describeSchemas(r.OpenAPI(), texts)
	return r.OpenAPI()
}
