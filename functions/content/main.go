// Command content is the Lambda function of the content items.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/media"
)

func main() {
	n := needs.Read[needs.Content]()
	e := area.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	e.Providers = n.Providers
	area.Serve(content.Mount, e)
}
