// Package media holds the operations on the media that callers bring in. Service.Register in operations.go has the
// operations; Importer brings files in.
package media

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// Service creates, reads and deletes media.
type Service struct {
	db     *store.DB
	signer *media.Signer
	urls   safehttp.Checker
	now    func() time.Time
}

// NewService makes the service.
func NewService(db *store.DB, signer *media.Signer, urls safehttp.Checker, now func() time.Time) *Service {
	return &Service{db, signer, urls, now}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, e.Client(safehttp.Options{}), e.Now).Register(r)
}
