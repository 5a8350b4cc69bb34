// Package settle wires the function that ends the calls that died while they reached
// outside: it releases what they have reserved.
package settle

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function. It serves no calls, so that there is
// nothing to audit.
func Handlers(e area.Env) worker.Handlers {
	r := httpapi.NewRouter(e.DB, nil, e.Now)
	r.SealWith(e.Seal)
	architect.Mount(r, e) // the one area whose operations reach outside
	return worker.Handlers{httpapi.ClaimKind: httpapi.Claims{Router: r}}
}
