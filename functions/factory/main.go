// Command factory is the Lambda function of the factories.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/function"
)

func main() {
	function.Serve(func(a function.Area) {
		factory.NewService(a.DB, time.Now).Register(a.Router)
	})
}
