package catalog

import (
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e function.Env) {
	NewOffer(e.Providers).Register(r)
}
