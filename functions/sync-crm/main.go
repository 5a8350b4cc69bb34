// Command sync-crm is the Lambda function that takes the steps of integrations with CRMs: their tokens, products,
// stages and notes.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/synccrm"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.SyncCRM]()
	db := store.Open(cfg, n.Table)
	handlers := synccrm.Handlers(area.Env{
		AWS: cfg, DB: db, Now: time.Now, Media: awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now)),
		Envelope:  seal.NewEnvelope(kmsseal.New(cfg, n.SecretsKey, account.SealPurpose), time.Now),
		Providers: n.Providers, Apps: secret.Manager(cfg, n.PlatformSecret), PlatformEndpoint: n.PlatformEndpoint,
		Loopback: awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage)),
	})
	lambda.Start(worker.Consume("sync-crm", cfg, db, handlers))
}
