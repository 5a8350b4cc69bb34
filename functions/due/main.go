// Command due is the Lambda function that starts the publications, plans and reports whose
// time has come.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker/due"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, needs.Read[needs.State]().Table)
	lambda.Start(due.New(db, sqsqueue.Open(cfg, needs.QueueURLs(topology.Outbox)), time.Now).Run)
}
