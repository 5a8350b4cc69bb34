// Command factory is the Lambda function of the factories and of what is found about them.
package main

import (
	"github.com/content-automation/api/pkg/analytics"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/factory/review"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/needs"
)

func main() {
	function.Serve(func(r *httpapi.Router, e function.Env) {
		factory.Mount(r, e)
		analytics.Mount(r, e)
		review.Mount(r, e)
	}, function.Open(needs.Read[needs.Area]()))
}
