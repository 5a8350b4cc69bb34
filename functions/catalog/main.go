// Command catalog is the Lambda function of the catalog: plans and models.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/catalog/listing"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/seal"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	n := needs.Read[needs.Catalog]()
	// The catalog reads no table: what it answers is part of the function.
	log := audit.New(store.Open(awsenv.Must(awsenv.Config()), n.AuditTable), time.Now)
	function.Serve(listing.Mount, function.Env{Audit: log, Now: time.Now, Seal: seal.Fixed([]byte(n.SealSecret)), Providers: n.Providers})
}
