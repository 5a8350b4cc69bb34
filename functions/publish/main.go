// Command publish is the Lambda function that takes the steps of what is done at the social
// platforms in the background: publications, their metrics, and the tokens of accounts.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area/content/publication/stored"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/area/social/apps"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/publish"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Publish]()
	db := store.Open(cfg, n.Table)
	handlers := publish.Handlers(publish.Config{
		DB:    db,
		Vault: account.Vault{Envelope: seal.NewEnvelope(kmsseal.New(cfg, n.SecretsKey, account.SealPurpose), time.Now)},
		Platforms: account.NewPlatforms(account.PlatformsConfig{
			Apps: apps.New(secret.Manager(cfg, n.PlatformSecret), time.Now).Get, Endpoint: n.PlatformEndpoint,
			Now: time.Now,
		}),
		Files: stored.Files{
			Store: objects.New(cfg, n.Bucket), Signer: awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now)),
		},
		Now: time.Now, Budgets: n.Budgets(),
	})
	lambda.Start(worker.Consume("publish", cfg, db, handlers))
}
