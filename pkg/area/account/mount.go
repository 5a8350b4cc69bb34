package account

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the area: the account, its audit log, its events and its service levels.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Now).Register(r)
	e.Audit.Register(r)
	NewEvents(e.DB, e.Media).Register(r)
	NewLevels(e.DB, e.Now).Register(r)
}
