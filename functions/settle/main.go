// Command settle is the Lambda function that releases the reservations of calls that crashed
// during a request to another service.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/settle"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Settle]()
	db := store.Open(cfg, n.Table)
	handlers := settle.Handlers(area.Env{
		AWS: cfg, DB: db, Now: time.Now, Providers: n.Providers,
		Loopback: awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage)),
		Seal:     stored.Secret(cfg, n.SealSecret, time.Now), Moderator: bedrock.Moderator(cfg, n.Guardrail,
			n.ProviderEndpoint),
	})
	lambda.Start(worker.Consume("settle", cfg, db, handlers))
}
