// Command deliver is the Lambda function that carries out attempts at webhooks.
package main

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/area/webhook/awsdest"
	"github.com/content-automation/api/pkg/area/webhook/deliver"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	wiring "github.com/content-automation/api/pkg/service/worker/deliver"
)

func main() {
	wiring.Start(needs.QueueURL(topology.Deliver), needs.QueueURL(topology.DeliverSlow), toAWS)
}

func toAWS(cfg aws.Config) deliver.AWSSender { return awsdest.New(cfg) }
