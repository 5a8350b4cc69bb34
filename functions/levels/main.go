// Command levels is the Lambda function that counts the calls of accounts for their
// service levels.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/account/level"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	db := store.Open(awsenv.Must(awsenv.Config()), needs.Read[needs.State]().Table)
	lambda.Start(level.NewKeeper(db).Handle)
}
