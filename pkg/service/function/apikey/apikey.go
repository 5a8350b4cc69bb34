// Package apikey wires the function apikey: all that has access to an account, which are its API keys and its people.
package apikey

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the function with a router.
func Mount(r *httpapi.Router, e area.Env) {
	apikey.Mount(r, e)
	people.Mount(r, e)
}
