// Command factory is the Lambda function of the factories, their content plans, what is found
// about them, and their trainings.
package main

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/service/function/factory"
)

func main() {
	n := needs.Read[needs.Factory]()
	e := area.Open(n.Area)
	e.Providers = n.Providers
	area.Serve(factory.Mount, e)
}
