// Package settle connects the function that ends the calls that died during an external effect, which releases their
// reservations, and that carries out automations: both do what a call does.
package settle

import (
	"maps"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/craft/source/feed"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function. It serves no calls, so there is no audit log.
func Handlers(e area.Env) worker.Handlers {
	r := httpapi.NewRouter(e.DB, nil, e.Now)
	r.SealWith(e.Seal)
	architect.Mount(r, e) // the only area whose operations have external effects
	handlers := worker.Handlers{httpapi.ClaimKind: httpapi.Claims{Router: r}}
	maps.Copy(handlers, automation.New(e).Handlers(feed.Parse))
	return handlers
}
