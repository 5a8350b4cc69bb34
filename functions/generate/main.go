// Command generate is the Lambda function that takes the steps of generation work.
package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/engine"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/provider/registry"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/studio"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Generate]()
	signer := awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now))
	worker := engine.NewWorker(engine.Config{
		DB:    store.Open(cfg, n.Table),
		Areas: map[string]engine.Area{content.ItemKind: content.Area{Sign: content.SignedBy(signer)}, studio.ItemKind: studio.Area{}},
		Providers: registry.New(registry.Config{
			Configured: provider.ParseConfigured(n.Providers), AWS: cfg, Secret: n.ProviderSecret,
			Bucket: n.Bucket, Endpoint: n.ProviderEndpoint, Now: time.Now,
		}),
		Objects: objects.New(cfg, n.Bucket), Now: time.Now, Name: rand.Text,
	})
	queues := sqsqueue.Open(cfg, needs.QueueURLs(topology.Generation))
	lambda.Start(job.NewConsumer(worker, job.NewSender(queues), job.HoldersOf(queues, queue.Beat)).Handle)
}
