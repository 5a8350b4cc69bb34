// Command deliver is the Lambda function that carries out attempts at webhooks.
package main

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/topology"
	"github.com/content-automation/api/pkg/webhook"
	"github.com/content-automation/api/pkg/webhook/awsdest"
	"github.com/content-automation/api/pkg/webhook/lane"
)

func main() {
	lane.Start(needs.QueueURL(topology.Deliver), needs.QueueURL(topology.DeliverSlow), toAWS)
}

func toAWS(cfg aws.Config) webhook.AWSSender { return awsdest.New(cfg) }
