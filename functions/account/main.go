// Command account is the Lambda function of the account area: the account itself,
// its audit log and its events.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/event"
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
	account.NewService(db, time.Now).Register(r)
	log.Register(r)
	event.NewService(db, signer).Register(r)
	httpapi.StartLambda(r)
}
