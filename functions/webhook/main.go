// Command webhook is the Lambda function of the webhooks area.
package main

import (
	"crypto/rand"
	"os"
	"time"

	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/webhook"
)

func main() {
	cfg := awsenv.Must(awsenv.Config())
	loopback := awsenv.Must(webhook.AllowLoopback(os.Getenv("ALLOW_LOOPBACK_WEBHOOKS"), awsenv.Need("STAGE")))
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	log := audit.New(store.Open(cfg, awsenv.Need("AUDIT_TABLE_NAME")), time.Now)
	r := httpapi.NewRouter(db, log, time.Now)
	webhook.NewService(db, webhook.NewClient(loopback), time.Now, rand.Reader).Register(r)
	httpapi.StartLambda(r)
}
