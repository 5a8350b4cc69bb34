// Command replay is the Lambda function that delivers events that webhooks have missed.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/replay"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, needs.Read[needs.State]().Table)
	lambda.Start(worker.Consume("replay", cfg, db, replay.Handlers(dispatch.New(db, time.Now))))
}
