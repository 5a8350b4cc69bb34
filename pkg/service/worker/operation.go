package worker

import (
	"context"
	"maps"

	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// settling ends the calls that died during an external effect, which releases their reservations, carries out
// automations, which do what a call does, ends what has lost its authority, and offers people the providers that were
// set up. It serves no calls, so there is no audit log.
func settling(e Env) Handlers {
	r := httpapi.NewRouter(e.DB, nil, e.Now)
	r.SealWith(e.Seal)
	// The operations whose effect is more than one transaction.
	architect.Mount(r, e.Env)
	content.Mount(r, e.Env)
	handlers := Handlers{httpapi.ClaimKind: httpapi.Claims{Router: r}}
	automations, integrations := automation.New(e.Env), crm.Worker{DB: e.DB, Now: e.Now}
	maps.Copy(handlers, automations.Handlers(fetch.ParseFeed))
	handlers[person.RecheckKind] = person.Rechecks(e.DB, map[string]person.Recheck{
		automation.ItemKind: automations.Recheck, crm.Kind: integrations.Recheck})
	handlers[connection.OfferKind] = connection.Offerer{DB: e.DB, Client: e.People, Now: e.Now}
	return handlers
}

// synchronizing takes the steps of integrations with CRMs.
func synchronizing(e Env) Handlers {
	c := crm.Config{HTTP: e.Client(safehttp.Options{MaxBody: crm.MaxAnswer}),
		Endpoint: e.PlatformEndpoint, Now: e.Now}
	if e.Apps != nil {
		c.Apps = social.NewApps(e.Apps, e.Now).Get
	}
	w := &crm.Worker{DB: e.DB, Systems: crm.NewSystems(c), Now: e.Now,
		Vault: social.Vault{Envelope: e.Envelope, DB: e.DB}, Content: maker{content.NewService(e.DB,
			factory.NewService(e.DB, e.Now), e.Media, catalog.NewOffer(e.Providers, e.AWS.Region, e.Now), e.Now)}}
	return w.Handlers()
}

// maker makes content items by the operation that creates them.
type maker struct{ *content.Service }

func (m maker) Make(ctx context.Context, tx *store.Tx, p *auth.Principal, piece crm.Piece) (string, error) {
	made, err := m.Service.Make(ctx, tx, p, content.New(piece))
	return made.ID, err
}
