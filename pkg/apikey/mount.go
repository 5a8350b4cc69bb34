package apikey

import (
	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e function.Env) {
	NewService(e.DB, account.NewService(e.DB, e.Now), e.Now, e.Random).Register(r)
}
