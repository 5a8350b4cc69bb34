// Command apikey is the Lambda function of the API keys.
package main

import (
	"crypto/rand"
	"time"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	log := audit.New(store.Open(cfg, awsenv.Need("AUDIT_TABLE_NAME")), time.Now)
	r := httpapi.NewRouter(db, log, time.Now)
	apikey.NewService(db, account.NewService(db, time.Now), time.Now, rand.Reader).Register(r)
	httpapi.StartLambda(r)
}
