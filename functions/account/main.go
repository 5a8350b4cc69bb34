// Command account is the Lambda function of the account area: the account itself, its
// balance, its audit log and its events.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/media"
)

func main() {
	function.Serve(func(a function.Area) {
		signer := awsenv.Must(media.NewSigner(a.AWS, awsenv.Need("MEDIA_BUCKET"), time.Now))
		account.NewService(a.DB, time.Now).Register(a.Router)
		a.Audit.Register(a.Router)
		account.NewEvents(a.DB, signer).Register(a.Router)
	})
}
