// Command chain is the Lambda function that appends the entries of the audit log to
// their hash chains, and counts the calls of accounts for their service levels.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area/account/level"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/audit/follow"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Chain]()
	entries, counts := store.Open(cfg, n.AuditTable), store.Open(cfg, n.Table)
	lambda.Start(follow.New(chain.New(entries, time.Now).Handle, level.NewCallCounter(counts).Handle))
}
