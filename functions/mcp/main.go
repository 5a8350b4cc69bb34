// Command mcp is the function that serves the API to agents by the Model Context Protocol.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/cloud/secret/manager"
	"github.com/content-automation/api/pkg/service/mcp"
)

func main() {
	metric.SetupLog()
	n := needs.Read(needs.Function())
	client := &http.Client{Timeout: mcp.AttemptTimeout}
	if n.CallerSecret != "" {
		cfg := awsenv.Must(awsenv.Config())
		client = secret.Client(manager.Secret(cfg, n.CallerSecret), mcp.AttemptTimeout)
	}
	lambda.Start(mcp.Lambda(mcp.Open(n.SignIn, n.APIURL, client)))
}
