// Package studio wires the function studio: the generations of the studio, estimates, and automations.
package studio

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/estimate"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the function with a router.
func Mount(r *httpapi.Router, e area.Env) {
	studio.Mount(r, e)
	estimate.Mount(r, e)
	automation.Mount(r, e)
}
