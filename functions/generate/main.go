// Command generate is the Lambda function that takes the steps of generations.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/worker"
	wiring "github.com/content-automation/api/pkg/service/worker/generate"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Generate]()
	db := store.Open(cfg, n.Table)
	reader := &fetch.Fetcher{
		Client: fetch.NewClient(awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))), Now: time.Now}
	providers := registry.New(registry.Config{
		Configured: provider.ParseConfigured(n.Providers), AWS: cfg, Secret: n.ProviderSecret,
		Bucket: n.Bucket, Guardrail: n.Guardrail, Endpoint: n.ProviderEndpoint, Now: time.Now,
	})
	handlers := wiring.Handlers(&generate.Worker{
		DB: db,
		// Only a local stack names an endpoint: that of fakes.
		Loaders: wiring.Loaders(awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now)), reader,
			n.ProviderEndpoint != ""),
		Providers: providers, Moderator: providers.Moderator(), Objects: objects.New(cfg, n.Bucket), Now: time.Now,
	})
	lambda.Start(worker.Consume("generate", cfg, db, handlers))
}
