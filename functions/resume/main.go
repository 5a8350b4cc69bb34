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
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	queues := sqsqueue.Open(cfg, needs.QueueURLs(topology.Generation))
	sweeper := engine.NewSweeper(store.Open(cfg, needs.Read[needs.State]().Table), job.NewSender(queues), time.Now, topology.Named("resume").Every)
	lambda.Start(func(ctx context.Context, in struct {
		// Now asks for all that is due, without waiting for it to be overdue.
		Now bool `json:"now"`
	}) (engine.Swept, error) {
		return sweeper.Sweep(ctx, in.Now)
	})
}
