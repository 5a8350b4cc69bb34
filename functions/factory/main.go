// Command factory is the Lambda function of the factories, their content plans, what is found
// about them, and their trainings.
package main

import (
	"github.com/content-automation/api/pkg/analytics"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/factory/planning"
	"github.com/content-automation/api/pkg/factory/review"
	"github.com/content-automation/api/pkg/factory/training"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
)

func main() {
	n := needs.Read[needs.Factory]()
	e := function.Open(n.Area)
	e.Providers = n.Providers
	function.Serve(func(r *httpapi.Router, e function.Env) {
		factory.Mount(r, e)
		planning.Mount(r, e)
		analytics.Mount(r, e)
		review.Mount(r, e)
		training.Mount(r, e)
	}, e)
}
