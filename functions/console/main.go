// Command console is the function of the account area: the sign-in of people, and their pages.
package main

import (
	"cmp"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/cloud/secret/manager"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/connection/cognito"
	"github.com/content-automation/api/pkg/service/console"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	metric.SetupLog()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read(needs.Function())
	db, sealing := store.Open(cfg, n.Table), stored.Secret(cfg, n.SealSecret, time.Now)
	var pool connection.Pool
	if n.Pool != "" {
		pool = cognito.New(cfg, n.Pool, "")
	}
	var client *http.Client
	if n.CallerSecret != "" {
		client = secret.Client(manager.Secret(cfg, n.CallerSecret), console.APITimeout)
	}
	loopback, err := safehttp.AllowLoopback(n.AllowLoopback, n.Stage)
	documents := console.NewDocumentClient(awsenv.Must(loopback, err), nil)
	lambda.Start(console.Lambda(func(base string) (http.Handler, error) {
		// Browsers have no client certificate.
		address := cmp.Or(n.PublicURL, base)
		return console.Open(console.Wiring{DB: db, Seal: sealing, SignIn: n.SignIn, URL: address,
			API: cmp.Or(n.APIURL, address), HTTP: client, Documents: documents, Now: time.Now, Pool: pool,
			Audit: store.Open(cfg, n.AuditTable), Region: cfg.Region, Mails: n.MailSender != ""})
	}))
}
