// Command generate is the Lambda function that generates content items.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/provider/sandbox"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	worker := content.NewWorker(
		store.Open(cfg, awsenv.Need("TABLE_NAME")), sandbox.New(time.Now),
		objects.New(cfg, awsenv.Need("MEDIA_BUCKET")), time.Now,
	)
	again := job.NewRequeuer(sqsqueue.New(sqs.NewFromConfig(cfg), awsenv.Need("GENERATE_QUEUE_URL")))
	lambda.Start(job.NewConsumer(worker, again).Handle)
}
