// Command diagnose is the Lambda function that makes the diagnoses of factories.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area/advice/job"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/service/worker"
	wiring "github.com/content-automation/api/pkg/service/worker/diagnose"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Diagnose]()
	db := store.Open(cfg, n.Table)
	handlers := wiring.Handlers(&job.Worker{
		DB: db, Now: time.Now, Offer: catalog.NewOffer(n.Providers, cfg.Region),
		Providers: registry.New(registry.Config{
			Configured: provider.ParseConfigured(n.Providers), AWS: cfg, Endpoint: n.ProviderEndpoint, Now: time.Now,
		}),
	})
	lambda.Start(worker.Consume("diagnose", cfg, db, handlers))
}
