// Command content is the Lambda function of the content items.
package main

import (
	"os"
	"time"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/media"
)

func main() {
	function.Serve(func(a function.Area) {
		signer := awsenv.Must(media.NewSigner(a.AWS, awsenv.Need("MEDIA_BUCKET"), time.Now))
		content.NewService(a.DB, factory.NewService(a.DB, time.Now), signer, catalog.NewOffer(os.Getenv("PROVIDERS")), time.Now).Register(a.Router)
	})
}
