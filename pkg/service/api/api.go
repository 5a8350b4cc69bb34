// Package api combines all areas: the list of all operations, from which the gateway's routes and the authorizer's
// scopes are generated, and the OpenAPI document. No function links it: functions use the generated files.
package api

//go:generate sh -c "cd ../../.. && go run ./pkg/service/api/gen"

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/architect"
	catalogarea "github.com/content-automation/api/pkg/area/catalog"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/crm"
	factoryarea "github.com/content-automation/api/pkg/area/factory"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/describe"
	"github.com/content-automation/api/pkg/service/function/account"
	keys "github.com/content-automation/api/pkg/service/function/apikey"
	contentfunction "github.com/content-automation/api/pkg/service/function/content"
	"github.com/content-automation/api/pkg/service/function/factory"
	"github.com/content-automation/api/pkg/service/function/product"
	"github.com/content-automation/api/pkg/service/function/studio"
)

// Function is a function of the API, and its operations.
type Function struct {
	Name  string
	Mount area.Mount
}

// Functions are all functions that serve operations, in the order of the document.
var Functions = []Function{
	{"account", account.Mount}, {"apikey", keys.Mount}, {"catalog", catalogarea.Mount}, {"factory", factory.Mount},
	{"content", contentfunction.Mount}, {"studio", studio.Mount}, {"media", mediaarea.Mount}, {"product", product.Mount},
	{"architect", architect.Mount}, {"webhook", webhook.Mount}, {"social", social.Mount},
	{"crm", crm.Mount},
}

// router registers every operation of every area.
func router(texts *describe.Table) *httpapi.Router {
	r := httpapi.NewDocument(huma.Config{OpenAPI: header()}, texts)
	for _, f := range Functions {
		f.Mount(r, area.Env{})
	}
	return r
}

// Routes returns every operation of the API.
func Routes() []httpapi.Route { return router(describe.New(nil)).Routes() }

// Document returns the OpenAPI document.
func Document() *huma.OpenAPI { return DocumentOf(describe.Embedded()) }

// DocumentOf returns the OpenAPI document with the given descriptions of members.
func DocumentOf(texts *describe.Table) *huma.OpenAPI {
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
	addExamples(r.OpenAPI(), r.Routes())
	describeClients(r.OpenAPI())
	describeWebhooks(r)
	return r.OpenAPI()
}
