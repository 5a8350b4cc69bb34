// Command content is the Lambda function of the content items.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	log := audit.New(store.Open(cfg, awsenv.Need("AUDIT_TABLE_NAME")), time.Now)
	signer := awsenv.Must(media.NewSigner(cfg, awsenv.Need("MEDIA_BUCKET"), time.Now))
	r := httpapi.NewRouter(db, log, time.Now)
	content.NewService(db, factory.NewService(db, time.Now), signer, time.Now).Register(r)
	httpapi.StartLambda(r)
}
