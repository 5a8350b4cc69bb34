// Command deliver is the Lambda function that carries out attempts at webhooks.
package main

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/webhook"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	loopback := awsenv.Must(webhook.AllowLoopback(os.Getenv("ALLOW_LOOPBACK_WEBHOOKS"), awsenv.Need("STAGE")))
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	signer := awsenv.Must(media.NewSigner(cfg, awsenv.Need("MEDIA_BUCKET"), time.Now))
	deliveries := sqsqueue.New(sqs.NewFromConfig(cfg), awsenv.Need("DELIVER_QUEUE_URL"))
	random := webhook.Randomness{Chance: mathrand.Float64, Name: rand.Text}
	lambda.Start(webhook.NewDeliverer(db, signer, webhook.NewClient(loopback), deliveries, time.Now, random).Handle)
}
