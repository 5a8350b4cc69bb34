// Command publish is the Lambda function that takes the steps of what is done at the social
// platforms in the background: publications, their metrics, and the tokens of accounts.
package main

import (
	"crypto/rand"
	"maps"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/content/publication"
	"github.com/content-automation/api/pkg/content/publication/stored"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/seal"
	"github.com/content-automation/api/pkg/seal/kmsseal"
	"github.com/content-automation/api/pkg/secret"
	"github.com/content-automation/api/pkg/social/account"
	"github.com/content-automation/api/pkg/social/apps"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Publish]()
	signer := awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now))
	db := store.Open(cfg, n.Table)
	accounts := &account.Worker{
		DB: db, Now: time.Now, Enders: []account.Ender{publication.AccountEnder{DB: db, Now: time.Now}},
		Vault: account.Vault{Envelope: seal.NewEnvelope(kmsseal.New(cfg, n.SecretsKey, account.SealPurpose), time.Now)},
		Platforms: account.NewPlatforms(account.PlatformsConfig{
			Apps: apps.New(secret.Manager(cfg, n.PlatformSecret), time.Now).Get, Endpoint: n.PlatformEndpoint, Now: time.Now,
		}),
	}
	worker := &publication.Worker{
		DB: db, Platforms: accounts.Platforms, Vault: accounts.Vault, Files: stored.Files{Store: objects.New(cfg, n.Bucket), Signer: signer}, Now: time.Now,
	}
	handlers := worker.Handlers()
	maps.Copy(handlers, accounts.Handlers())
	kernel := task.NewKernel(task.Config{DB: db, Handlers: handlers, Now: time.Now, Name: rand.Text, Chance: backoff.Chance})
	lambda.Start(task.NewConsumer(kernel, sqsqueue.Open(cfg, needs.QueueURLs([]topology.Queue{topology.Publish})), queue.Ticker).Handle)
}
