package studio

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, NewClient(e), e.Offer(), e.Now).Register(r)
}
