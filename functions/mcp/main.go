// Command mcp is the function that serves the API to agents by the Model Context Protocol.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/service/mcp"
)

func main() {
	metric.SetupLog()
	n := needs.Read(needs.Function())
	lambda.Start(mcp.Lambda(mcp.Open(n.SignIn, n.PublicURL)))
}
