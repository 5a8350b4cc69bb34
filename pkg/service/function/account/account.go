// Package account wires the function account: the account itself, its balance, its audit
// log, its events, its sandbox and its profiles.
package account

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the function with a router.
func Mount(r *httpapi.Router, e area.Env) {
	account.Mount(r, e)
	sandbox.Mount(r, e)
	profile.Mount(r, e)
}
