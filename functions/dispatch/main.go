// Command dispatch is the Lambda function that makes the deliveries of events.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, needs.Read[needs.State]().Table)
	events := sqsqueue.New(sqs.NewFromConfig(cfg), needs.QueueURL(topology.Dispatch))
	lambda.Start(dispatch.New(db, time.Now).Holding(queue.NewHolder(events, queue.Ticker)))
}
