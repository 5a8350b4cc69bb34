// Command resume is the Lambda function that finds generation work whose message
// was lost on the way, and sends it again.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/engine"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
)

// every is how often the stack calls the function.
const every = 5 * time.Minute

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	queues := sqsqueue.Open(cfg, map[job.Queue]string{
		job.GenerateText:  awsenv.Need("GENERATE_TEXT_QUEUE_URL"),
		job.GenerateImage: awsenv.Need("GENERATE_IMAGE_QUEUE_URL"),
		job.GenerateAudio: awsenv.Need("GENERATE_AUDIO_QUEUE_URL"),
		job.GenerateVideo: awsenv.Need("GENERATE_VIDEO_QUEUE_URL"),
	})
	sweeper := engine.NewSweeper(store.Open(cfg, awsenv.Need("TABLE_NAME")), job.NewSender(queues), time.Now, every)
	lambda.Start(func(ctx context.Context, in struct {
		// Now asks for all that is due, without waiting for it to be overdue.
		Now bool `json:"now"`
	}) (engine.Swept, error) {
		return sweeper.Sweep(ctx, in.Now)
	})
}
