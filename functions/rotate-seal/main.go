// Command rotate-seal is the Lambda function that rotates the sealing secret.
package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal/rotate"
)

func main() {
	logging.Setup()
	client := secretsmanager.NewFromConfig(awsenv.Must(awsenv.Config()))
	// rand.Text has 128 bits: twice that is the strength of the keys.
	name := func() string { return rand.Text() + rand.Text() }
	lambda.Start(rotate.New(client, needs.Read[needs.Seal]().SealSecret, time.Now, name).Handle)
}
