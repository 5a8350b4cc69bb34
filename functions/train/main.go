// Command train is the Lambda function that takes the steps of trainings.
package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/factory/training/job"
	"github.com/content-automation/api/pkg/factory/training/tune"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Train]()
	worker := &job.Worker{DB: store.Open(cfg, n.Table), Now: time.Now}
	if n.Role != "" { // otherwise nothing can be trained here
		worker.Objects = objects.New(cfg, n.Bucket)
		worker.Trainer = tune.New(tune.Config{AWS: cfg, Fakes: n.ProviderEndpoint, Bucket: n.Bucket, Role: n.Role})
	}
	kernel := task.NewKernel(task.Config{DB: worker.DB, Handlers: worker.Handlers(), Now: time.Now, Name: rand.Text, Chance: backoff.Chance})
	lambda.Start(task.NewConsumer(kernel, sqsqueue.Open(cfg, needs.QueueURLs([]topology.Queue{topology.Train})), queue.Ticker).Handle)
}
