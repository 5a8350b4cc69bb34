// Package settle connects the function that ends the calls that died during an external effect, which releases their
// reservations, that carries out automations, which do what a call does, and that ends what has lost its authority.
package settle

import (
	"maps"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/crm/integration"
	"github.com/content-automation/api/pkg/craft/source/feed"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/recheck"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function. It serves no calls, so there is no audit log.
func Handlers(e area.Env) worker.Handlers {
	r := httpapi.NewRouter(e.DB, nil, e.Now)
	r.SealWith(e.Seal)
	architect.Mount(r, e) // the only area whose operations have external effects
	handlers := worker.Handlers{httpapi.ClaimKind: httpapi.Claims{Router: r}}
	automations, integrations := automation.New(e), integration.Worker{DB: e.DB, Now: e.Now}
	maps.Copy(handlers, automations.Handlers(feed.Parse))
	handlers[recheck.Kind] = recheck.Handler{DB: e.DB, Checks: map[string]recheck.Check{
		automation.ItemKind: automations.Recheck, integration.Kind: integrations.Recheck}}
	return handlers
}
