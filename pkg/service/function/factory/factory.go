// Package factory wires the function factory: the factories, their content plans, their
// analytics, their diagnoses and their trainings.
package factory

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the function with a router.
func Mount(r *httpapi.Router, e area.Env) {
	factory.Mount(r, e)
	planarea.Mount(r, e)
	analytics.Mount(r, e)
	advice.Mount(r, e)
	training.Mount(r, e)
}
