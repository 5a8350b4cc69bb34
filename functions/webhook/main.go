// Command webhook is the Lambda function of the webhooks.
package main

import (
	"crypto/rand"
	"os"
	"time"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/webhook"
)

func main() {
	function.Serve(func(a function.Area) {
		loopback := awsenv.Must(webhook.AllowLoopback(os.Getenv("ALLOW_LOOPBACK_WEBHOOKS"), awsenv.Need("STAGE")))
		webhook.NewService(a.DB, webhook.NewClient(loopback), time.Now, rand.Reader).Register(a.Router)
	})
}
