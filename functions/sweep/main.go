// Command sweep is the Lambda function that repairs deliveries: it looks for
// events and messages that were lost on the way, and sends them on.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/webhook"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	deliveries := sqsqueue.New(sqs.NewFromConfig(cfg), awsenv.Need("DELIVER_QUEUE_URL"))
	lambda.Start(webhook.NewSweeper(db, deliveries, time.Now).Handle)
}
