// Command factory is the Lambda function of the factories, their content plans, what is found
// about them, and their trainings.
package main

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/httpapi"
)

func main() {
	n := needs.Read[needs.Factory]()
	e := area.Open(n.Area)
	e.Providers = n.Providers
	area.Serve(func(r *httpapi.Router, e area.Env) {
		factory.Mount(r, e)
		planarea.Mount(r, e)
		analytics.Mount(r, e)
		advice.Mount(r, e)
		training.Mount(r, e)
	}, e)
}
