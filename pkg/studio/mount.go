package studio

import (
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/safehttp"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e function.Env) {
	urls := safehttp.New(safehttp.Options{AllowLoopback: e.Loopback})
	NewService(e.DB, e.Media, urls, catalog.NewOffer(e.Providers), e.Now).Register(r)
}
