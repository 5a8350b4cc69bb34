// Command authorizer is the custom authorizer of the gateway.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	metric.SetupLog()
	cfg := awsenv.Must(awsenv.Config())
	n := needs.Read(needs.Function())
	a := authorizer.New(credential.NewCounter(store.Open(cfg, n.Table), time.Now), signin.New(n.SignIn, time.Now),
		authorizer.Scopes, time.Now)
	lambda.Start(a.Handle)
}
