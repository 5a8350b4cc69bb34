// Command deliver is the Lambda function that carries out attempts at webhooks.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/area/webhook/awsdest"
	"github.com/content-automation/api/pkg/area/webhook/deliver"
	"github.com/content-automation/api/pkg/service/worker"
	wiring "github.com/content-automation/api/pkg/service/worker/deliver"
)

func main() {
	cfg, d := wiring.Open(false, toAWS)
	lambda.Start(d.Counting(worker.Consume("deliver", cfg, d.DB, wiring.Handlers(d))))
}

func toAWS(cfg aws.Config) deliver.AWSSender { return awsdest.New(cfg) }
