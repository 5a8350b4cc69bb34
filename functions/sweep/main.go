// Command sweep is the Lambda function of scheduled maintenance. It repairs deliveries:
// it finds events and messages that were lost, and sends them again. It also publishes
// events of API keys that are about to expire.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/apikey/expiry"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/topology"
	"github.com/content-automation/api/pkg/webhook/dispatch"
)

// swept is what a call has done.
type swept struct {
	dispatch.Swept
	// Warned is how many accounts were sent that a key of theirs is about to expire.
	Warned int `json:"warned"`
}

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, needs.Read[needs.State]().Table)
	deliveries := sqsqueue.New(sqs.NewFromConfig(cfg), needs.QueueURL(topology.Deliver))
	sweeper := dispatch.NewSweeper(db, deliveries, time.Now)
	lambda.Start(func(ctx context.Context, in dispatch.Sweep) (swept, error) {
		warned, failed := expiry.Warn(ctx, db, time.Now())
		done, err := sweeper.Handle(ctx, in)
		return swept{done, warned}, errors.Join(failed, err)
	})
}
