// Command factory is the Lambda function of the factories.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	log := audit.New(store.Open(cfg, awsenv.Need("AUDIT_TABLE_NAME")), time.Now)
	r := httpapi.NewRouter(db, log, time.Now)
	factory.NewService(db, time.Now).Register(r)
	httpapi.StartLambda(r)
}
