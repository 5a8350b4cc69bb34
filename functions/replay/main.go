// Command replay is the Lambda function that delivers events that webhooks have missed.
package main

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
	"github.com/content-automation/api/pkg/webhook/dispatch"
	"github.com/content-automation/api/pkg/webhook/hook"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, needs.Read[needs.State]().Table)
	own := []topology.Queue{topology.Replay}
	deliveries := sqsqueue.Open(cfg, needs.QueueURLs([]topology.Queue{topology.Deliver}))[topology.Deliver]
	kernel := task.NewKernel(task.Config{
		DB:       db,
		Handlers: map[task.Kind]task.Handler{hook.ReplayKind: dispatch.Replayer{Dispatcher: dispatch.New(db, deliveries, time.Now)}},
		Now:      time.Now, Name: rand.Text, Chance: mathrand.Float64,
	})
	lambda.Start(task.NewConsumer(kernel, sqsqueue.Open(cfg, needs.QueueURLs(own)), queue.Ticker).Handle)
}
