// Package studio holds the operations of the studio: they make one picture, clip, track, voice or avatar each, with one
// model. Service.Register in operations.go has the operations.
package studio

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service creates, reads and deletes generations.
type Service struct {
	db     *store.DB
	signer *media.Signer
	urls   area.Client
	offer  catalog.Offer
	now    func() time.Time
}

// NewService makes the service. The offer is what the stack has of the catalog.
func NewService(db *store.DB, signer *media.Signer, urls area.Client, offer catalog.Offer,
	now func() time.Time) *Service {
	return &Service{db, signer, urls, offer, now}
}

// find reads a generation of the caller's account and mode.
func (s *Service) find(ctx context.Context, generationID string, match ...httpapi.IfMatch) (*Record,
	store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.Generation, "generation", generationID)
	if err != nil {
		return nil, it, err
	}
	r, err := Decode(&it)
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, it, err
}
