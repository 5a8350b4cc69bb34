// Command chain is the Lambda function that appends the entries of the audit log to
// their hash chains.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/audit/chain"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	db := store.Open(awsenv.Must(awsenv.Config()), needs.Read[needs.Audit]().AuditTable)
	lambda.Start(chain.New(db, time.Now).Handle)
}
