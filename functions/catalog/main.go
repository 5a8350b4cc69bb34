// Command catalog is the Lambda function of the catalog: plans and models.
package main

import (
	"os"
	"time"

	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	cfg := awsenv.Must(awsenv.Config())
	log := audit.New(store.Open(cfg, awsenv.Need("AUDIT_TABLE_NAME")), time.Now)
	// The catalog reads no table: what it answers is part of the function.
	r := httpapi.NewRouter(nil, log, time.Now)
	catalog.NewOffer(os.Getenv("PROVIDERS")).Register(r)
	httpapi.StartLambda(r)
}
