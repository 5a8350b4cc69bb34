// Package architect holds the chats with the assistant that helps a caller set up factories, content plans and content
// items. A language model writes the replies. It reads what the caller may read, by tools, and makes drafts: bodies of
// the operations that create or change things, which the caller reviews, changes and applies. It has no other
// tools, so that instructions in the texts that it reads cannot do more. Service.Register in operations.go has the
// operations, and send.go makes a reply.
package architect

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service holds chats, and applies drafts.
type Service struct {
	db         *store.DB
	factories  *factory.Service
	plans      *planarea.Service
	items      *content.Service
	statistics *analytics.Service
	offer      catalog.Offer
	live       provider.Converser
	now        func() time.Time
}

// NewService makes the service. Live answers the messages of live keys.
func NewService(db *store.DB, items *content.Service, offer catalog.Offer, live provider.Converser,
	now func() time.Time) *Service {
	factories := factory.NewService(db, now)
	return &Service{
		db: db, factories: factories, plans: planarea.NewService(db, factories, offer, now), items: items,
		statistics: analytics.NewService(db, now), offer: offer, live: live, now: now,
	}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	offer := e.Offer()
	items := content.NewService(e.DB, factory.NewService(e.DB, e.Now), e.Media, offer, e.Now).Moderated(e.Moderator)
	NewService(e.DB, items, offer, e.Converser, e.Now).Register(r)
}

// model returns the model that answers the messages of a mode, and the converser that
// answers in its name: the sandbox answers by rules.
func (s *Service) model(mode tenant.Mode) (catalog.Model, provider.Converser, error) {
	m, err := s.offer.Default(provider.KindText, mode == tenant.Live)
	switch {
	case err != nil:
		return m, nil, errs.Wrap(err, errs.ProviderUnavailable, "%s", errs.As(err).Message)
	case mode == tenant.Live:
		return m, s.live, nil
	}
	return m, SampleAssistant{}, nil
}

// chat reads a chat of the caller, and other items with it.
func (s *Service) chat(ctx context.Context, chatID string, others ...store.Key) (*Record, store.Item,
	[]store.Item, error) {
	it, beside, err := resource.FindWith(ctx, s.db, id.Chat, Kind, chatID, others...)
	if err != nil {
		return nil, it, nil, err
	}
	r, err := Decode(&it)
	return r, it, beside, err
}

// draft reads a draft that the caller is to change or apply. One that it may not read is not found.
func (s *Service) draft(ctx context.Context, draftID string) (d Draft, it store.Item, err error) {
	if it, err = resource.Find(ctx, s.db, id.Draft, DraftKind, draftID); err != nil {
		return d, it, err
	}
	if d, err = DraftOf(&it); err != nil {
		return d, it, err
	}
	p, needs := auth.FromContext(ctx), scopes[d.Kind]
	if !p.Has(needs.read) {
		return d, it, errs.Missing(DraftKind, draftID)
	}
	return d, it, p.Require(needs.write, "")
}

// check refuses a draft that its operation would refuse. Places in errors begin with the member body.
func (s *Service) check(ctx context.Context, d Draft) error {
	switch d.Kind {
	case Factory:
		return s.factories.Check(ctx, d.Body)
	case ContentPlan:
		return s.plans.Check(ctx, *d.FactoryID, d.Body)
	case FactoryChange, ContentItemChange:
		if len(d.Body) == 0 {
			return errs.Invalid("/body", "changes nothing: name a member")
		}
		_, err := s.carryOut(ctx, &store.Tx{}, d)
		return err
	default:
		return s.items.Check(ctx, d.Body)
	}
}

// scopes are the scopes that a caller needs for a draft, besides the scope of the
// architect: to see it, and to change or apply it.
var scopes = map[Subject]struct{ read, write auth.Scope }{
	Factory:           {auth.FactoriesRead, auth.FactoriesWrite},
	ContentPlan:       {auth.FactoriesRead, auth.FactoriesWrite},
	ContentItem:       {auth.ContentRead, auth.ContentWrite},
	FactoryChange:     {auth.FactoriesRead, auth.FactoriesWrite},
	ContentItemChange: {auth.ContentRead, auth.ContentWrite},
}
