// Command generate is the Lambda function that takes the steps of generations.
package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/architect/chat"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/factory/work"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/provider/registry"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/reset"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/studio/generation"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Generate]()
	signer := awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now))
	db := store.Open(cfg, n.Table)
	worker := &generate.Worker{
		DB:      db,
		Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{Sign: item.SignedBy(signer)}, generation.ItemKind: generation.Loader{Sign: item.SignedBy(signer)}},
		Providers: registry.New(registry.Config{
			Configured: provider.ParseConfigured(n.Providers), AWS: cfg, Secret: n.ProviderSecret,
			Bucket: n.Bucket, Endpoint: n.ProviderEndpoint, Now: time.Now,
		}),
		Objects: objects.New(cfg, n.Bucket), Now: time.Now,
	}
	handlers := work.Handlers(worker, chat.Ender{DB: db, Now: time.Now})
	handlers[reset.Kind] = &reset.Handler{DB: db, Loaders: worker.Loaders, Now: time.Now}
	kernel := task.NewKernel(task.Config{DB: db, Handlers: handlers, Now: time.Now, Name: rand.Text, Chance: backoff.Chance})
	lambda.Start(task.NewConsumer(kernel, sqsqueue.Open(cfg, needs.QueueURLs(topology.Named("generate").Sends)), queue.Ticker).Handle)
}
