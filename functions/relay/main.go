// Command relay is the Lambda function that sends on what was committed: jobs to
// their queues, events to the customer's bus.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker/relay"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	queues := sqsqueue.Open(cfg, needs.QueueURLs(topology.Named("relay").Sends))
	lambda.Start(relay.New(queues, eventbridge.NewFromConfig(cfg), needs.Read[needs.Relay]().Bus).Handle)
}
