// Package content holds the operations of content items: posts, videos, carousels, stories and music clips.
// Service.Register in operations.go has them; create.go makes an item, and package item has what is stored.
package content

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service creates, reads, changes and deletes content items.
type Service struct {
	db        *store.DB
	factories FactoryFinder
	signer    *media.Signer
	offer     catalog.Offer
	platforms social.Adapters
	now       func() time.Time
	moderator moderator
}

// FactoryFinder finds the factories of items.
type FactoryFinder interface {
	// FindAll reads the caller's factories with the given ids, and further items, in one round trip.
	FindAll(ctx context.Context, ids []string, others ...store.Key) (found map[string]factory.Factory,
		beside []store.Item, err error)
}

var _ FactoryFinder = (*factory.Service)(nil)

// NewService returns the service.
func NewService(db *store.DB, factories FactoryFinder, signer *media.Signer, offer catalog.Offer,
	now func() time.Time) *Service {
	// The service uses only the capabilities of the platforms.
	platforms := social.NewPlatforms(social.PlatformsConfig{Now: now})
	return &Service{db: db, factories: factories, signer: signer, offer: offer, platforms: platforms, now: now}
}

// find reads a content item of the caller's account and mode, with its publications.
func (s *Service) find(ctx context.Context, itemID string, match ...httpapi.IfMatch) (*item.Record, store.Item, error) {
	under, err := resource.FindUnder(ctx, s.db, id.ContentItem, "content item", itemID)
	if err != nil {
		return nil, store.Item{}, err
	}
	r, err := item.Of(under)
	if err == nil {
		err = httpapi.Matches(r.Item.Version, match)
	}
	return r, under[0], err
}

// findWith is find, and reads other items in the same round trip. An item that is scheduled, or was, takes another one
// for its publications.
func (s *Service) findWith(ctx context.Context, itemID string, others []store.Key, match ...httpapi.IfMatch) (
	r *item.Record, it store.Item, beside []store.Item, err error) {
	it, beside, err = resource.FindWith(ctx, s.db, id.ContentItem, item.ItemKind, itemID, others...)
	if err == nil {
		r, err = item.Decode(&it)
	}
	if err == nil {
		err = item.Attach(ctx, s.db, r)
	}
	if err == nil {
		err = httpapi.Matches(r.Item.Version, match)
	}
	return r, it, beside, err
}
