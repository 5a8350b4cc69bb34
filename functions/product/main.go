// Command product is the Lambda function of products and promotions.
package main

import (
	"time"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/product"
	"github.com/content-automation/api/pkg/promotion"
)

func main() {
	n := needs.Read[needs.Library]()
	e := function.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	e.Loopback = awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))
	function.Serve(func(r *httpapi.Router, e function.Env) {
		product.Mount(r, e)
		promotion.Mount(r, e)
	}, e)
}
