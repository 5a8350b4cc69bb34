// Command account is the Lambda function of the account area: the account itself, its
// balance, its audit log and its events.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/needs"
)

func main() {
	n := needs.Read[needs.Account]()
	e := function.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	function.Serve(account.Mount, e)
}
