// Command relay is the Lambda function that sends on what was committed: jobs to
// their queues, events to the customer's bus.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/relay"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	client := sqs.NewFromConfig(cfg)
	queues := map[job.Queue]queue.Sender{
		job.Generate: sqsqueue.New(client, awsenv.Need("GENERATE_QUEUE_URL")),
		job.Deliver:  sqsqueue.New(client, awsenv.Need("DELIVER_QUEUE_URL")),
		job.Dispatch: sqsqueue.New(client, awsenv.Need("DISPATCH_QUEUE_URL")),
	}
	lambda.Start(relay.New(queues, eventbridge.NewFromConfig(cfg), awsenv.Need("BUS_NAME")).Handle)
}
