package worker

import (
	"context"
	"maps"

	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/crm/integration"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/area/social/apps"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/source/feed"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/recheck"
	"github.com/content-automation/api/pkg/store"
)

// settling ends the calls that died during an external effect, which releases their reservations, carries out
// automations, which do what a call does, and ends what has lost its authority. It serves no calls, so there is no
// audit log.
func settling(e Env) Handlers {
	r := httpapi.NewRouter(e.DB, nil, e.Now)
	r.SealWith(e.Seal)
	architect.Mount(r, e.Env) // the only area whose operations have external effects
	handlers := Handlers{httpapi.ClaimKind: httpapi.Claims{Router: r}}
	automations, integrations := automation.New(e.Env), integration.Worker{DB: e.DB, Now: e.Now}
	maps.Copy(handlers, automations.Handlers(feed.Parse))
	handlers[recheck.Kind] = recheck.Handler{DB: e.DB, Checks: map[string]recheck.Check{
		automation.ItemKind: automations.Recheck, integration.Kind: integrations.Recheck}}
	return handlers
}

// synchronizing takes the steps of integrations with CRMs.
func synchronizing(e Env) Handlers {
	c := integration.Config{HTTP: e.Client(safehttp.Options{MaxBody: integration.MaxAnswer}),
		Endpoint: e.PlatformEndpoint, Now: e.Now}
	if e.Apps != nil {
		c.Apps = apps.New(e.Apps, e.Now).Get
	}
	w := &integration.Worker{DB: e.DB, Systems: integration.NewSystems(c), Now: e.Now,
		Vault: account.Vault{Envelope: e.Envelope}, Content: maker{content.NewService(e.DB,
			factory.NewService(e.DB, e.Now), e.Media, catalog.NewOffer(e.Providers, e.AWS.Region), e.Now)}}
	return w.Handlers()
}

// maker makes content items by the operation that creates them.
type maker struct{ *content.Service }

// Make implements integration.ContentMaker.
func (m maker) Make(ctx context.Context, tx *store.Tx, p *auth.Principal, piece integration.Piece) (string, error) {
	made, err := m.Service.Make(ctx, tx, p, content.New(piece))
	return made.ID, err
}
