// Command canary is the Lambda function that probes the service by its public API.
package main

import (
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/service/worker/canary"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Canary]()
	c := canary.Canary{
		Target: secret.Manager(cfg, n.CanarySecret), HTTP: &http.Client{Timeout: 30 * time.Second},
		DB:  store.Open(cfg, n.Table),
		Now: time.Now, Wait: backoff.Sleep,
	}
	lambda.Start(c.Run)
}
