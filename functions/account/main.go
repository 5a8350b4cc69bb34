// Command account is the Lambda function of the account area: the account itself, its
// balance, its audit log, its events and its sandbox.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/function/account"
)

func main() {
	n := needs.Read[needs.Account]()
	e := area.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	area.Serve(account.Mount, e)
}
