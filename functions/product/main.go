// Command product is the Lambda function of products and promotions.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/function/product"
)

func main() {
	n := needs.Read[needs.Library]()
	e := area.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	e.Loopback = awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))
	area.Serve(product.Mount, e)
}
