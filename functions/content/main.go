// Command content is the Lambda function of the content items, and of what surrounds their publication.
package main

import (
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/function/content"
)

func main() {
	n := needs.Read[needs.Content]()
	e := area.Open(n.Area)
	e.Media = awsenv.Must(media.NewSigner(e.AWS, n.Bucket, time.Now))
	e.Providers = n.Providers
	e.Moderator = bedrock.Moderator(e.AWS, n.Guardrail, n.ProviderEndpoint)
	area.ServeWith(content.Mount, e, func(operations http.Handler) http.Handler { return content.With(e, operations) })
}
