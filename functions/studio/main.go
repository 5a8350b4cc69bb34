// Command studio is the Lambda function of the studio and of estimates.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/function/studio"
)

func main() {
	n := needs.Read[needs.Studio]()
	e := area.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	e.Providers = n.Providers
	e.Loopback = awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))
	area.Serve(studio.Mount, e)
}
