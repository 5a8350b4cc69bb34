// Command train is the Lambda function that takes the steps of trainings.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area/training/job"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/train"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Train]()
	w := &job.Worker{DB: store.Open(cfg, n.Table), Now: time.Now}
	if n.Role != "" { // otherwise nothing can be trained here
		w.Objects = objects.New(cfg, n.Bucket)
		w.Trainer = tune.New(tune.Config{AWS: cfg, Fakes: n.ProviderEndpoint, Bucket: n.Bucket, Role: n.Role})
	}
	lambda.Start(worker.Consume("train", cfg, w.DB, train.Handlers(w)))
}
