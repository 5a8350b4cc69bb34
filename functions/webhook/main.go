// Command webhook is the Lambda function of the webhooks.
package main

import (
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
)

func main() {
	n := needs.Read[needs.Webhook]()
	e := area.Open(n.Area)
	e.Loopback = awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))
	e.Envelope = seal.NewEnvelope(kmsseal.New(e.AWS, n.SecretsKey, endpoint.SealPurpose), e.Now)
	e.DeliverRole = awsenv.Must(arn.Parse(n.DeliverRole))
	area.Serve(webhook.Mount, e)
}
