package content

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, factory.NewService(e.DB, e.Now), e.Media, e.Offer(),
		e.Now).Moderated(e.Moderator).Register(r)
}
