package webhook

import (
	"context"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e function.Env) {
	box := awsenv.Must(hook.NewBox(context.Background(), e.Seal))
	NewService(e.DB, hook.NewClient(e.Loopback), e.DeliverRole, box, e.Now, e.Random).Register(r)
}
