// Package synccrm connects the function that takes the steps of integrations with CRMs.
package synccrm

import (
	"context"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/crm/integration"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/area/social/apps"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// Handlers returns the handlers of the function. It serves no calls, so there is no audit log.
func Handlers(e area.Env) worker.Handlers {
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
