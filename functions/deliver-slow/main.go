// Command deliver-slow is the Lambda function that carries out attempts at webhooks
// whose receivers take long to answer: deliver passes them on, so that no others wait
// for them.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/service/worker"
	wiring "github.com/content-automation/api/pkg/service/worker/deliver"
)

func main() {
	cfg, d := wiring.Open(true, nil)
	lambda.Start(d.Counting(worker.Consume("deliver-slow", cfg, d.DB, wiring.Handlers(d))))
}
