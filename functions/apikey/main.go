// Command apikey is the Lambda function of the API keys.
package main

import (
	"crypto/rand"
	"time"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/function"
)

func main() {
	function.Serve(func(a function.Area) {
		apikey.NewService(a.DB, account.NewService(a.DB, time.Now), time.Now, rand.Reader).Register(a.Router)
	})
}
