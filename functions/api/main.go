// Command api is the program of the functions that serve operations.
package main

import (
	"github.com/content-automation/api/pkg/area/awsarea"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/serve"
)

func main() {
	f := needs.Function()
	handler, _ := serve.FunctionNamed(f.Name).Open(awsarea.Open(f))
	httpapi.StartLambda(handler, needs.Read(f).PublicURL)
}
