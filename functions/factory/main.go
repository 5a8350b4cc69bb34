// Command factory is the Lambda function of the factories.
package main

import (
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/needs"
)

func main() { function.Serve(factory.Mount, function.Open(needs.Read[needs.Area]())) }
