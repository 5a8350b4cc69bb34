// Command webhook is the Lambda function of the webhooks.
package main

import (
	"crypto/rand"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/webhook"
)

func main() {
	function.Serve(func(a function.Area) {
		loopback := awsenv.Must(safehttp.AllowLoopback(os.Getenv("ALLOW_LOOPBACK_WEBHOOKS"), awsenv.Need("STAGE")))
		principal := awsenv.Must(arn.Parse(awsenv.Need("DELIVER_ROLE_ARN")))
		webhook.NewService(a.DB, webhook.NewClient(loopback), principal, time.Now, rand.Reader).Register(a.Router)
	})
}
