package webhook

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Client(ClientOptions()), e.DeliverRole, e.Envelope, e.Now, e.Random).Register(r)
}
