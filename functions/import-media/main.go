// Command import-media is the Lambda function that looks at the files that callers bring
// in.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area/media/importer"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/importmedia"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Import]()
	db := store.Open(cfg, n.Table)
	handlers := importmedia.Handlers(&importer.Worker{
		DB: db, Objects: objects.New(cfg, n.Bucket), Now: time.Now,
		URLs: importer.NewClient(awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))),
	})
	lambda.Start(importer.Notified(worker.Consume("import-media", cfg, db, handlers)))
}
