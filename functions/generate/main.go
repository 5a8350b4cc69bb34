// Command generate is the Lambda function that takes the steps of generation work.
package main

import (
	"crypto/rand"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/engine"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
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
	cfg, bucket := awsenv.Must(awsenv.Config()), awsenv.Need("MEDIA_BUCKET")
	signer := awsenv.Must(media.NewSigner(cfg, bucket, time.Now))
	worker := engine.NewWorker(engine.Config{
		DB:    store.Open(cfg, awsenv.Need("TABLE_NAME")),
		Areas: map[string]engine.Area{content.ItemKind: content.Area{Sign: content.SignedBy(signer)}, studio.ItemKind: studio.Area{}},
		Providers: registry.New(registry.Config{
			Configured: provider.ParseConfigured(os.Getenv("PROVIDERS")), AWS: cfg, Secret: os.Getenv("PROVIDER_SECRET"),
			Bucket: bucket, Endpoint: os.Getenv("PROVIDER_ENDPOINT"), Now: time.Now,
		}),
		Objects: objects.New(cfg, bucket), Now: time.Now, Name: rand.Text,
	})
	queues := sqsqueue.Open(cfg, awsenv.QueueURLs(topology.Generation))
	lambda.Start(job.NewConsumer(worker, job.NewSender(queues), job.HoldersOf(queues, queue.Beat)).Handle)
}
