// Command studio is the Lambda function of the studio.
package main

import (
	"os"
	"time"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/studio"
)

func main() {
	function.Serve(func(a function.Area) {
		signer := awsenv.Must(media.NewSigner(a.AWS, awsenv.Need("MEDIA_BUCKET"), time.Now))
		loopback := awsenv.Must(safehttp.AllowLoopback(os.Getenv("ALLOW_LOOPBACK_WEBHOOKS"), awsenv.Need("STAGE")))
		urls := safehttp.New(safehttp.Options{AllowLoopback: loopback})
		studio.NewService(a.DB, signer, urls, catalog.NewOffer(os.Getenv("PROVIDERS")), time.Now).Register(a.Router)
	})
}
