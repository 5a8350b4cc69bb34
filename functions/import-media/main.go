// Command import-media is the Lambda function that looks at the files that callers bring
// in.
package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media/importer"
	"github.com/content-automation/api/pkg/media/incoming"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/product/photos"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Import]()
	db := store.Open(cfg, n.Table)
	worker := &importer.Worker{
		DB: db, Objects: objects.New(cfg, n.Bucket), Now: time.Now,
		URLs: importer.NewClient(awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))),
	}
	kernel := task.NewKernel(task.Config{
		DB: db, Handlers: map[task.Kind]task.Handler{incoming.Kind: worker, incoming.Photo: &photos.Worker{Files: worker}}, Now: time.Now, Name: rand.Text, Chance: backoff.Chance,
	})
	queues := sqsqueue.Open(cfg, needs.QueueURLs([]topology.Queue{topology.ImportMedia}))
	lambda.Start(importer.Notified(task.NewConsumer(kernel, queues, queue.Ticker).Handle))
}
