// Command diagnose is the Lambda function that makes the diagnoses of factories.
package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/factory/diagnose"
	"github.com/content-automation/api/pkg/factory/diagnosis"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/provider/registry"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Diagnose]()
	db := store.Open(cfg, n.Table)
	worker := &diagnose.Worker{
		DB: db, Now: time.Now, Offer: catalog.NewOffer(n.Providers, cfg.Region),
		Providers: registry.New(registry.Config{
			Configured: provider.ParseConfigured(n.Providers), AWS: cfg, Endpoint: n.ProviderEndpoint, Now: time.Now,
		}),
	}
	kernel := task.NewKernel(task.Config{
		DB: db, Handlers: map[task.Kind]task.Handler{diagnosis.TaskKind: worker}, Now: time.Now, Name: rand.Text, Chance: backoff.Chance,
	})
	queues := sqsqueue.Open(cfg, needs.QueueURLs([]topology.Queue{topology.Diagnose}))
	lambda.Start(task.NewConsumer(kernel, queues, queue.Ticker).Handle)
}
