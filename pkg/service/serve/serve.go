// Package serve has All, the table of the functions that serve operations. The program api, the OpenAPI document, the
// local service, the simulation and the measurements read it.
package serve

import (
	"net/http"
	"slices"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/catalog"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/estimate"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/httpapi"
)

// Function is a Lambda function that serves the operations of some areas.
type Function struct {
	Name string
	// Areas register the operations.
	Areas []area.Mount
	// With adds the paths that need no API key, for example the callbacks of OAuth. Nil: there are none.
	With func(e area.Env, operations http.Handler) http.Handler
}

// All has the functions in the order in which the OpenAPI document lists their operations.
var All = []Function{
	{Name: "account", Areas: []area.Mount{account.Mount, sandbox.Mount, profile.Mount}},
	{Name: "apikey", Areas: []area.Mount{apikey.Mount, people.Mount},
		With: func(e area.Env, operations http.Handler) http.Handler { return people.OpenSCIM(e).With(operations) }},
	{Name: "catalog", Areas: []area.Mount{catalog.Mount}},
	{Name: "factory", Areas: []area.Mount{factory.Mount, plan.Mount, analytics.Mount, advice.Mount, experiment.Mount,
		training.Mount}},
	{Name: "content", Areas: []area.Mount{content.Mount, publishing.Mount, engagement.Mount},
		With: func(e area.Env, operations http.Handler) http.Handler { return publishing.Open(e).With(operations) }},
	{Name: "studio", Areas: []area.Mount{studio.Mount, estimate.Mount, automation.Mount, quote.Mount, template.Mount}},
	{Name: "media", Areas: []area.Mount{media.Mount, transfer.Mount}},
	{Name: "product", Areas: []area.Mount{product.Mount, product.MountPromotions, feed.Mount}},
	{Name: "architect", Areas: []area.Mount{architect.Mount}},
	{Name: "webhook", Areas: []area.Mount{webhook.Mount}},
	{Name: "social", Areas: []area.Mount{social.Mount},
		With: func(e area.Env, operations http.Handler) http.Handler {
			return engagement.OpenHints(e).With(social.Open(e).With(operations))
		}},
	{Name: "crm", Areas: []area.Mount{crm.Mount},
		With: func(e area.Env, operations http.Handler) http.Handler { return crm.Open(e).With(operations) }},
}

// FunctionNamed returns the function with the given name. It panics if there is none.
func FunctionNamed(name string) Function {
	i := slices.IndexFunc(All, func(f Function) bool { return f.Name == name })
	if i < 0 {
		panic("serve: no function " + name)
	}
	return All[i]
}

// Mount registers the operations of the function with a router.
func (f Function) Mount(r *httpapi.Router, e area.Env) {
	for _, mount := range f.Areas {
		mount(r, e)
	}
}

// Open returns the handler of the function, and the routes of its operations.
func (f Function) Open(e area.Env) (http.Handler, []httpapi.Route) {
	r := httpapi.NewRouter(e.DB, e.Audit, e.Now)
	r.SealWith(e.Seal)
	f.Mount(r, e)
	if f.With == nil {
		return r, r.Routes()
	}
	return f.With(e, r), r.Routes()
}
