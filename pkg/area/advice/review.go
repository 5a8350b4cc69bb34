// Package advice holds the operations by which a factory is diagnosed, and by which the proposals that follow are
// listed and applied. Worker in worker.go makes a diagnosis; diagnosis.go and proposal.go have the operations.
package advice

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// Service starts diagnoses, and applies proposals.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService makes the service.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Now).Register(r) }

// FactoryPath is the part of the path that names a factory.
type FactoryPath struct {
	// Id of the factory.
	FactoryID string `path:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	s.registerDiagnoses(r)
	s.registerProposals(r)
	s.registerExperiments(r)
}

func op(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: method, Path: "/v1/factories/{factory_id}" + path, Scope: scope, Function: "factory",
		Tag:     "Factories",
		Summary: summary, Description: description,
	}
}
