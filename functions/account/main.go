// Command account is the Lambda function of the account area: the account itself, its
// balance, its audit log, its events and its
// sandbox.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
)

func main() {
	n := needs.Read[needs.Account]()
	e := area.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	area.Serve(func(r *httpapi.Router, e area.Env) {
		account.Mount(r, e)
		sandbox.Mount(r, e)
	}, e)
}
