// Command rollup is the Lambda function that keeps the sums of the analytics.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/analytics/rollup"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	db := store.Open(awsenv.Must(awsenv.Config()), needs.Read[needs.State]().Table)
	lambda.Start(rollup.New(db).Handle)
}
