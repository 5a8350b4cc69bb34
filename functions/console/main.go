// Command console is the function of the account area: the sign-in of people, and their pages.
package main

import (
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/service/console"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Console]()
	lambda.Start(console.Lambda(func() (http.Handler, error) {
		return console.Open(console.Wiring{DB: store.Open(cfg, n.Table), Seal: stored.Secret(cfg, n.SealSecret, time.Now),
			SignIn: n.SignIn, URL: n.URL, API: n.API, Now: time.Now})
	}))
}
