// Command catalog is the Lambda function of the catalog: plans, models, voices and avatars.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/audit"
	catalogarea "github.com/content-automation/api/pkg/area/catalog"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	n := needs.Read[needs.Catalog]()
	cfg := awsenv.Must(awsenv.Config())
	log := audit.New(store.Open(cfg, n.AuditTable), time.Now).In(cfg.Region)
	area.Serve(catalogarea.Mount, area.Env{AWS: cfg, DB: store.Open(cfg, n.Table), Audit: log, Now: time.Now,
		Seal: stored.Secret(cfg, n.SealSecret, time.Now), Providers: n.Providers})
}
