// Command relay is the Lambda function that sends on what was committed: jobs to
// their queues, events to the customer's bus.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/relay"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	queues := sqsqueue.Open(cfg, map[job.Queue]string{
		job.GenerateText:  awsenv.Need("GENERATE_TEXT_QUEUE_URL"),
		job.GenerateImage: awsenv.Need("GENERATE_IMAGE_QUEUE_URL"),
		job.GenerateAudio: awsenv.Need("GENERATE_AUDIO_QUEUE_URL"),
		job.GenerateVideo: awsenv.Need("GENERATE_VIDEO_QUEUE_URL"),
		job.Deliver:       awsenv.Need("DELIVER_QUEUE_URL"),
		job.Dispatch:      awsenv.Need("DISPATCH_QUEUE_URL"),
	})
	lambda.Start(relay.New(queues, eventbridge.NewFromConfig(cfg), awsenv.Need("BUS_NAME")).Handle)
}
