// Package function starts the Lambda functions of the areas, which are alike but
// for the operations that they serve.
package function

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// Area is what the function of an area is made from.
type Area struct {
	AWS    aws.Config
	DB     *store.DB // the state table
	Audit  *audit.Log
	Router *httpapi.Router
}

// Serve reads the environment, lets register put the operations of the area into
// the router, and serves them. It does not return; it panics at the start where
// something is missing, so that a deployment notices.
func Serve(register func(Area)) {
	cfg := awsenv.Must(awsenv.Config())
	a := Area{
		AWS:   cfg,
		DB:    store.Open(cfg, awsenv.Need("TABLE_NAME")),
		Audit: audit.New(store.Open(cfg, awsenv.Need("AUDIT_TABLE_NAME")), time.Now),
	}
	a.Router = httpapi.NewRouter(a.DB, a.Audit, time.Now)
	a.Router.SealWith([]byte(awsenv.Need("SEAL_SECRET")))
	register(a)
	httpapi.StartLambda(a.Router)
}
