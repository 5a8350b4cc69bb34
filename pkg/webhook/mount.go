package webhook

import (
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e function.Env) {
	NewService(e.DB, hook.NewClient(e.Loopback), e.DeliverRole, e.Envelope, e.Now, e.Random).Register(r)
}
